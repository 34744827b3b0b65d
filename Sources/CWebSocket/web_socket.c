#include "web_socket.h"
#include "late_websockets.h"

#include <openssl/crypto.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    // Of the TCP connection, the TLS and the WebSocket handshake.
    CONNECT_SECONDS = 10,
    PING_SECONDS = 10,
    HANGUP_SECONDS = 20,
    // So much of a frame is looked at before the rest has come.
    FRAGMENT = 4 << 10,
    // Sockets of a server that are no WebSockets yet: TCP connections that say nothing for CONNECT_SECONDS are cheap to make.
    STRANGERS = 256,
    // More often than PING_SECONDS.
    PAUSE_SECONDS = 5,
};

static const uint32_t no_retries[] = {1000};
static const lws_retry_bo_t liveness = {
    .retry_ms_table = no_retries,
    .retry_ms_table_count = 1,
    .secs_since_valid_ping = PING_SECONDS,
    .secs_since_valid_hangup = HANGUP_SECONDS,
};

typedef struct {
    struct lws *wsi;
    bool is_ending, is_in_message, is_paused;
    uint16_t end_status;
    int peer_status;
    lws_usec_t message_start;
    lws_sorted_usec_list_t pause;
} connection;

struct dv_web {
    struct lws_context *context;
    dv_web_handler handler;
    void *owner;
    connection connections[DV_WEB_CONNECTIONS];
    char *names[DV_WEB_HEADERS], *values[DV_WEB_HEADERS];
    size_t headers;
    // "Bearer KEY" of a server's clients, or NULL.
    char *authorization;
    char *told_header;
    struct lws_protocols protocols[2];
    uint16_t port, message_seconds;
    // What is wrong with the server's certificate, or X509_V_OK.
    int certificate_fault;
    bool is_client;
    // The client has no connection, and will have none.
    bool is_over;
};

static int tell(dv_web *web, dv_web_event event) { return web->handler ? web->handler(web->owner, &event) : 0; }

static connection *connection_of(dv_web *web, struct lws *wsi) {
    for (size_t index = 0; index < DV_WEB_CONNECTIONS; index++)
        if (web->connections[index].wsi == wsi) return &web->connections[index];
    return NULL;
}

static uint32_t number_of(const dv_web *web, const connection *c) { return (uint32_t)(c - web->connections); }

static void limit_message(const dv_web *web, connection *c) {
    bool is_awaited = c->is_in_message && !c->is_paused;
    lws_set_timeout(c->wsi, is_awaited ? PENDING_TIMEOUT_USER_OK : NO_PENDING_TIMEOUT, is_awaited ? web->message_seconds : 0);
}

// While nothing is read the answer to a ping is not seen, however alive the peer is.
static void keep_paused(lws_sorted_usec_list_t *pause) {
    connection *c = lws_container_of(pause, connection, pause);
    lws_validity_confirmed(c->wsi);
    lws_sul_schedule(lws_get_context(c->wsi), 0, pause, keep_paused, PAUSE_SECONDS * LWS_US_PER_SEC);
}

static int received(dv_web *web, connection *c, const uint8_t *bytes, size_t count) {
    bool is_first = lws_is_first_fragment(c->wsi) && !c->is_in_message;
    uint64_t remaining = lws_remaining_packet_payload(c->wsi);
    bool is_final = lws_is_final_fragment(c->wsi) && remaining == 0;
    // Sound that comes faster than it is played stands before the answer to a ping.
    lws_validity_confirmed(c->wsi);
    if (is_first) c->message_start = lws_now_usecs();
    if (c->is_in_message != !is_final) {
        c->is_in_message = !is_final;
        limit_message(web, c);
    }
    return tell(web, (dv_web_event){
                         .kind = DV_WEB_RECEIVED,
                         .connection = number_of(web, c),
                         .bytes = bytes,
                         .count = count,
                         .remaining = remaining,
                         .is_final = is_final,
                         .is_text = !lws_frame_is_binary(c->wsi),
                     });
}

static int opened(dv_web *web, connection *c) {
    dv_web_event event = {.kind = DV_WEB_OPENED, .connection = number_of(web, c)};
    char value[DV_WEB_VALUE + 1];
    int count = web->told_header ? lws_hdr_custom_copy(c->wsi, value, sizeof value, web->told_header,
                                                       (int)strlen(web->told_header))
                                 : -1;
    if (count >= 0) {
        event.bytes = (const uint8_t *)value;
        event.count = (size_t)count;
    }
    return tell(web, event);
}

static int closed(dv_web *web, connection *c) {
    bool is_slow = c->is_in_message && lws_now_usecs() - c->message_start >= web->message_seconds * LWS_US_PER_SEC;
    dv_web_event event = {
        .kind = DV_WEB_CLOSED, .connection = number_of(web, c), .is_slow = is_slow, .status = c->peer_status};
    lws_sul_cancel(&c->pause);
    memset(c, 0, sizeof *c);
    web->is_over = web->is_client;
    return tell(web, event);
}

static int add_headers(dv_web *web, struct lws *wsi, unsigned char **place, size_t room) {
    unsigned char *end = *place + room;
    for (size_t index = 0; index < web->headers; index++) {
        const char *value = web->values[index];
        if (lws_add_http_header_by_name(wsi, (const unsigned char *)web->names[index], (const unsigned char *)value,
                                        (int)strlen(value), place, end))
            return -1;
    }
    return 0;
}

// A browser sends the origin of the page that connects: without a key, any page that somebody looks at could talk to a server on their machine.
static bool is_of_this_machine(const char *origin) {
    static const char *const hosts[] = {"http://localhost", "http://127.0.0.1", "http://[::1]"};
    for (size_t index = 0; index < sizeof hosts / sizeof *hosts; index++) {
        size_t length = strlen(hosts[index]);
        if (!strncmp(origin, hosts[index], length) && (!origin[length] || origin[length] == ':')) return true;
    }
    return false;
}

#define REFUSAL(status) "HTTP/1.1 " status "\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"

// To what asks for no WebSocket: libwebsockets would answer nothing, and keep what was posted whole without a timeout.
static const char no_upgrade[] = "HTTP/1.1 426 Upgrade Required\r\nupgrade: websocket\r\ncontent-length: 0\r\n"
                                 "connection: close, upgrade\r\n\r\n";

// Not for HTTP/2, which it would speak without asking.
static bool asks_for_websocket(struct lws *wsi) {
    char name[sizeof "websocket"];
    return lws_hdr_copy(wsi, name, sizeof name, WSI_TOKEN_UPGRADE) > 0 && !strcasecmp(name, "websocket");
}

// With what a client is refused, or NULL.
static const char *refusal(const dv_web *web, struct lws *wsi) {
    char text[DV_WEB_KEY + 16];
    if (web->authorization) {
        size_t length = strlen(web->authorization);
        int given = lws_hdr_copy(wsi, text, sizeof text, WSI_TOKEN_HTTP_AUTHORIZATION);
        bool is_right = given > 0 && (size_t)given == length && !CRYPTO_memcmp(text, web->authorization, length);
        OPENSSL_cleanse(text, sizeof text);
        return is_right ? NULL : REFUSAL("401 Unauthorized");
    }
    if (!lws_hdr_total_length(wsi, WSI_TOKEN_ORIGIN)) return NULL;
    bool is_near = lws_hdr_copy(wsi, text, sizeof text, WSI_TOKEN_ORIGIN) > 0 && is_of_this_machine(text);
    return is_near ? NULL : REFUSAL("403 Forbidden");
}

// Positive: it was answered. libwebsockets' own answer is HTTP/1.0, which some clients do not take.
static int refuse(struct lws *wsi, const char *answer) {
    unsigned char bytes[LWS_PRE + 128];
    size_t count = strlen(answer);
    memcpy(bytes + LWS_PRE, answer, count);
    return lws_write(wsi, bytes + LWS_PRE, count, LWS_WRITE_HTTP_HEADERS) < 0 ? -1 : 1;
}

static int handle(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t count) {
    struct lws_context *context = lws_get_context(wsi);
    dv_web *web = context ? lws_context_user(context) : NULL;
    if (!web) return 0;
    connection *c = wsi ? connection_of(web, wsi) : NULL;
    switch (reason) {
        case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER: return add_headers(web, wsi, in, count);
        case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
            web->is_over = true;
            // The words are not terminated.
            char words[128] = "";
            if (in) memcpy(words, in, count < sizeof words - 1 ? count : sizeof words - 1);
            bool is_untrusted = web->certificate_fault != X509_V_OK;
            return tell(web, (dv_web_event){
                                 .kind = DV_WEB_FAILED,
                                 .status = (int)lws_http_client_http_response(wsi),
                                 .is_untrusted = is_untrusted,
                                 .reason = is_untrusted ? X509_verify_cert_error_string(web->certificate_fault)
                                           : in         ? words
                                                        : NULL,
                             });
        case LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION:
            // Only looked at: `count` is OpenSSL's judgement, which stays.
            if (!count) web->certificate_fault = X509_STORE_CTX_get_error(user);
            return 0;
        case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE: {
            const char *answer = asks_for_websocket(wsi) ? refusal(web, wsi) : no_upgrade;
            return answer ? refuse(wsi, answer) : 0;
        }
        case LWS_CALLBACK_HTTP:
            refuse(wsi, no_upgrade);
            return -1;
        // Once more where every way of becoming a WebSocket passes: over HTTP/2, say, nobody asks for the upgrade.
        case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION: return refusal(web, wsi) ? -1 : 0;
        // What does not begin as HTTP does, or asks for a tunnel, would stay without a timeout.
        case LWS_CALLBACK_RAW_ADOPT:
            lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
            return -1;
        case LWS_CALLBACK_CLIENT_ESTABLISHED:
        case LWS_CALLBACK_ESTABLISHED:
            c = connection_of(web, NULL);
            if (!c) return -1;
            c->wsi = wsi;
            return opened(web, c);
        case LWS_CALLBACK_CLIENT_RECEIVE:
        case LWS_CALLBACK_RECEIVE: return c && !c->is_ending && received(web, c, in, count) ? -1 : 0;
        case LWS_CALLBACK_CLIENT_WRITEABLE:
        case LWS_CALLBACK_SERVER_WRITEABLE:
            if (!c) return 0;
            if (c->is_ending) {
                lws_close_reason(wsi, c->end_status, NULL, 0);
                return -1;
            }
            return tell(web, (dv_web_event){.kind = DV_WEB_WRITABLE, .connection = number_of(web, c)});
        case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
            if (c && count >= 2) c->peer_status = ((uint8_t *)in)[0] << 8 | ((uint8_t *)in)[1];
            return 0;
        case LWS_CALLBACK_CLIENT_CLOSED:
        case LWS_CALLBACK_CLOSED: return c ? closed(web, c) : 0;
        case LWS_CALLBACK_EVENT_WAIT_CANCELLED: return tell(web, (dv_web_event){.kind = DV_WEB_WOKEN});
        default: return 0;
    }
}

static dv_web *make(uint16_t message_seconds, dv_web_handler handler, void *owner) {
    if (!dv_web_is_installed()) return NULL;
    dv_web *web = calloc(1, sizeof *web);
    if (!web) return NULL;
    web->handler = handler;
    web->owner = owner;
    web->message_seconds = message_seconds;
    web->protocols[0] =
        (struct lws_protocols){.name = "realtime", .callback = handle, .rx_buffer_size = FRAGMENT};
    return web;
}

static bool create(dv_web *web, struct lws_context_creation_info *info) {
    info->protocols = web->protocols;
    info->user = web;
    info->timeout_secs = CONNECT_SECONDS;
    info->connect_timeout_secs = CONNECT_SECONDS;
    info->retry_and_idle_policy = &liveness;
    // Connections, who is to become one, the listening socket and the wake-up.
    info->fd_limit_per_thread = DV_WEB_CONNECTIONS + (web->is_client ? 0 : STRANGERS) + 4;
    info->gid = -1;
    info->uid = -1;
    web->context = dv_web_context(info);
    return web->context != NULL;
}

dv_web *dv_web_connect(const dv_web_client *options, dv_web_handler handler, void *owner) {
    dv_web *web = make(options->message_seconds, handler, owner);
    if (!web) return NULL;
    web->is_client = true;
    for (; web->headers < options->headers && web->headers < DV_WEB_HEADERS; web->headers++) {
        web->names[web->headers] = strdup(options->names[web->headers]);
        web->values[web->headers] = strdup(options->values[web->headers]);
    }
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN,
        // Without one it would read the environment by rules of its own.
        .http_proxy_address = options->proxy ? options->proxy : "",
        .client_ssl_ca_filepath = options->authorities,
        .options = options->authorities ? LWS_SERVER_OPTION_DISABLE_OS_CA_CERTS : 0,
    };
    if (!create(web, &info)) {
        dv_web_free(web);
        return NULL;
    }
    struct lws_client_connect_info connect = {
        .context = web->context,
        .address = options->host,
        .port = options->port,
        .path = options->path,
        .host = options->origin_host,
        .ssl_connection = (options->is_secure ? LCCSCF_USE_SSL : 0) | LCCSCF_HTTP_NO_FOLLOW_REDIRECT,
        .alpn = "http/1.1",
        .local_protocol_name = web->protocols[0].name,
        .retry_and_idle_policy = &liveness,
    };
    // A failure has been told, or is told now.
    if (!lws_client_connect_via_info(&connect) && !web->is_over) {
        web->is_over = true;
        tell(web, (dv_web_event){.kind = DV_WEB_FAILED});
    }
    return web;
}

dv_web *dv_web_listen(const dv_web_server *options, dv_web_handler handler, void *owner) {
    dv_web *web = make(options->message_seconds, handler, owner);
    if (!web) return NULL;
    if (options->key) {
        size_t size = strlen(options->key) + sizeof "Bearer ";
        web->authorization = malloc(size);
        if (web->authorization) snprintf(web->authorization, size, "Bearer %s", options->key);
        // Not without the key that was asked for.
        if (!web->authorization || size > DV_WEB_KEY) {
            dv_web_free(web);
            return NULL;
        }
    }
    if (options->told_header) web->told_header = strdup(options->told_header);
    struct lws_context_creation_info info = {
        .port = options->port,
        .iface = options->interface,
        .alpn = "http/1.1",
        .ssl_cert_filepath = options->certificate,
        .ssl_private_key_filepath = options->private_key,
        .options = LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND,
    };
    if (!create(web, &info)) {
        dv_web_free(web);
        return NULL;
    }
    web->port = (uint16_t)lws_get_vhost_listen_port(lws_get_vhost_by_name(web->context, "default"));
    return web;
}

uint16_t dv_web_port(const dv_web *web) { return web->port; }

bool dv_web_run(dv_web *web) {
    return !web->is_over && lws_service(web->context, 0) >= 0;
}

void dv_web_wake(dv_web *web) { lws_cancel_service(web->context); }

bool dv_web_send(dv_web *web, uint32_t number, const uint8_t *bytes, size_t count) {
    struct lws *wsi = web->connections[number].wsi;
    uint8_t *padded = wsi ? malloc(LWS_PRE + count) : NULL;
    if (!padded) return false;
    memcpy(padded + LWS_PRE, bytes, count);
    int sent = lws_write(wsi, padded + LWS_PRE, count, LWS_WRITE_TEXT);
    free(padded);
    return sent >= 0;
}

void dv_web_request_writable(dv_web *web, uint32_t number) {
    if (web->connections[number].wsi) lws_callback_on_writable(web->connections[number].wsi);
}

void dv_web_set_reading(dv_web *web, uint32_t number, bool is_reading) {
    connection *c = &web->connections[number];
    // Of one that is ending nothing more is taken, and its timeout stands.
    if (!c->wsi || c->is_ending || c->is_paused == !is_reading) return;
    c->is_paused = !is_reading;
    if (is_reading) {
        lws_sul_cancel(&c->pause);
        lws_validity_confirmed(c->wsi);
    } else {
        keep_paused(&c->pause);
    }
    lws_rx_flow_control(c->wsi, is_reading);
    limit_message(web, c);
}

void dv_web_end(dv_web *web, uint32_t number, uint16_t status) {
    connection *c = &web->connections[number];
    if (!c->wsi || c->is_ending) return;
    c->is_ending = true;
    c->end_status = status;
    // Who reads nothing is not waited for.
    lws_set_timeout(c->wsi, PENDING_TIMEOUT_USER_OK, 1);
    lws_callback_on_writable(c->wsi);
}

void dv_web_free(dv_web *web) {
    if (web->context) {
        // Nothing is told of what this ends.
        web->handler = NULL;
        lws_context_destroy(web->context);
    }
    for (size_t index = 0; index < web->headers; index++) {
        if (web->values[index]) explicit_bzero(web->values[index], strlen(web->values[index]));
        free(web->names[index]);
        free(web->values[index]);
    }
    if (web->authorization) explicit_bzero(web->authorization, strlen(web->authorization));
    free(web->authorization);
    free(web->told_header);
    free(web);
}
