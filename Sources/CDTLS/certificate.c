#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dtls.h"

/// Adds a host's name or address to the names of a certificate. 0 when it is neither.
static int add_name(GENERAL_NAMES *names, const char *text) {
    GENERAL_NAME *name = GENERAL_NAME_new();
    if (!name) return 0;
    ASN1_OCTET_STRING *address = a2i_IPADDRESS(text);
    if (address) {
        GENERAL_NAME_set0_value(name, GEN_IPADD, address);
    } else {
        ASN1_IA5STRING *host = ASN1_IA5STRING_new();
        if (!host || !ASN1_STRING_set(host, text, -1)) {
            ASN1_IA5STRING_free(host);
            GENERAL_NAME_free(name);
            return 0;
        }
        GENERAL_NAME_set0_value(name, GEN_DNS, host);
    }
    if (sk_GENERAL_NAME_push(names, name) > 0) return 1;
    GENERAL_NAME_free(name);
    return 0;
}

static int add_names(X509 *certificate, const char *names, size_t count) {
    GENERAL_NAMES *list = GENERAL_NAMES_new();
    int is_added = list != NULL;
    for (size_t offset = 0; is_added && offset < count; offset += strlen(names + offset) + 1)
        is_added = add_name(list, names + offset);
    if (count) is_added = is_added && X509_add1_ext_i2d(certificate, NID_subject_alt_name, list, 0, X509V3_ADD_DEFAULT) == 1;
    GENERAL_NAMES_free(list);
    return is_added;
}

static int add_extension(X509 *certificate, int identifier, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, identifier, value);
    const int is_added = extension && X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return is_added;
}

/// Gives it a number of its own, and a name with it: OpenSSL looks for authorities by name, and each of these is its
/// own.
static int set_subject(X509 *certificate) {
    uint8_t bytes[16];
    if (RAND_bytes(bytes, sizeof bytes) != 1) return 0;
    // Positive and not 0 (RFC 5280 section 4.1.2.2).
    bytes[0] = (bytes[0] & 0x7F) | 0x40;
    char text[64] = "DuplexVoice ";
    for (size_t index = 0; index < sizeof bytes; index++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%02x", bytes[index]);
    BIGNUM *number = BN_bin2bn(bytes, sizeof bytes, NULL);
    const int is_set = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
    BN_free(number);
    X509_NAME *name = X509_get_subject_name(certificate);
    return is_set && X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)text, -1, -1, 0) &&
        X509_set_issuer_name(certificate, name);
}

static X509 *make(EVP_PKEY *key, const char *names, size_t names_count, int64_t not_before, int64_t not_after) {
    X509 *certificate = X509_new();
    if (certificate && X509_set_version(certificate, X509_VERSION_3) && set_subject(certificate) &&
        ASN1_TIME_set(X509_getm_notBefore(certificate), not_before) && ASN1_TIME_set(X509_getm_notAfter(certificate), not_after) &&
        X509_set_pubkey(certificate, key) && add_extension(certificate, NID_basic_constraints, "critical,CA:FALSE") &&
        add_extension(certificate, NID_key_usage, "critical,digitalSignature") &&
        add_extension(certificate, NID_ext_key_usage, "serverAuth") && add_names(certificate, names, names_count) &&
        X509_sign(certificate, key, EVP_sha256()))
        return certificate;
    X509_free(certificate);
    return NULL;
}

/// What a BIO in memory has gathered, as a text of its own.
static char *text_of(BIO *bio) {
    char *bytes;
    const long count = BIO_get_mem_data(bio, &bytes);
    char *text = count > 0 ? malloc((size_t)count + 1) : NULL;
    if (!text) return NULL;
    memcpy(text, bytes, (size_t)count);
    text[count] = 0;
    return text;
}

int dv_dtls_certificate_make(
    const char *names, size_t names_count, int64_t not_before, int64_t not_after, char **certificate, char **key) {
    ERR_clear_error();
    *certificate = *key = NULL;
    EVP_PKEY *pair = EVP_EC_gen("P-256");
    X509 *made = pair ? make(pair, names, names_count, not_before, not_after) : NULL;
    BIO *certificate_text = BIO_new(BIO_s_mem()), *key_text = BIO_new(BIO_s_secmem());
    if (made && certificate_text && key_text && PEM_write_bio_X509(certificate_text, made) &&
        PEM_write_bio_PrivateKey(key_text, pair, NULL, NULL, 0, NULL, NULL)) {
        *certificate = text_of(certificate_text);
        *key = text_of(key_text);
    }
    BIO_free(certificate_text);
    BIO_free(key_text);
    X509_free(made);
    EVP_PKEY_free(pair);
    ERR_clear_error();
    if (*certificate && *key) return 0;
    dv_dtls_text_free(*certificate);
    dv_dtls_text_free(*key);
    *certificate = *key = NULL;
    return -1;
}

void dv_dtls_text_free(char *text) {
    if (!text) return;
    OPENSSL_cleanse(text, strlen(text));
    free(text);
}
