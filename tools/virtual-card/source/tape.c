#include "tape.h"

#include <string.h>

static size_t place(int64_t frame) { return (size_t)frame & (VC_TAPE_FRAMES - 1); }

/// Laps count from 1, so that memory that was never written belongs to none.
static uint32_t lap(int64_t frame) { return (uint32_t)(frame / VC_TAPE_FRAMES) + 1; }

void vc_tape_write(vc_tape *tape, int64_t frame, float sample) {
    if (frame < 0) return;
    uint32_t bits;
    memcpy(&bits, &sample, sizeof bits);
    atomic_store_explicit(&tape->words[place(frame)], (uint64_t)lap(frame) << 32 | bits, memory_order_release);
}

float vc_tape_read(const vc_tape *tape, int64_t frame) {
    if (frame < 0) return 0;
    uint64_t word = atomic_load_explicit(&tape->words[place(frame)], memory_order_acquire);
    if (word >> 32 != lap(frame)) return 0;
    uint32_t bits = (uint32_t)word;
    float sample;
    memcpy(&sample, &bits, sizeof sample);
    return sample;
}

void vc_tape_erase(vc_tape *tape, int64_t begin, int64_t end) {
    for (int64_t frame = begin < 0 ? 0 : begin; frame < end; frame++)
        if (atomic_load_explicit(&tape->words[place(frame)], memory_order_relaxed) >> 32 == lap(frame))
            atomic_store_explicit(&tape->words[place(frame)], 0, memory_order_release);
}

void vc_tape_shift(vc_tape *tape, int64_t begin, int64_t end, int64_t frames) {
    if (frames < 0) {
        for (int64_t frame = begin - frames; frame < end; frame++)
            vc_tape_write(tape, frame + frames, vc_tape_read(tape, frame));
        int64_t kept = end + frames;
        vc_tape_erase(tape, kept > begin ? kept : begin, end);
    } else {
        for (int64_t frame = end - 1; frame >= begin; frame--)
            vc_tape_write(tape, frame + frames, vc_tape_read(tape, frame));
        vc_tape_erase(tape, begin, begin + frames);
    }
}
