// Reads a whole sound file of one channel into memory: room responses and near talkers.
#pragma once

#include <stddef.h>

typedef struct {
    float *samples;
    size_t count;
} vc_sound;

/// Reads a WAV file (PCM of 16 bits, or float of 32) or raw samples (.s16: signed 16 bits; any other name: 32-bit
/// float; little-endian). 0, or -errno after an error line that says what is wrong; `rate` is what the card runs at,
/// which a WAV file must agree with. Not real-time safe. Free `samples`.
int vc_sound_read(vc_sound *sound, const char *path, long rate);
