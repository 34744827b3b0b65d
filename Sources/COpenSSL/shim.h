#pragma once
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>

// SHA-1 whose state is a plain value, which may be kept and begun from again. EVP's digests are the way that is not
// deprecated, but OpenSSL 3.0 allocates each time one begins or is copied.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static inline int dv_sha1_begin(SHA_CTX *state) { return SHA1_Init(state); }
static inline int dv_sha1_update(SHA_CTX *state, const void *bytes, size_t count) {
    return SHA1_Update(state, bytes, count);
}
static inline int dv_sha1_finish(SHA_CTX *state, unsigned char *digest) { return SHA1_Final(digest, state); }
#pragma GCC diagnostic pop
