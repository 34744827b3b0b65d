// The tape: what the speaker plays, frame by frame of the playback converter's clock, as the air remembers it.
//
// A ring of 64-bit words, each a sample and the lap of the ring it was written in, stored and loaded whole: a frame that
// nobody wrote, or wrote too long ago, is silence, and no reader ever sees half a frame.
#pragma once

#include <stdatomic.h>
#include <stdint.h>

/// Frames remembered: 5.4 s at 48 kHz. Delay, room and buffer must fit.
#define VC_TAPE_FRAMES (1 << 18)

typedef struct {
    _Atomic uint64_t words[VC_TAPE_FRAMES];
} vc_tape;

void vc_tape_write(vc_tape *tape, int64_t frame, float sample);
float vc_tape_read(const vc_tape *tape, int64_t frame);

/// Makes [begin, end) silent.
void vc_tape_erase(vc_tape *tape, int64_t begin, int64_t end);

/// Moves what is to be heard in [begin, end) by `frames`; what would come before `begin` is lost, gaps are silent.
void vc_tape_shift(vc_tape *tape, int64_t begin, int64_t end, int64_t frames);
