// DTLS 1.2 (RFC 6347) by OpenSSL 3, over datagrams that the caller carries: no socket, no thread. What OpenSSL writes
// as macros or wants as callbacks is wrapped here.
//
// A context holds what the connections of one end share; it is made once and may be shared by threads. A connection
// belongs to one thread at a time. No call blocks, prints or leaves anything in OpenSSL's queue of errors; but contexts
// read files, and connections of clients that trust authorities look into the folder of authorities.
#pragma once

#include <stddef.h>
#include <stdint.h>

// MARK: Limits

/// Bytes of a record of the handshake at most, its header included: no path that carries voice has to fragment it.
#define DV_DTLS_RECORD_LIMIT 1200
/// Bytes of a datagram of the application at most that is sent.
#define DV_DTLS_DATAGRAM_LIMIT 1200
/// Bytes of a datagram of records at most that is taken.
#define DV_DTLS_INPUT_LIMIT 2048
/// Bytes that a record adds to a datagram at most: header 13, explicit nonce 8, tag 16 (RFC 5288).
#define DV_DTLS_OVERHEAD 37
/// Bytes of a protected record at least, behind its header: explicit nonce 8, tag 16 (RFC 5288).
#define DV_DTLS_SHORTEST 24
/// Datagrams that wait at most, each way. What comes beyond is lost, as on any part of the path.
#define DV_DTLS_QUEUE_LIMIT 64

// MARK: Contexts

typedef struct dv_dtls_context dv_dtls_context;

typedef enum {
    DV_DTLS_MADE = 0,
    /// Out of memory, or OpenSSL itself is not as it should be.
    DV_DTLS_NO_MEMORY,
    /// There is no certificate in the text, or one that does not parse.
    DV_DTLS_NO_CERTIFICATE,
    /// There is no private key in the text, or one behind a password.
    DV_DTLS_NO_KEY,
    /// The key is not the certificate's.
    DV_DTLS_OTHER_KEY,
    /// OpenSSL takes the certificate for too weak.
    DV_DTLS_WEAK_CERTIFICATE,
    /// The file of authorities cannot be read.
    DV_DTLS_NO_AUTHORITIES,
    /// The host is neither a name nor an address.
    DV_DTLS_BAD_HOST,
} dv_dtls_result;

/// A server's context of its certificates, the leaf first, and its private key, both in PEM.
dv_dtls_result dv_dtls_server_create(
    dv_dtls_context **out, const void *certificates, size_t certificates_count, const void *key, size_t key_count);

/// A client's context that takes the one server whose leaf certificate has this SHA-256; nothing else of the
/// certificate counts.
dv_dtls_result dv_dtls_pinned_client_create(dv_dtls_context **out, const uint8_t fingerprint[32]);

/// A client's context that takes servers whose certificate an authority has signed for `host`: a name, or a numeric
/// address. `authorities` is a file in PEM, or NULL for those of the system (and of SSL_CERT_FILE and SSL_CERT_DIR).
dv_dtls_result dv_dtls_trusting_client_create(dv_dtls_context **out, const char *host, const char *authorities);

/// SHA-256 of the leaf certificate of a server's context.
void dv_dtls_fingerprint(const dv_dtls_context *context, uint8_t out[32]);

/// Until when the leaf certificate of a server's context is valid, seconds since 1970; -1 where it does not say.
int64_t dv_dtls_not_after(const dv_dtls_context *context);

/// Lets go of a context; it stays as long as connections of it do. NULL is allowed.
void dv_dtls_context_release(dv_dtls_context *context);

// MARK: Connections

typedef struct dv_dtls dv_dtls;

typedef enum {
    DV_DTLS_OPENING,
    DV_DTLS_OPEN,
    DV_DTLS_CLOSED_HERE,
    DV_DTLS_CLOSED_BY_PEER,
    DV_DTLS_FAILED,
    DV_DTLS_OTHER_FINGERPRINT,
    DV_DTLS_UNTRUSTED,
    DV_DTLS_OTHER_HOST,
    DV_DTLS_OUT_OF_DATE,
} dv_dtls_state;

/// A connection; a client's has its first record to send at once. NULL when there is no memory.
dv_dtls *dv_dtls_create(dv_dtls_context *context);
void dv_dtls_free(dv_dtls *connection);

/// Gives a server's new connection the client's hello, whose cookie the caller has checked. Whether it is taken.
int dv_dtls_admit(dv_dtls *connection, const uint8_t *hello, size_t count);

/// Takes a datagram of whole records: protected ones of DV_DTLS_SHORTEST bytes, and all of the version of DTLS 1.2 once
/// the connection is open. OpenSSL 3.0 ends the connection over a shorter one, whoever has sent it, and looks for
/// records inside of one of another version. Whether anything in it was taken: a message of the handshake that was due,
/// or what only the peer can have made.
int dv_dtls_receive(dv_dtls *connection, const uint8_t *bytes, size_t count);

/// Has a datagram sent as one record. 0 when the connection is not open, the datagram empty or too long, or the queue
/// full.
int dv_dtls_send(dv_dtls *connection, const uint8_t *bytes, size_t count);

/// The next datagram to send, and the next that the peer has sent: the bytes in `out`, or 0 when there is none. One
/// that does not fit is dropped.
size_t dv_dtls_poll_record(dv_dtls *connection, uint8_t *out, size_t capacity);
size_t dv_dtls_poll_datagram(dv_dtls *connection, uint8_t *out, size_t capacity);

dv_dtls_state dv_dtls_get_state(const dv_dtls *connection);

/// Nanoseconds until something is to be repeated, by the system's clock, which OpenSSL reads; -1 when nothing is.
int64_t dv_dtls_timeout(const dv_dtls *connection);

/// Repeats what is due.
void dv_dtls_handle_timeout(dv_dtls *connection);

/// Says goodbye where the connection is open. It is closed then.
void dv_dtls_close(dv_dtls *connection);

// MARK: Keys

/// The SRTP protection profile that was agreed on (RFC 5764 section 4.1.2), by its number; 0 before the connection is
/// open.
uint16_t dv_dtls_srtp_profile(const dv_dtls *connection);

/// Keying material for SRTP (RFC 5764 section 4.2), in its order: client's key, server's key, client's salt, server's
/// salt. Whether there is any.
int dv_dtls_export_keys(const dv_dtls *connection, uint8_t *out, size_t count);

// MARK: Certificates

/// Makes a self-signed certificate of a new EC key on P-256 for names and addresses, each with a NUL behind it, good
/// between two times in seconds since 1970. Both in PEM, to be freed by dv_dtls_text_free. 0, or -1.
int dv_dtls_certificate_make(
    const char *names, size_t names_count, int64_t not_before, int64_t not_after, char **certificate, char **key);

/// Wipes and frees.
void dv_dtls_text_free(char *text);
