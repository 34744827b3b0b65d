// A server of byte streams by libwebsockets, with TLS where that is wanted: what is spoken on them is the owner's. One thread that runs `dv_stream_run`.
//
// All functions but dv_stream_wake are for that thread.
#pragma once

#include "web_socket.h"

typedef struct dv_stream dv_stream;

enum {
    // The most connections.
    DV_STREAM_CONNECTIONS = 64,
};

typedef enum {
    // Somebody is there for whom there is no place; the handler may drop another connection.
    DV_STREAM_FULL,
    DV_STREAM_OPENED,
    // `bytes` came; the handler returns nonzero to have the connection ended.
    DV_STREAM_RECEIVED,
    // All that was sent is with the system; more can be sent.
    DV_STREAM_WRITABLE,
    DV_STREAM_CLOSED,
    // dv_stream_wake was called.
    DV_STREAM_WOKEN,
    // Once a second.
    DV_STREAM_TICK,
} dv_stream_event_kind;

typedef struct {
    dv_stream_event_kind kind;
    uint32_t connection;
    // OPENED: where it comes from: an IPv4 address, or the first half of an IPv6 address.
    uint64_t site;
    const uint8_t *bytes;
    size_t count;
} dv_stream_event;

typedef int (*dv_stream_handler)(void *owner, const dv_stream_event *event);

// Listens; NULL where the system or the certificate refuses. Of `options`, `message_seconds` and `key` are not looked at.
// Who takes nothing of what is sent for `stall_seconds` is given up.
dv_stream *dv_stream_listen(const dv_web_server *options, dv_stream_handler handler, void *owner);

uint16_t dv_stream_port(const dv_stream *stream);

// Waits until something happens, and handles it. False where no more will.
bool dv_stream_run(dv_stream *stream);

// Has dv_stream_run handle WOKEN. From any thread.
void dv_stream_wake(dv_stream *stream);

// Sends; only while WRITABLE is handled, and once.
bool dv_stream_send(dv_stream *stream, uint32_t connection, const uint8_t *bytes, size_t count);

// Has WRITABLE handled when more can be sent.
void dv_stream_request_writable(dv_stream *stream, uint32_t connection);

// Reads no more, or again.
void dv_stream_set_reading(dv_stream *stream, uint32_t connection, bool is_reading);

// Ends a connection. What was sent is on its way.
void dv_stream_end(dv_stream *stream, uint32_t connection);

// Ends a connection at once: CLOSED is handled before this returns. Only while FULL is handled.
void dv_stream_drop(dv_stream *stream, uint32_t connection);

void dv_stream_free(dv_stream *stream);

// What answers the key of a WebSocket's opening, before base64 (RFC 6455, section 4.2.2): SHA-1 of `text`.
void dv_stream_sha1(const uint8_t *text, size_t count, uint8_t digest[20]);
