#include "web_fetch.h"
#include "late_websockets.h"
#include "web_socket.h"

#include <openssl/x509_vfy.h>
#include <stdlib.h>
#include <string.h>

enum {
    // Of the TCP connection and the TLS handshake.
    CONNECT_SECONDS = 10,
    PIECE = 4 << 10,
};

struct dv_fetch {
    struct lws_context *context;
    dv_fetch_handler handler;
    void *owner;
    char *names[DV_WEB_HEADERS], *values[DV_WEB_HEADERS];
    size_t headers;
    struct lws_protocols protocols[2];
    // LWS_PRE bytes before it are libwebsockets'.
    uint8_t *body;
    size_t body_count;
    uint16_t silence_seconds;
    lws_usec_t last;
    int certificate_fault;
    bool has_responded, is_over;
};

static int tell(dv_fetch *fetch, dv_fetch_event event) {
    return fetch->handler ? fetch->handler(fetch->owner, &event) : 0;
}

static bool is_slow(const dv_fetch *fetch) {
    // A timeout may come a little early, by the granularity of libwebsockets' own clock.
    return lws_now_usecs() - fetch->last >= (lws_usec_t)fetch->silence_seconds * LWS_US_PER_SEC - LWS_US_PER_SEC / 2;
}

// Nothing more is told.
static int end(dv_fetch *fetch, dv_fetch_event event) {
    if (fetch->is_over) return -1;
    fetch->is_over = true;
    tell(fetch, event);
    return -1;
}

static int add_headers(dv_fetch *fetch, struct lws *wsi, unsigned char **place, size_t room) {
    unsigned char *limit = *place + room;
    for (size_t index = 0; index < fetch->headers; index++) {
        const char *value = fetch->values[index];
        if (lws_add_http_header_by_name(wsi, (const unsigned char *)fetch->names[index], (const unsigned char *)value,
                                        (int)strlen(value), place, limit))
            return -1;
    }
    if (lws_add_http_header_content_length(wsi, fetch->body_count, place, limit)) return -1;
    lws_client_http_body_pending(wsi, 1);
    lws_callback_on_writable(wsi);
    return 0;
}

static int handle(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t count) {
    struct lws_context *context = lws_get_context(wsi);
    dv_fetch *fetch = context ? lws_context_user(context) : NULL;
    if (!fetch) return 0;
    switch (reason) {
        case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER: return add_headers(fetch, wsi, in, count);
        case LWS_CALLBACK_CLIENT_HTTP_WRITEABLE:
            if (!fetch->body) return 0;
            lws_client_http_body_pending(wsi, 0);
            int sent = lws_write(wsi, fetch->body + LWS_PRE, fetch->body_count, LWS_WRITE_HTTP_FINAL);
            free(fetch->body);
            fetch->body = NULL;
            lws_set_timeout(wsi, PENDING_TIMEOUT_AWAITING_SERVER_RESPONSE, fetch->silence_seconds);
            fetch->last = lws_now_usecs();
            return sent < 0 ? -1 : 0;
        case LWS_CALLBACK_ESTABLISHED_CLIENT_HTTP:
            fetch->has_responded = true;
            fetch->last = lws_now_usecs();
            lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, fetch->silence_seconds);
            int status = (int)lws_http_client_http_response(wsi);
            return tell(fetch, (dv_fetch_event){.kind = DV_FETCH_RESPONDED, .status = status}) ? -1 : 0;
        case LWS_CALLBACK_RECEIVE_CLIENT_HTTP: {
            char buffer[LWS_PRE + PIECE], *place = buffer + LWS_PRE;
            int room = PIECE;
            return lws_http_client_read(wsi, &place, &room) < 0 ? -1 : 0;
        }
        case LWS_CALLBACK_RECEIVE_CLIENT_HTTP_READ:
            if (fetch->is_over) return -1;
            fetch->last = lws_now_usecs();
            lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, fetch->silence_seconds);
            return tell(fetch, (dv_fetch_event){.kind = DV_FETCH_RECEIVED, .bytes = in, .count = count}) ? -1 : 0;
        case LWS_CALLBACK_COMPLETED_CLIENT_HTTP: return end(fetch, (dv_fetch_event){.kind = DV_FETCH_COMPLETED});
        case LWS_CALLBACK_CLOSED_CLIENT_HTTP:
            end(fetch, (dv_fetch_event){.kind = fetch->has_responded ? DV_FETCH_CLOSED : DV_FETCH_FAILED, .is_slow = is_slow(fetch)});
            return 0;
        case LWS_CALLBACK_CLIENT_CONNECTION_ERROR: {
            // The words are not terminated.
            char words[128] = "";
            if (in) memcpy(words, in, count < sizeof words - 1 ? count : sizeof words - 1);
            bool is_untrusted = fetch->certificate_fault != X509_V_OK;
            end(fetch, (dv_fetch_event){
                           .kind = DV_FETCH_FAILED,
                           .is_slow = !fetch->body && is_slow(fetch),
                           .is_untrusted = is_untrusted,
                           .reason = is_untrusted ? X509_verify_cert_error_string(fetch->certificate_fault)
                                     : in         ? words
                                                  : NULL,
                       });
            return 0;
        }
        case LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION:
            // Only looked at: `count` is OpenSSL's judgement, which stays.
            if (!count) fetch->certificate_fault = X509_STORE_CTX_get_error(user);
            return 0;
        default: return 0;
    }
}

dv_fetch *dv_fetch_start(const dv_web_client *options, const uint8_t *body, size_t count, dv_fetch_handler handler, void *owner) {
    if (!dv_web_is_installed()) return NULL;
    dv_fetch *fetch = calloc(1, sizeof *fetch);
    if (!fetch) return NULL;
    fetch->handler = handler;
    fetch->owner = owner;
    fetch->silence_seconds = options->message_seconds;
    fetch->last = lws_now_usecs();
    fetch->protocols[0] = (struct lws_protocols){.name = "http", .callback = handle, .rx_buffer_size = PIECE};
    fetch->body = malloc(LWS_PRE + count);
    fetch->body_count = count;
    if (fetch->body) memcpy(fetch->body + LWS_PRE, body, count);
    for (; fetch->headers < options->headers && fetch->headers < DV_WEB_HEADERS; fetch->headers++) {
        fetch->names[fetch->headers] = strdup(options->names[fetch->headers]);
        fetch->values[fetch->headers] = strdup(options->values[fetch->headers]);
    }
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN,
        .protocols = fetch->protocols,
        .user = fetch,
        // Without one it would read the environment by rules of its own.
        .http_proxy_address = options->proxy ? options->proxy : "",
        .client_ssl_ca_filepath = options->authorities,
        .options = options->authorities ? LWS_SERVER_OPTION_DISABLE_OS_CA_CERTS : 0,
        .timeout_secs = options->message_seconds,
        .connect_timeout_secs = CONNECT_SECONDS,
        .fd_limit_per_thread = 8,
        .gid = -1,
        .uid = -1,
    };
    fetch->context = fetch->body ? dv_web_context(&info) : NULL;
    if (!fetch->context) {
        dv_fetch_free(fetch);
        return NULL;
    }
    struct lws_client_connect_info connect = {
        .context = fetch->context,
        .address = options->host,
        .port = options->port,
        .path = options->path,
        .host = options->origin_host,
        .method = "POST",
        .ssl_connection = (options->is_secure ? LCCSCF_USE_SSL : 0) | LCCSCF_HTTP_NO_FOLLOW_REDIRECT,
        .alpn = "http/1.1",
        .local_protocol_name = fetch->protocols[0].name,
    };
    // A failure has been told, or is told now.
    if (!lws_client_connect_via_info(&connect)) end(fetch, (dv_fetch_event){.kind = DV_FETCH_FAILED});
    return fetch;
}

bool dv_fetch_run(dv_fetch *fetch) { return !fetch->is_over && lws_service(fetch->context, 0) >= 0; }

void dv_fetch_wake(dv_fetch *fetch) { lws_cancel_service(fetch->context); }

void dv_fetch_free(dv_fetch *fetch) {
    if (fetch->context) {
        // Nothing is told of what this ends.
        fetch->handler = NULL;
        lws_context_destroy(fetch->context);
    }
    for (size_t index = 0; index < fetch->headers; index++) {
        if (fetch->values[index]) explicit_bzero(fetch->values[index], strlen(fetch->values[index]));
        free(fetch->names[index]);
        free(fetch->values[index]);
    }
    free(fetch->body);
    free(fetch);
}
