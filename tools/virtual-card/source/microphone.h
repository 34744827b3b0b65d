// The microphone: what it hears of the speaker through the air, and of the near talker.
//
//     tape ── delay, the difference of the clocks ──> line ── room ──> gain ──(+)──> capture
//                                                    near talker ─ near gain ──┘
#pragma once

#include "card.h"
#include "sound_file.h"

/// Most frames heard in one go.
#define VC_HEARING_BLOCK 256
/// Leaps of the position that are remembered while frames from before them may still be read.
#define VC_LEAPS 16

/// From frame `first` on, frame q is what the air was at count q + start of the converter; or nothing.
typedef struct {
    int64_t first, start;
    bool is_silent;
} vc_leap;

typedef struct {
    vc_card *card;
    int64_t microhertz;
    vc_sound room, near;
    double near_gain;
    bool near_repeats;
    int64_t near_start; // the converter's count at the near talker's first frame
    bool has_near_start;
    vc_leap leaps[VC_LEAPS];
    unsigned leap_count; // ever; the last VC_LEAPS are kept
    // The speaker at the microphone, before the room, by capture frame; only with a room.
    float *line;
    int64_t line_frames, line_end;
    float *history; // a room's length and a block of the line, in order
} vc_microphone;

/// 0 or -errno, after an error line. Not real-time safe.
int vc_microphone_open(vc_microphone *microphone, vc_card *card, int64_t microhertz, const char *room,
    const char *near, double near_gain, bool near_repeats);
void vc_microphone_close(vc_microphone *microphone);

/// Frame 0 is at count `start` of the converter. Real-time safe, as all that follow.
void vc_microphone_start(vc_microphone *microphone, int64_t start);
/// From frame `first` on the count is `start`; frames are silent from `first` to `sounding`.
void vc_microphone_leap(vc_microphone *microphone, int64_t first, int64_t sounding, int64_t start);

/// Hears frames `first` to `first` + `count`, at most VC_HEARING_BLOCK. May be asked for the same frames again.
void vc_microphone_hear(vc_microphone *microphone, int64_t first, int count, float *heard);
