// WebSockets by libwebsockets, as VoiceWeb needs them: text messages, one thread that runs `dv_web_run`, one function that is told what happens.
//
// All functions but dv_web_wake are for that thread. HTTP without WebSockets is in web_fetch.h.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Loads libwebsockets, of the version that this was compiled with; false where it is not installed. What connects or
/// listens fails then. From any thread; the first call takes a millisecond or two.
bool dv_web_is_installed(void);

/// The version of libwebsockets that is wanted, its first two numbers, such as 4.1.
const char *dv_web_version(void);

typedef struct dv_web dv_web;

enum {
    // The most connections of a server.
    DV_WEB_CONNECTIONS = 16,
    DV_WEB_HEADERS = 8,
    // Longer keys of a server are refused, bytes.
    DV_WEB_KEY = 4 << 10,
    // Longer values of a header that a server tells of are not told, bytes.
    DV_WEB_VALUE = 256,
};

typedef enum {
    // A connection is there.
    DV_WEB_OPENED,
    // `bytes` of a message; the handler returns nonzero to have the connection ended.
    DV_WEB_RECEIVED,
    // One message can be sent.
    DV_WEB_WRITABLE,
    // A connection is gone.
    DV_WEB_CLOSED,
    // A connection could not be made.
    DV_WEB_FAILED,
    // dv_web_wake was called.
    DV_WEB_WOKEN,
} dv_web_event_kind;

typedef struct {
    dv_web_event_kind kind;
    // Of a server: which connection. A client has 0.
    uint32_t connection;
    // OPENED, of a server: the value of the header that it tells of; NULL where the client sent none.
    const uint8_t *bytes;
    size_t count;
    // Behind `bytes`, in the same frame, as its header has it.
    uint64_t remaining;
    bool is_final, is_text;
    // CLOSED: a message had taken longer than the limit.
    bool is_slow;
    // CLOSED: the peer's status (RFC 6455, section 7.4), or 0. FAILED: the HTTP status, or 0.
    int status;
    // FAILED: the server's certificate is not to be trusted.
    bool is_untrusted;
    // FAILED: the words of libwebsockets or OpenSSL, or NULL.
    const char *reason;
} dv_web_event;

typedef int (*dv_web_handler)(void *owner, const dv_web_event *event);

typedef struct {
    const char *host, *path, *origin_host;
    // Within `message_seconds` from its first bytes a message is to be whole.
    uint16_t port, message_seconds;
    bool is_secure;
    // PEM; NULL for the system's authorities.
    const char *authorities;
    // "[user:password@]host:port"; NULL for none.
    const char *proxy;
    // "Name:", and the value.
    const char *names[DV_WEB_HEADERS], *values[DV_WEB_HEADERS];
    size_t headers;
} dv_web_client;

typedef struct {
    const char *interface;
    // `stall_seconds` is of a dv_stream.
    uint16_t port, message_seconds, stall_seconds;
    // PEM; NULL for no TLS.
    const char *certificate, *private_key;
    // What clients must bring as "Authorization: Bearer KEY"; NULL for nothing, and then pages of other hosts are refused.
    const char *key;
    // "name:", in lower case, of a request's header that OPENED tells of; NULL for none.
    const char *told_header;
} dv_web_server;

// A client, connecting; NULL where the system or the authorities' file refuses.
dv_web *dv_web_connect(const dv_web_client *options, dv_web_handler handler, void *owner);

// A server, listening; NULL where the system or the certificate refuses.
dv_web *dv_web_listen(const dv_web_server *options, dv_web_handler handler, void *owner);

// The port that a server listens at.
uint16_t dv_web_port(const dv_web *web);

// Waits until something happens, and handles it. False where no more will.
bool dv_web_run(dv_web *web);

// Has dv_web_run handle WOKEN. From any thread.
void dv_web_wake(dv_web *web);

// Sends a text message; only while WRITABLE is handled, and one.
bool dv_web_send(dv_web *web, uint32_t connection, const uint8_t *bytes, size_t count);

// Has WRITABLE handled when a message can be sent.
void dv_web_request_writable(dv_web *web, uint32_t connection);

// Reads no more, or again.
void dv_web_set_reading(dv_web *web, uint32_t connection, bool is_reading);

// Ends a connection with a status.
void dv_web_end(dv_web *web, uint32_t connection, uint16_t status);

// Ends all, and forgets the headers.
void dv_web_free(dv_web *web);
