#include "ring.h"

#include <linux_realtime.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 128, MARKS = 512, SPINS_BEFORE_YIELD = 1000 };

typedef struct {
    int64_t frame, time;
} mark;

// What both ends share, what the writer owns and what the reader owns, each on cache lines of its own.
struct cring {
    _Alignas(LINE) _Atomic int64_t written;
    _Alignas(LINE) _Atomic int64_t read;
    _Alignas(LINE) _Atomic int64_t marks_written;
    _Alignas(LINE) _Atomic int64_t marks_read;

    _Alignas(LINE) struct {
        int64_t written, read_seen, marks_written, marks_read_seen;
    } writer;

    _Alignas(LINE) struct {
        int64_t read, written_seen, marks_read;
        mark mark;
    } reader;

    _Alignas(LINE) float *samples;
    mark *marks;
    int64_t capacity, sample_rate;
};

cring *cring_create(size_t capacity, int64_t sample_rate) {
    cring *ring = aligned_alloc(LINE, sizeof *ring);
    if (!ring) return NULL;
    memset(ring, 0, sizeof *ring);
    ring->samples = dv_mirrored_map(capacity * sizeof(float));
    ring->marks = calloc(MARKS, sizeof *ring->marks);
    ring->capacity = (int64_t)capacity;
    ring->sample_rate = sample_rate;
    if (ring->samples && ring->marks) return ring;
    cring_destroy(ring);
    return NULL;
}

void cring_destroy(cring *ring) {
    if (ring->samples) dv_mirrored_unmap(ring->samples, (size_t)ring->capacity * sizeof(float));
    free(ring->marks);
    free(ring);
}

static inline float *acquire_room(cring *ring, int64_t frames, int64_t *count) {
    if (ring->capacity - (ring->writer.written - ring->writer.read_seen) < frames)
        ring->writer.read_seen = atomic_load_explicit(&ring->read, memory_order_acquire);
    const int64_t room = ring->capacity - (ring->writer.written - ring->writer.read_seen);
    *count = frames < room ? frames : room;
    return ring->samples + (ring->writer.written & (ring->capacity - 1));
}

static inline void commit(cring *ring, int64_t frames, int64_t time) {
    if (ring->writer.marks_written - ring->writer.marks_read_seen == MARKS)
        ring->writer.marks_read_seen = atomic_load_explicit(&ring->marks_read, memory_order_acquire);
    if (ring->writer.marks_written - ring->writer.marks_read_seen < MARKS) {
        ring->marks[ring->writer.marks_written & (MARKS - 1)] = (mark){ring->writer.written, time};
        atomic_store_explicit(&ring->marks_written, ++ring->writer.marks_written, memory_order_release);
    }
    ring->writer.written += frames;
    atomic_store_explicit(&ring->written, ring->writer.written, memory_order_release);
}

static inline const float *acquire_frames(cring *ring, int64_t frames, int64_t *count) {
    if (ring->reader.written_seen - ring->reader.read < frames)
        ring->reader.written_seen = atomic_load_explicit(&ring->written, memory_order_acquire);
    const int64_t there = ring->reader.written_seen - ring->reader.read;
    *count = frames < there ? frames : there;
    return ring->samples + (ring->reader.read & (ring->capacity - 1));
}

static inline int64_t next_time(cring *ring) {
    const int64_t written = atomic_load_explicit(&ring->marks_written, memory_order_acquire);
    const int64_t before = ring->reader.marks_read;
    while (ring->reader.marks_read < written) {
        const mark next = ring->marks[ring->reader.marks_read & (MARKS - 1)];
        if (next.frame > ring->reader.read) break;
        ring->reader.mark = next;
        ring->reader.marks_read++;
    }
    if (ring->reader.marks_read != before)
        atomic_store_explicit(&ring->marks_read, ring->reader.marks_read, memory_order_release);
    if (ring->reader.mark.frame == ring->reader.read) return ring->reader.mark.time;
    const int64_t frames = ring->reader.read - ring->reader.mark.frame, rate = ring->sample_rate;
    return ring->reader.mark.time + frames / rate * 1000000000 + frames % rate * 1000000000 / rate;
}

static inline void release_frames(cring *ring, int64_t frames) {
    ring->reader.read += frames;
    atomic_store_explicit(&ring->read, ring->reader.read, memory_order_release);
}

static inline int64_t push(cring *ring, const float *block, size_t frames, int64_t time) {
    int64_t count;
    float *room = acquire_room(ring, (int64_t)frames, &count);
    if (count < (int64_t)frames) return 0;
    memcpy(room, block, (size_t)count * sizeof *block);
    commit(ring, count, time);
    return count;
}

static inline int64_t pop(cring *ring, float *out, size_t frames, int64_t *times) {
    int64_t count;
    const float *there = acquire_frames(ring, (int64_t)frames, &count);
    if (count < (int64_t)frames) return 0;
    *times += next_time(ring);
    memcpy(out, there, (size_t)count * sizeof *out);
    release_frames(ring, count);
    return count;
}

int64_t cring_push_pop(cring *ring, const float *block, float *out, size_t frames, int64_t count) {
    int64_t times = 0;
    for (int64_t i = 0; i < count; i++) {
        push(ring, block, frames, i);
        pop(ring, out, frames, &times);
    }
    return times;
}

// With fewer cores than threads the other end may need this one's.
static inline void spin(int *spins) {
    if (++*spins % SPINS_BEFORE_YIELD == 0) sched_yield();
}

void cring_push(cring *ring, const float *block, size_t frames, int64_t count) {
    int spins = 0;
    for (int64_t i = 0; i < count;) {
        if (push(ring, block, frames, i)) i++;
        else spin(&spins);
    }
}

int64_t cring_pop(cring *ring, float *out, size_t frames, int64_t count) {
    int spins = 0;
    int64_t times = 0;
    for (int64_t i = 0; i < count;) {
        if (pop(ring, out, frames, &times)) i++;
        else spin(&spins);
    }
    return times;
}

void cring_copy_only(cring *ring, const float *block, float *out, size_t frames, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        float *room = ring->samples + ((i * (int64_t)frames) & (ring->capacity - 1));
        memcpy(room, block, frames * sizeof *block);
        memcpy(out, room, frames * sizeof *out);
        atomic_signal_fence(memory_order_seq_cst);
    }
}
