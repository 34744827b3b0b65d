#include "dtls.h"

#include <openssl/err.h>
#include <openssl/srtp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "bio.h"
#include "context.h"

// How long an answer is awaited before a flight is repeated, microseconds; twice as long each time. RFC 6347 section
// 4.2.4.1 recommends 1 s and allows less where time matters: somebody waits to speak, and a handshake has 10 s. OpenSSL
// gives up after the 12th, which comes later.
enum { FIRST_TIMEOUT = 200 * 1000, LONGEST_TIMEOUT = 1000 * 1000 };

struct dv_dtls {
    SSL *ssl;
    dv_dtls_context *context;
    dv_wire wire;
    dv_queue received;
    dv_dtls_state state;
    /// What has been taken of the datagram at hand.
    int taken;
};

// MARK: Callbacks

static void observe(int is_written, int version, int type, const void *bytes, size_t count, SSL *ssl, void *argument) {
    (void)version, (void)bytes, (void)count, (void)ssl;
    // Headers are seen before they are known to be genuine; messages after.
    if (!is_written && (type == SSL3_RT_HANDSHAKE || type == SSL3_RT_ALERT || type == SSL3_RT_CHANGE_CIPHER_SPEC))
        ((dv_dtls *)argument)->taken++;
}

static unsigned int next_timeout(SSL *ssl, unsigned int microseconds) {
    (void)ssl;
    if (microseconds == 0) return FIRST_TIMEOUT;
    return microseconds >= LONGEST_TIMEOUT / 2 ? LONGEST_TIMEOUT : 2 * microseconds;
}

// MARK: Life

static void advance(dv_dtls *connection);

dv_dtls *dv_dtls_create(dv_dtls_context *context) {
    ERR_clear_error();
    dv_dtls *connection = calloc(1, sizeof *connection);
    if (!connection) return NULL;
    connection->context = dv_dtls_context_retain(context);
    SSL *ssl = connection->ssl = SSL_new(context->ssl);
    BIO *bio = ssl ? dv_bio_create(&connection->wire) : NULL;
    if (bio) SSL_set_bio(ssl, bio, bio);
    if (!bio || (context->name && !SSL_set_tlsext_host_name(ssl, context->name)) || !SSL_set_mtu(ssl, DV_DTLS_RECORD_LIMIT)) {
        dv_dtls_free(connection);
        ERR_clear_error();
        return NULL;
    }
    SSL_set_msg_callback(ssl, observe);
    SSL_set_msg_callback_arg(ssl, connection);
    DTLS_set_timer_cb(ssl, next_timeout);
    if (context->is_client) {
        SSL_set_connect_state(ssl);
        advance(connection);
    } else {
        SSL_set_accept_state(ssl);
    }
    return connection;
}

void dv_dtls_free(dv_dtls *connection) {
    if (!connection) return;
    SSL_free(connection->ssl);
    dv_queue_clear(&connection->wire.output);
    dv_queue_clear(&connection->received);
    dv_dtls_context_release(connection->context);
    free(connection);
}

// MARK: States

/// Why the server's certificate was not taken; DV_DTLS_FAILED where it was, or none came.
static dv_dtls_state refusal(const dv_dtls *connection) {
    const long result = SSL_get_verify_result(connection->ssl);
    if (!connection->context->is_client || result == X509_V_OK) return DV_DTLS_FAILED;
    if (connection->context->is_pinned) return DV_DTLS_OTHER_FINGERPRINT;
    switch (result) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH: return DV_DTLS_OTHER_HOST;
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID: return DV_DTLS_OUT_OF_DATE;
    default: return DV_DTLS_UNTRUSTED;
    }
}

static void fail(dv_dtls *connection) {
    // Whoever is known already has closed by an alert, or has broken the protocol.
    const int was_open = connection->state == DV_DTLS_OPEN;
    const int was_told = SSL_get_shutdown(connection->ssl) & SSL_RECEIVED_SHUTDOWN;
    connection->state = was_open ? (was_told ? DV_DTLS_CLOSED_BY_PEER : DV_DTLS_FAILED) : refusal(connection);
}

/// Whether what was agreed on is all that both ends need.
static int is_complete(const SSL *ssl) {
    const unsigned char *protocol;
    unsigned int count;
    SSL_get0_alpn_selected(ssl, &protocol, &count);
    return SSL_version(ssl) == DTLS1_2_VERSION && count == sizeof DV_DTLS_PROTOCOL - 2 &&
        !memcmp(protocol, &DV_DTLS_PROTOCOL[1], count) && SSL_get_selected_srtp_profile((SSL *)ssl) &&
        // The master secret is bound to this handshake (RFC 7627), on which exported keys rely.
        SSL_get_extms_support((SSL *)ssl) == 1;
}

static void shake(dv_dtls *connection) {
    const int result = SSL_do_handshake(connection->ssl);
    if (result == 1) {
        connection->state = DV_DTLS_OPEN;
        if (is_complete(connection->ssl)) return;
        SSL_shutdown(connection->ssl);
        connection->state = DV_DTLS_FAILED;
    } else if (SSL_get_error(connection->ssl, result) != SSL_ERROR_WANT_READ) {
        fail(connection);
    }
}

static void read_datagrams(dv_dtls *connection) {
    // Longer than any datagram that is taken, so that a record is read whole.
    uint8_t bytes[DV_DTLS_INPUT_LIMIT];
    for (;;) {
        const int count = SSL_read(connection->ssl, bytes, sizeof bytes);
        if (count > 0) {
            connection->taken++;
            dv_queue_append(&connection->received, bytes, (size_t)count);
            continue;
        }
        const int error = SSL_get_error(connection->ssl, count);
        if (error == SSL_ERROR_ZERO_RETURN) {
            // Answered in kind (RFC 5246 section 7.2.1).
            SSL_shutdown(connection->ssl);
            connection->state = DV_DTLS_CLOSED_BY_PEER;
        } else if (error != SSL_ERROR_WANT_READ) {
            fail(connection);
        }
        break;
    }
    OPENSSL_cleanse(bytes, sizeof bytes);
}

/// Goes as far as the datagram at hand allows.
static void advance(dv_dtls *connection) {
    ERR_clear_error();
    if (connection->state == DV_DTLS_OPENING) shake(connection);
    if (connection->state == DV_DTLS_OPEN) {
        read_datagrams(connection);
        // OpenSSL keeps 17 kB for reading between datagrams otherwise; it makes new ones by itself.
        SSL_free_buffers(connection->ssl);
    }
    ERR_clear_error();
}

// MARK: Datagrams

int dv_dtls_admit(dv_dtls *connection, const uint8_t *hello, size_t count) {
    if (connection->context->is_client || connection->state != DV_DTLS_OPENING || count == 0 || count > DV_DTLS_INPUT_LIMIT)
        return 0;
    BIO_ADDR *client = BIO_ADDR_new();
    if (!client) return 0;
    ERR_clear_error();
    connection->wire.input = hello;
    connection->wire.input_count = count;
    // It leaves the numbers of messages and records as they are after a question for a cookie.
    const int is_taken = DTLSv1_listen(connection->ssl, client) == 1;
    connection->wire.input = NULL;
    BIO_ADDR_free(client);
    if (is_taken) advance(connection);
    else connection->state = DV_DTLS_FAILED;
    ERR_clear_error();
    return is_taken;
}

int dv_dtls_receive(dv_dtls *connection, const uint8_t *bytes, size_t count) {
    if (count == 0 || count > DV_DTLS_INPUT_LIMIT) return 0;
    if (connection->state != DV_DTLS_OPENING && connection->state != DV_DTLS_OPEN) return 0;
    const dv_dtls_state before = connection->state;
    const int waiting = connection->wire.output.count;
    connection->taken = 0;
    connection->wire.input = bytes;
    connection->wire.input_count = count;
    advance(connection);
    connection->wire.input = NULL;
    return connection->taken || connection->state != before || connection->wire.output.count > waiting;
}

int dv_dtls_send(dv_dtls *connection, const uint8_t *bytes, size_t count) {
    if (connection->state != DV_DTLS_OPEN || count == 0 || count > DV_DTLS_DATAGRAM_LIMIT ||
        connection->wire.output.count >= DV_DTLS_QUEUE_LIMIT)
        return 0;
    ERR_clear_error();
    // Buffers that are not needed between records are freed; those for writing are not made by writing.
    const int is_sent = SSL_alloc_buffers(connection->ssl) && SSL_write(connection->ssl, bytes, (int)count) == (int)count;
    SSL_free_buffers(connection->ssl);
    ERR_clear_error();
    return is_sent;
}

size_t dv_dtls_poll_record(dv_dtls *connection, uint8_t *out, size_t capacity) {
    return dv_queue_take(&connection->wire.output, out, capacity);
}

size_t dv_dtls_poll_datagram(dv_dtls *connection, uint8_t *out, size_t capacity) {
    return dv_queue_take(&connection->received, out, capacity);
}

dv_dtls_state dv_dtls_get_state(const dv_dtls *connection) { return connection->state; }

// MARK: Time

int64_t dv_dtls_timeout(const dv_dtls *connection) {
    struct timeval left;
    if (connection->state != DV_DTLS_OPENING || !DTLSv1_get_timeout(connection->ssl, &left)) return -1;
    const int64_t microseconds = left.tv_sec * 1000000LL + left.tv_usec;
    // Longer where the system's clock was set back meanwhile.
    return (microseconds < LONGEST_TIMEOUT ? microseconds : LONGEST_TIMEOUT) * 1000;
}

void dv_dtls_handle_timeout(dv_dtls *connection) {
    if (connection->state != DV_DTLS_OPENING) return;
    ERR_clear_error();
    if (DTLSv1_handle_timeout(connection->ssl) < 0) fail(connection);
    ERR_clear_error();
}

void dv_dtls_close(dv_dtls *connection) {
    if (connection->state == DV_DTLS_OPEN) {
        ERR_clear_error();
        if (SSL_alloc_buffers(connection->ssl)) SSL_shutdown(connection->ssl);
        ERR_clear_error();
    }
    if (connection->state == DV_DTLS_OPEN || connection->state == DV_DTLS_OPENING) connection->state = DV_DTLS_CLOSED_HERE;
}

// MARK: Keys

uint16_t dv_dtls_srtp_profile(const dv_dtls *connection) {
    if (connection->state != DV_DTLS_OPEN) return 0;
    const SRTP_PROTECTION_PROFILE *profile = SSL_get_selected_srtp_profile(connection->ssl);
    return profile ? (uint16_t)profile->id : 0;
}

int dv_dtls_export_keys(const dv_dtls *connection, uint8_t *out, size_t count) {
    static const char label[] = "EXTRACTOR-dtls_srtp";
    if (connection->state != DV_DTLS_OPEN) return 0;
    ERR_clear_error();
    const int is_exported = SSL_export_keying_material(connection->ssl, out, count, label, sizeof label - 1, NULL, 0, 0) == 1;
    ERR_clear_error();
    return is_exported;
}
