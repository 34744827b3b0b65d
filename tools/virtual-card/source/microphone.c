#include "microphone.h"

#include <alsa/asoundlib.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "interpolator.h"

enum {
    // A program may read again what is in the buffer; the line reaches back this far beyond the room's length.
    REREAD_FRAMES = 65536,
    // Two seconds at 48 kHz.
    LONGEST_ROOM = 96000,
};

int vc_microphone_open(vc_microphone *microphone, vc_card *card, int64_t microhertz, const char *room,
    const char *near, double near_gain, bool near_repeats) {
    *microphone = (vc_microphone){.card = card, .microhertz = microhertz, .near_gain = near_gain, .near_repeats = near_repeats};
    vc_interpolator_prepare();
    int error = 0;
    if (*near) error = vc_sound_read(&microphone->near, near, card->rate);
    if (error || !*room) return error;
    error = vc_sound_read(&microphone->room, room, card->rate);
    if (error) return error;
    if (microphone->room.count > LONGEST_ROOM) {
        SNDERR("vcard: ROOM=%s: has %zu frames, more than %d", room, microphone->room.count, LONGEST_ROOM);
        return -EINVAL;
    }
    microphone->line_frames = 1;
    while (microphone->line_frames < (int64_t)microphone->room.count + REREAD_FRAMES + VC_HEARING_BLOCK)
        microphone->line_frames *= 2;
    microphone->line = calloc((size_t)microphone->line_frames, sizeof *microphone->line);
    microphone->history = calloc(microphone->room.count + VC_HEARING_BLOCK, sizeof *microphone->history);
    return microphone->line && microphone->history ? 0 : -ENOMEM;
}

void vc_microphone_close(vc_microphone *microphone) {
    free(microphone->room.samples);
    free(microphone->near.samples);
    free(microphone->line);
    free(microphone->history);
}

static void add_leap(vc_microphone *microphone, vc_leap leap) {
    microphone->leaps[microphone->leap_count++ % VC_LEAPS] = leap;
}

void vc_microphone_start(vc_microphone *microphone, int64_t start) {
    microphone->leap_count = 0;
    microphone->line_end = INT64_MIN;
    add_leap(microphone, (vc_leap){.first = INT64_MIN, .start = start});
    if (!microphone->has_near_start) microphone->near_start = start;
    microphone->has_near_start = true;
}

void vc_microphone_leap(vc_microphone *microphone, int64_t first, int64_t sounding, int64_t start) {
    if (sounding > first) add_leap(microphone, (vc_leap){.first = first, .is_silent = true});
    add_leap(microphone, (vc_leap){.first = sounding, .start = start});
}

/// The leap that frame `first` lies after, and how many of `count` frames do.
static const vc_leap *piece(const vc_microphone *microphone, int64_t first, int *count) {
    unsigned newest = microphone->leap_count, oldest = newest > VC_LEAPS ? newest - VC_LEAPS : 0;
    const vc_leap *next = NULL;
    for (unsigned i = newest; i-- > oldest;) {
        const vc_leap *leap = &microphone->leaps[i % VC_LEAPS];
        if (leap->first <= first || i == oldest) {
            if (next && next->first - first < *count) *count = (int)(next->first - first);
            return leap;
        }
        next = leap;
    }
    return NULL;
}

/// The speaker at the microphone while its converter counts from `at`, where both converters run alike.
static void listen_in_step(const vc_microphone *microphone, int64_t at, int count, float *heard) {
    int64_t from = at - atomic_load_explicit(&microphone->card->delay_frames, memory_order_relaxed);
    for (int i = 0; i < count; i++) heard[i] = vc_tape_read(&microphone->card->tape, from + i);
}

/// The same where the speaker's converter runs at another rate. The frames that the interpolation looks ahead must have
/// been written by then, so a delay shorter than that is raised to it.
static void listen_between(
    const vc_microphone *microphone, int64_t speaker_microhertz, int64_t at, int count, float *heard) {
    int64_t delay = atomic_load_explicit(&microphone->card->delay_frames, memory_order_relaxed);
    if (delay < VC_INTERPOLATOR_REACH) delay = VC_INTERPOLATOR_REACH;
    // Where `at` lies on the tape: whole frames and a rest, both exact.
    __int128 place = (__int128)at * speaker_microhertz;
    int64_t whole = (int64_t)(place / microphone->microhertz);
    int64_t remainder = (int64_t)(place % microphone->microhertz);
    // Before the card's time began: rounded down, as everywhere.
    if (remainder < 0) remainder += microphone->microhertz, whole--;
    double rest = (double)remainder / (double)microphone->microhertz;
    double step = (double)speaker_microhertz / (double)microphone->microhertz;
    int64_t from = whole - delay;

    // A block and its reach; clocks are at most 1.01 apart.
    float window[VC_HEARING_BLOCK + VC_HEARING_BLOCK / 64 + 2 * VC_INTERPOLATOR_REACH + 2];
    int needed = (int)(rest + step * (count - 1)) + 2 * VC_INTERPOLATOR_REACH;
    int64_t first = from - (VC_INTERPOLATOR_REACH - 1);
    for (int i = 0; i < needed; i++) window[i] = vc_tape_read(&microphone->card->tape, first + i);
    for (int i = 0; i < count; i++) {
        double position = rest + step * i;
        int frame = (int)position;
        heard[i] = vc_interpolate(window + VC_INTERPOLATOR_REACH - 1 + frame, position - frame);
    }
}

/// The speaker at the microphone, before the room.
static void listen(const vc_microphone *microphone, int64_t first, int count, float *heard) {
    int64_t speaker =
        atomic_load_explicit(&microphone->card->slots[VC_PLAYBACK].microhertz, memory_order_relaxed);
    while (count > 0) {
        int frames = count;
        const vc_leap *leap = piece(microphone, first, &frames);
        if (leap->is_silent)
            memset(heard, 0, (size_t)frames * sizeof *heard);
        else if (speaker == microphone->microhertz)
            listen_in_step(microphone, first + leap->start, frames, heard);
        else
            listen_between(microphone, speaker, first + leap->start, frames, heard);
        first += frames;
        heard += frames;
        count -= frames;
    }
}

/// Listens to frames `first` to `end` and keeps them in the line.
static void extend_line(vc_microphone *microphone, int64_t first, int64_t end) {
    float block[VC_HEARING_BLOCK];
    while (first < end) {
        int frames = end - first < VC_HEARING_BLOCK ? (int)(end - first) : VC_HEARING_BLOCK;
        listen(microphone, first, frames, block);
        for (int i = 0; i < frames; i++) microphone->line[(first + i) & (microphone->line_frames - 1)] = block[i];
        first += frames;
    }
}

/// Convolves the line with the room, tap by tap over the whole block, which vectorises.
static void hear_room(vc_microphone *microphone, int64_t first, int count, float *heard) {
    int64_t reach = (int64_t)microphone->room.count - 1;
    int64_t known = microphone->line_end < first - reach ? first - reach : microphone->line_end;
    extend_line(microphone, known < first ? known : first, first + count);
    microphone->line_end = first + count;

    float *history = microphone->history;
    for (int64_t i = 0; i < reach + count; i++)
        history[i] = microphone->line[(first - reach + i) & (microphone->line_frames - 1)];
    memset(heard, 0, (size_t)count * sizeof *heard);
    for (int64_t k = 0; k <= reach; k++) {
        float tap = microphone->room.samples[k];
        if (tap == 0) continue;
        const float *from = history + reach - k;
        for (int i = 0; i < count; i++) heard[i] += tap * from[i];
    }
}

static void add_near_talker(const vc_microphone *microphone, int64_t first, int count, float *heard) {
    int64_t length = (int64_t)microphone->near.count;
    while (count > 0) {
        int frames = count;
        const vc_leap *leap = piece(microphone, first, &frames);
        for (int i = 0; i < frames && !leap->is_silent; i++) {
            int64_t at = first + i + leap->start - microphone->near_start;
            if (at < 0 || (at >= length && !microphone->near_repeats)) continue;
            heard[i] += (float)microphone->near_gain * microphone->near.samples[at % length];
        }
        first += frames;
        heard += frames;
        count -= frames;
    }
}

void vc_microphone_hear(vc_microphone *microphone, int64_t first, int count, float *heard) {
    if (microphone->room.count)
        hear_room(microphone, first, count, heard);
    else
        listen(microphone, first, count, heard);
    float gain = (float)vc_card_gain(microphone->card);
    if (gain != 1)
        for (int i = 0; i < count; i++) heard[i] *= gain;
    if (microphone->near.count) add_near_talker(microphone, first, count, heard);
}
