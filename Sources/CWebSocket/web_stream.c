#include "web_stream.h"
#include "late_websockets.h"
#include "web_socket.h"

#include <netinet/in.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    // Of the TLS handshake.
    CONNECT_SECONDS = 10,
    // Sockets that have no place yet.
    STRANGERS = 64,
    PIECE = 4 << 10,
    // What the system keeps of what was sent to one, bytes (it takes twice as much); by itself it would keep megabytes.
    SEND_BUFFER = 128 << 10,
};

typedef struct {
    struct lws *wsi;
    // `is_waiting` for WRITABLE.
    bool is_ending, is_paused, is_waiting;
} connection;

struct dv_stream {
    struct lws_context *context;
    dv_stream_handler handler;
    void *owner;
    connection connections[DV_STREAM_CONNECTIONS];
    struct lws_protocols protocols[2];
    lws_sorted_usec_list_t tick;
    uint16_t port, stall_seconds;
};

static int tell(dv_stream *stream, dv_stream_event event) {
    return stream->handler ? stream->handler(stream->owner, &event) : 0;
}

static connection *connection_of(dv_stream *stream, struct lws *wsi) {
    for (size_t index = 0; index < DV_STREAM_CONNECTIONS; index++)
        if (stream->connections[index].wsi == wsi) return &stream->connections[index];
    return NULL;
}

static uint32_t number_of(const dv_stream *stream, const connection *c) { return (uint32_t)(c - stream->connections); }

static uint64_t site_of(int socket) {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } peer = {0};
    socklen_t length = sizeof peer;
    uint64_t site = 0;
    getpeername(socket, &peer.any, &length);
    const uint8_t *v6 = peer.v6.sin6_addr.s6_addr;
    if (peer.any.sa_family == AF_INET) memcpy(&site, &peer.v4.sin_addr, 4);
    // A socket for both has IPv4 addresses as the last bytes of IPv6 ones.
    else if (peer.any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&peer.v6.sin6_addr)) memcpy(&site, v6 + 12, 4);
    else if (peer.any.sa_family == AF_INET6) memcpy(&site, v6, 8);
    return site;
}

// Has WRITABLE come. Who takes nothing for long is given up.
static void wait_for_writable(const dv_stream *stream, connection *c) {
    if (!c->is_waiting) lws_set_timeout(c->wsi, PENDING_TIMEOUT_USER_OK, stream->stall_seconds);
    c->is_waiting = true;
    lws_callback_on_writable(c->wsi);
}

static void tick(lws_sorted_usec_list_t *list) {
    dv_stream *stream = lws_container_of(list, dv_stream, tick);
    lws_sul_schedule(stream->context, 0, list, tick, LWS_US_PER_SEC);
    tell(stream, (dv_stream_event){.kind = DV_STREAM_TICK});
}

static int handle(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t count) {
    struct lws_context *context = lws_get_context(wsi);
    dv_stream *stream = context ? lws_context_user(context) : NULL;
    if (!stream) return 0;
    connection *c = wsi ? connection_of(stream, wsi) : NULL;
    switch (reason) {
        case LWS_CALLBACK_RAW_ADOPT:
            if (!connection_of(stream, NULL)) tell(stream, (dv_stream_event){.kind = DV_STREAM_FULL});
            c = connection_of(stream, NULL);
            if (!c) {
                lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
                return -1;
            }
            c->wsi = wsi;
            lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0);
            const int kept = SEND_BUFFER;
            setsockopt(lws_get_socket_fd(wsi), SOL_SOCKET, SO_SNDBUF, &kept, sizeof kept);
            return tell(stream, (dv_stream_event){
                                    .kind = DV_STREAM_OPENED,
                                    .connection = number_of(stream, c),
                                    .site = site_of(lws_get_socket_fd(wsi)),
                                });
        case LWS_CALLBACK_RAW_RX:
            if (!c) return -1;
            if (c->is_ending) return 0;
            return tell(stream, (dv_stream_event){
                                    .kind = DV_STREAM_RECEIVED,
                                    .connection = number_of(stream, c),
                                    .bytes = in,
                                    .count = count,
                                })
                       ? -1
                       : 0;
        case LWS_CALLBACK_RAW_WRITEABLE:
            if (!c) return 0;
            c->is_waiting = false;
            lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0);
            // Called when all that was sent is with the system.
            if (c->is_ending) return -1;
            return tell(stream, (dv_stream_event){.kind = DV_STREAM_WRITABLE, .connection = number_of(stream, c)}) ? -1
                                                                                                                  : 0;
        case LWS_CALLBACK_RAW_CLOSE:
            if (!c) return 0;
            dv_stream_event event = {.kind = DV_STREAM_CLOSED, .connection = number_of(stream, c)};
            memset(c, 0, sizeof *c);
            tell(stream, event);
            return 0;
        case LWS_CALLBACK_EVENT_WAIT_CANCELLED: return tell(stream, (dv_stream_event){.kind = DV_STREAM_WOKEN});
        default: return 0;
    }
}

dv_stream *dv_stream_listen(const dv_web_server *options, dv_stream_handler handler, void *owner) {
    if (!dv_web_is_installed()) return NULL;
    dv_stream *stream = calloc(1, sizeof *stream);
    if (!stream) return NULL;
    stream->handler = handler;
    stream->owner = owner;
    stream->stall_seconds = options->stall_seconds;
    stream->protocols[0] = (struct lws_protocols){.name = "stream", .callback = handle, .rx_buffer_size = PIECE};
    struct lws_context_creation_info info = {
        .port = options->port,
        .iface = options->interface,
        .protocols = stream->protocols,
        .user = stream,
        .alpn = "http/1.1",
        .ssl_cert_filepath = options->certificate,
        .ssl_private_key_filepath = options->private_key,
        .timeout_secs = CONNECT_SECONDS,
        .listen_accept_role = "raw-skt",
        .listen_accept_protocol = "stream",
        .fd_limit_per_thread = DV_STREAM_CONNECTIONS + STRANGERS + 4,
        .gid = -1,
        .uid = -1,
        .options = LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND | LWS_SERVER_OPTION_ADOPT_APPLY_LISTEN_ACCEPT_CONFIG,
    };
    stream->context = dv_web_context(&info);
    if (!stream->context) {
        dv_stream_free(stream);
        return NULL;
    }
    stream->port = (uint16_t)lws_get_vhost_listen_port(lws_get_vhost_by_name(stream->context, "default"));
    lws_sul_schedule(stream->context, 0, &stream->tick, tick, LWS_US_PER_SEC);
    return stream;
}

uint16_t dv_stream_port(const dv_stream *stream) { return stream->port; }

bool dv_stream_run(dv_stream *stream) { return lws_service(stream->context, 0) >= 0; }

void dv_stream_wake(dv_stream *stream) { lws_cancel_service(stream->context); }

bool dv_stream_send(dv_stream *stream, uint32_t number, const uint8_t *bytes, size_t count) {
    struct lws *wsi = stream->connections[number].wsi;
    uint8_t *padded = wsi ? malloc(LWS_PRE + count) : NULL;
    if (!padded) return false;
    memcpy(padded + LWS_PRE, bytes, count);
    int sent = lws_write(wsi, padded + LWS_PRE, count, LWS_WRITE_RAW);
    free(padded);
    return sent >= 0;
}

void dv_stream_request_writable(dv_stream *stream, uint32_t number) {
    if (stream->connections[number].wsi) wait_for_writable(stream, &stream->connections[number]);
}

void dv_stream_set_reading(dv_stream *stream, uint32_t number, bool is_reading) {
    connection *c = &stream->connections[number];
    if (!c->wsi || c->is_ending || c->is_paused == !is_reading) return;
    c->is_paused = !is_reading;
    lws_rx_flow_control(c->wsi, is_reading);
}

void dv_stream_end(dv_stream *stream, uint32_t number) {
    connection *c = &stream->connections[number];
    if (!c->wsi || c->is_ending) return;
    c->is_ending = true;
    wait_for_writable(stream, c);
}

void dv_stream_drop(dv_stream *stream, uint32_t number) {
    struct lws *wsi = stream->connections[number].wsi;
    if (wsi) lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_SYNC);
}

void dv_stream_free(dv_stream *stream) {
    if (stream->context) {
        // Nothing is told of what this ends.
        stream->handler = NULL;
        lws_sul_cancel(&stream->tick);
        lws_context_destroy(stream->context);
    }
    free(stream);
}

void dv_stream_sha1(const uint8_t *text, size_t count, uint8_t digest[20]) { SHA1(text, count, digest); }
