#include "context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/srtp.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Forward secrecy and authenticated encryption only (RFC 9325 section 4.2); AES-GCM alone, as in SRTP, so that the
// shortest record is known (DV_DTLS_SHORTEST).
static const char suites[] =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384";

// MARK: Callbacks

/// Never asks anybody on a terminal.
static int no_password(char *out, int capacity, int writing, void *argument) {
    (void)out, (void)capacity, (void)writing, (void)argument;
    return -1;
}

/// Fails a client at once that lacks what every client of ours sends, so that it learns of it by an alert.
static int check_hello(SSL *ssl, int *alert, void *argument) {
    (void)argument;
    const unsigned char *bytes;
    size_t count;
    if (!SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_application_layer_protocol_negotiation, &bytes, &count)) {
        *alert = SSL_AD_NO_APPLICATION_PROTOCOL;
        return SSL_CLIENT_HELLO_ERROR;
    }
    if (!SSL_client_hello_get0_ext(ssl, DV_DTLS_USE_SRTP, &bytes, &count)) {
        *alert = SSL_AD_HANDSHAKE_FAILURE;
        return SSL_CLIENT_HELLO_ERROR;
    }
    return SSL_CLIENT_HELLO_SUCCESS;
}

static int choose_protocol(
    SSL *ssl, const unsigned char **out, unsigned char *out_count, const unsigned char *offered, unsigned int offered_count,
    void *argument) {
    (void)ssl, (void)argument;
    unsigned char *chosen;
    if (SSL_select_next_proto(
            &chosen, out_count, (const unsigned char *)DV_DTLS_PROTOCOL, sizeof DV_DTLS_PROTOCOL - 1, offered, offered_count) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

/// The caller has checked the cookie before there was a connection.
static int accept_cookie(SSL *ssl, const unsigned char *cookie, unsigned int count) {
    (void)ssl, (void)cookie, (void)count;
    return 1;
}

/// The caller asks for cookies; a connection never does.
static int refuse_cookie(SSL *ssl, unsigned char *cookie, unsigned int *count) {
    (void)ssl, (void)cookie, (void)count;
    return 0;
}

/// Compares the leaf alone: whoever has its key is the one that was asked for.
static int check_pin(X509_STORE_CTX *store, void *argument) {
    const dv_dtls_context *context = argument;
    X509 *leaf = X509_STORE_CTX_get0_cert(store);
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned int count = 0;
    const int is_it = leaf && X509_digest(leaf, EVP_sha256(), digest, &count) && count == sizeof context->fingerprint &&
        !CRYPTO_memcmp(digest, context->fingerprint, sizeof context->fingerprint);
    X509_STORE_CTX_set_error(store, is_it ? X509_V_OK : X509_V_ERR_CERT_REJECTED);
    return is_it;
}

// MARK: Making

static dv_dtls_result make(dv_dtls_context **out, int is_client) {
    ERR_clear_error();
    dv_dtls_context *context = calloc(1, sizeof *context);
    if (!context) return DV_DTLS_NO_MEMORY;
    context->owners = 1;
    context->is_client = is_client;
    SSL_CTX *ssl = context->ssl = SSL_CTX_new(is_client ? DTLS_client_method() : DTLS_server_method());
    // SSL_CTX_set_tlsext_use_srtp and SSL_CTX_set_alpn_protos return 0 for success.
    if (!ssl || !SSL_CTX_set_min_proto_version(ssl, DTLS1_2_VERSION) || !SSL_CTX_set_max_proto_version(ssl, DTLS1_2_VERSION) ||
        !SSL_CTX_set_cipher_list(ssl, suites) || !SSL_CTX_set1_groups_list(ssl, "X25519:P-256") ||
        SSL_CTX_set_tlsext_use_srtp(ssl, "SRTP_AEAD_AES_128_GCM:SRTP_AES128_CM_SHA1_80") ||
        (is_client && SSL_CTX_set_alpn_protos(ssl, (const unsigned char *)DV_DTLS_PROTOCOL, sizeof DV_DTLS_PROTOCOL - 1))) {
        dv_dtls_context_release(context);
        return DV_DTLS_NO_MEMORY;
    }
    SSL_CTX_set_options(
        ssl, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
    // Its buffer for writing is so long; longer records are not written.
    SSL_CTX_set_max_send_fragment(ssl, DV_DTLS_DATAGRAM_LIMIT);
    // Messages of the handshake are gathered up to this length before anybody is known.
    SSL_CTX_set_max_cert_list(ssl, 16 * 1024);
    if (!is_client) {
        SSL_CTX_set_client_hello_cb(ssl, check_hello, NULL);
        SSL_CTX_set_alpn_select_cb(ssl, choose_protocol, NULL);
        SSL_CTX_set_cookie_verify_cb(ssl, accept_cookie);
        SSL_CTX_set_cookie_generate_cb(ssl, refuse_cookie);
    }
    *out = context;
    return DV_DTLS_MADE;
}

static dv_dtls_result take_certificates(SSL_CTX *ssl, BIO *text) {
    int taken = 0;
    for (;; taken++) {
        X509 *certificate = PEM_read_bio_X509(text, NULL, no_password, NULL);
        if (!certificate) break;
        if (taken == 0) {
            const int is_taken = SSL_CTX_use_certificate(ssl, certificate);
            X509_free(certificate);
            if (!is_taken) return DV_DTLS_WEAK_CERTIFICATE;
        } else if (!SSL_CTX_add0_chain_cert(ssl, certificate)) {
            X509_free(certificate);
            return DV_DTLS_WEAK_CERTIFICATE;
        }
    }
    // The end of the text is the only good reason for no further certificate.
    const unsigned long error = ERR_peek_last_error();
    const int is_end = ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
    return taken && is_end ? DV_DTLS_MADE : DV_DTLS_NO_CERTIFICATE;
}

static dv_dtls_result take_identity(SSL_CTX *ssl, BIO *certificates, BIO *key_text) {
    if (!certificates || !key_text) return DV_DTLS_NO_MEMORY;
    const dv_dtls_result result = take_certificates(ssl, certificates);
    if (result != DV_DTLS_MADE) return result;
    EVP_PKEY *key = PEM_read_bio_PrivateKey(key_text, NULL, no_password, NULL);
    if (!key) return DV_DTLS_NO_KEY;
    const int is_taken = SSL_CTX_use_PrivateKey(ssl, key) && SSL_CTX_check_private_key(ssl);
    EVP_PKEY_free(key);
    return is_taken ? DV_DTLS_MADE : DV_DTLS_OTHER_KEY;
}

dv_dtls_result dv_dtls_server_create(
    dv_dtls_context **out, const void *certificates, size_t certificates_count, const void *key, size_t key_count) {
    if (certificates_count > INT32_MAX || key_count > INT32_MAX) return DV_DTLS_NO_MEMORY;
    dv_dtls_context *context;
    dv_dtls_result result = make(&context, 0);
    if (result != DV_DTLS_MADE) return result;
    BIO *certificates_text = BIO_new_mem_buf(certificates_count ? certificates : "", (int)certificates_count);
    BIO *key_text = BIO_new_mem_buf(key_count ? key : "", (int)key_count);
    result = take_identity(context->ssl, certificates_text, key_text);
    BIO_free(certificates_text);
    BIO_free(key_text);
    ERR_clear_error();
    unsigned int count = 0;
    if (result == DV_DTLS_MADE && !X509_digest(SSL_CTX_get0_certificate(context->ssl), EVP_sha256(), context->fingerprint, &count))
        result = DV_DTLS_NO_MEMORY;
    if (result == DV_DTLS_MADE) *out = context;
    else dv_dtls_context_release(context);
    return result;
}

dv_dtls_result dv_dtls_pinned_client_create(dv_dtls_context **out, const uint8_t fingerprint[32]) {
    dv_dtls_context *context;
    const dv_dtls_result result = make(&context, 1);
    if (result != DV_DTLS_MADE) return result;
    context->is_pinned = 1;
    memcpy(context->fingerprint, fingerprint, sizeof context->fingerprint);
    SSL_CTX_set_verify(context->ssl, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_cert_verify_callback(context->ssl, check_pin, context);
    *out = context;
    return DV_DTLS_MADE;
}

static dv_dtls_result trust(dv_dtls_context *context, const char *host, const char *authorities) {
    const int is_loaded = authorities ? SSL_CTX_load_verify_file(context->ssl, authorities)
                                      : SSL_CTX_set_default_verify_paths(context->ssl);
    if (!is_loaded) return DV_DTLS_NO_AUTHORITIES;
    X509_VERIFY_PARAM *parameters = SSL_CTX_get0_param(context->ssl);
    X509_VERIFY_PARAM_set_hostflags(parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    // An empty host would be no check at all.
    if (!host[0]) return DV_DTLS_BAD_HOST;
    ASN1_OCTET_STRING *address = a2i_IPADDRESS(host);
    if (address) {
        ASN1_OCTET_STRING_free(address);
        return X509_VERIFY_PARAM_set1_ip_asc(parameters, host) ? DV_DTLS_MADE : DV_DTLS_BAD_HOST;
    }
    if (!X509_VERIFY_PARAM_set1_host(parameters, host, 0)) return DV_DTLS_BAD_HOST;
    context->name = strdup(host);
    return context->name ? DV_DTLS_MADE : DV_DTLS_NO_MEMORY;
}

dv_dtls_result dv_dtls_trusting_client_create(dv_dtls_context **out, const char *host, const char *authorities) {
    dv_dtls_context *context;
    dv_dtls_result result = make(&context, 1);
    if (result != DV_DTLS_MADE) return result;
    SSL_CTX_set_verify(context->ssl, SSL_VERIFY_PEER, NULL);
    result = trust(context, host, authorities);
    ERR_clear_error();
    if (result == DV_DTLS_MADE) *out = context;
    else dv_dtls_context_release(context);
    return result;
}

// MARK: Having

void dv_dtls_fingerprint(const dv_dtls_context *context, uint8_t out[32]) {
    memcpy(out, context->fingerprint, sizeof context->fingerprint);
}

int64_t dv_dtls_not_after(const dv_dtls_context *context) {
    const X509 *leaf = SSL_CTX_get0_certificate(context->ssl);
    struct tm end;
    if (!leaf || ASN1_TIME_to_tm(X509_get0_notAfter(leaf), &end) != 1) return -1;
    return timegm(&end);
}

dv_dtls_context *dv_dtls_context_retain(dv_dtls_context *context) {
    atomic_fetch_add(&context->owners, 1);
    return context;
}

void dv_dtls_context_release(dv_dtls_context *context) {
    if (!context || atomic_fetch_sub(&context->owners, 1) > 1) return;
    SSL_CTX_free(context->ssl);
    free(context->name);
    free(context);
}
