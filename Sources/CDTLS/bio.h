// A connection's view of its datagrams, as OpenSSL wants it.
#pragma once

#include <openssl/bio.h>
#include <stddef.h>
#include <stdint.h>

/// A datagram that waits.
typedef struct dv_waiting {
    struct dv_waiting *next;
    size_t count;
    uint8_t bytes[];
} dv_waiting;

typedef struct {
    dv_waiting *first, *last;
    int count;
} dv_queue;

/// Appends a copy; what finds no room is lost. Whether it found some.
int dv_queue_append(dv_queue *queue, const void *bytes, size_t count);
/// Takes the first: its bytes in `out`, or 0 when there is none. One that does not fit is dropped.
size_t dv_queue_take(dv_queue *queue, void *out, size_t capacity);
void dv_queue_clear(dv_queue *queue);

/// What a connection's BIO reads, which is one datagram at most, and where it writes.
typedef struct {
    const uint8_t *input;
    size_t input_count;
    dv_queue output;
} dv_wire;

/// A BIO over `wire`, which must outlive it. NULL when there is no memory.
BIO *dv_bio_create(dv_wire *wire);
