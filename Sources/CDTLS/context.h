#pragma once

#include <openssl/ssl.h>
#include <stdatomic.h>
#include <stdint.h>

#include "dtls.h"

/// The protocol inside, which both ends must name (RFC 7301), as on the wire.
#define DV_DTLS_PROTOCOL "\x0d" "duplex-room/1"
/// The number of the extension that negotiates SRTP (RFC 5764 section 9).
#define DV_DTLS_USE_SRTP 14

struct dv_dtls_context {
    _Atomic int owners;
    SSL_CTX *ssl;
    int is_client;
    int is_pinned;
    uint8_t fingerprint[32];
    /// For the extension server_name; NULL for addresses, which it must not tell (RFC 6066 section 3).
    char *name;
};

dv_dtls_context *dv_dtls_context_retain(dv_dtls_context *context);
