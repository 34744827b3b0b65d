// The frame ring of VoiceRealtime written in C11, as well as C can: what the Swift ring is measured against.
//
// Same memory (mapped twice in a row), same cache lines, same memory orders, same mark with a time for every commit. It
// checks nothing: where Swift stops the program on misuse, this corrupts the ring, as C rings do.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct cring cring;

/// A ring of `capacity` floats, a power of two of at least a page. NULL where the system refuses.
cring *cring_create(size_t capacity, int64_t sample_rate);
void cring_destroy(cring *ring);

/// Pushes `block` and pops it into `out`, `count` times; each commit carries a time, which is asked for before each
/// pop. Returns the sum of these times.
int64_t cring_push_pop(cring *ring, const float *block, float *out, size_t frames, int64_t count);

/// The two halves for two threads: each spins until it has moved `count` blocks. The reader returns the sum of the
/// times.
void cring_push(cring *ring, const float *block, size_t frames, int64_t count);
int64_t cring_pop(cring *ring, float *out, size_t frames, int64_t count);

/// memcpy of `block` to `ring` memory and on to `out`, `count` times: what both rings cannot do without.
void cring_copy_only(cring *ring, const float *block, float *out, size_t frames, int64_t count);
