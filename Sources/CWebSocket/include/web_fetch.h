// One HTTP request by libwebsockets, as VoiceWeb needs it: a body is posted, and the answer comes in pieces. One thread that runs `dv_fetch_run`.
//
// All functions but dv_fetch_wake are for that thread.
#pragma once

#include "web_socket.h"

typedef struct dv_fetch dv_fetch;

typedef enum {
    // The answer begins, with `status`.
    DV_FETCH_RESPONDED,
    // `bytes` of its body; the handler returns nonzero to have the connection ended.
    DV_FETCH_RECEIVED,
    // All of it was received.
    DV_FETCH_COMPLETED,
    // The connection is gone; some servers end an answer so.
    DV_FETCH_CLOSED,
    // There is no connection, or no answer.
    DV_FETCH_FAILED,
} dv_fetch_event_kind;

typedef struct {
    dv_fetch_event_kind kind;
    const uint8_t *bytes;
    size_t count;
    // RESPONDED: the HTTP status, or 0.
    int status;
    // CLOSED, FAILED: nothing came for longer than the limit.
    bool is_slow;
    // FAILED: as of dv_web_event.
    bool is_untrusted;
    const char *reason;
} dv_fetch_event;

typedef int (*dv_fetch_handler)(void *owner, const dv_fetch_event *event);

// Posts `body`; NULL where the system or the authorities' file refuses. Of `options`, `message_seconds` is how long nothing may come.
dv_fetch *dv_fetch_start(const dv_web_client *options, const uint8_t *body, size_t count, dv_fetch_handler handler, void *owner);

// Waits until something happens, and handles it. False where no more will.
bool dv_fetch_run(dv_fetch *fetch);

// Has dv_fetch_run return. From any thread.
void dv_fetch_wake(dv_fetch *fetch);

// Ends it, and forgets the headers.
void dv_fetch_free(dv_fetch *fetch);
