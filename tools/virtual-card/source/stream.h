// One direction of the card as a program has it open.
//
//     plugin.c      what libasound calls: opening, parameters, start, stop
//     position.c    where the stream stands: its clock, leaps, xruns, mishaps that are due
//     transfer.c    frames from and to the program
//     waiting.c     when the program is woken
//
// Nothing but opening and closing allocates, blocks or reads files.
#pragma once

#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <stdbool.h>
#include <stdint.h>

#include "card.h"
#include "microphone.h"
#include "samples.h"
#include "settings.h"
#include "wake.h"

/// Largest buffer, in frames; a power of two.
#define VC_BUFFER_FRAMES 65536

/// What is to go wrong, by card time; INT64_MAX: never, or done.
typedef struct {
    bool is_scheduled; // since the stream's first start
    int64_t unplug_at, stall_at, xrun_at, jump_at;
    uint32_t xruns_done, jumps_done; // requests of the slot that were met
} vc_mishaps;

typedef struct {
    snd_pcm_ioplug_t io; // libasound's part
    vc_settings settings;
    vc_access access;
    vc_direction direction;
    vc_slot *slot;
    vc_wake wake;
    vc_sample_layout layout;
    vc_mishaps mishaps;

    int64_t microhertz; // of the converter
    bool is_running;
    bool is_broken;   // by an xrun, until it is prepared anew
    long writes;      // while it ran
    int64_t start;    // converter's count at frame 0
    int64_t position; // frames since the start, before rounding; never falls
    int64_t granule;  // to which the position is rounded down
    snd_pcm_uframes_t avail_min, stop_threshold;

    int64_t waiting_since; // virtual time: CLOCK_MONOTONIC at which it began to wait
    bool has_complained;   // virtual time: has said that it waits too long

    vc_microphone microphone; // capture
    float *staged;            // playback: written before the start, by frame modulo VC_BUFFER_FRAMES
} vc_stream;

// position.c

/// The card's time now, in nanoseconds.
int64_t vc_stream_now(const vc_stream *stream);
/// Follows the clock. The position, -EPIPE after an xrun or -ENODEV once the card is gone; both halt the stream.
int64_t vc_stream_follow(vc_stream *stream);
/// Starts the converter now.
void vc_stream_start(vc_stream *stream);
/// Stops it; what was queued is not heard.
void vc_stream_halt(vc_stream *stream);
/// Stops it as an xrun does. -EPIPE.
int vc_stream_break_off(vc_stream *stream);
/// Frames that the program may read or write when the stream stands at `position`.
int64_t vc_stream_available(const vc_stream *stream, int64_t position);
/// Card time of the next scheduled mishap, INT64_MAX if there is none.
int64_t vc_stream_next_mishap(const vc_stream *stream);

// transfer.c

snd_pcm_sframes_t vc_stream_transfer(snd_pcm_ioplug_t *io, const snd_pcm_channel_area_t *areas,
    snd_pcm_uframes_t offset, snd_pcm_uframes_t count);
/// Hands what was written before the start to the air.
void vc_stream_play_staged(vc_stream *stream);

// waiting.c

/// Sees to it that the descriptor becomes readable when the program has something to do after frame `application` of
/// its own; in virtual time only while the stream does not run.
void vc_stream_arm(vc_stream *stream, int64_t application);
int vc_stream_poll_descriptors(snd_pcm_ioplug_t *io, struct pollfd *descriptors, unsigned space);
int vc_stream_poll_revents(
    snd_pcm_ioplug_t *io, struct pollfd *descriptors, unsigned count, unsigned short *revents);
