#include <errno.h>

#include "clock.h"
#include "schedule.h"
#include "stream.h"

int64_t vc_stream_now(const vc_stream *stream) {
    const vc_card *card = stream->access.card;
    return card->is_virtual ? atomic_load(&card->virtual_now) : vc_monotonic_ns() - card->epoch;
}

int64_t vc_stream_available(const vc_stream *stream, int64_t position) {
    int64_t application = (int64_t)stream->io.appl_ptr;
    if (stream->direction == VC_CAPTURE) return position - application;
    return position + (int64_t)stream->io.buffer_size - application;
}

/// The count at which the last queued frame has been played.
static int64_t queued_end(const vc_stream *stream) { return stream->start + (int64_t)stream->io.appl_ptr; }

static int64_t rounded_down(const vc_stream *stream, int64_t frames) { return frames - frames % stream->granule; }

void vc_stream_start(vc_stream *stream) {
    vc_slot *slot = stream->slot;
    // Time stands from here on, so that this is when it starts.
    if (stream->access.card->is_virtual) vc_schedule_run(stream);
    int64_t now = vc_stream_now(stream);
    stream->start = vc_frames_at(stream->microhertz, now + stream->settings.start_delay_ms * 1000000);
    stream->position = 0;
    stream->is_running = true;
    atomic_store(&slot->microhertz, stream->microhertz);
    atomic_store(&slot->start_frame, stream->start);
    atomic_store(&slot->position, 0);
    atomic_store(&slot->running, 1);
    if (stream->direction == VC_CAPTURE)
        vc_microphone_start(&stream->microphone, stream->start);
    else
        vc_stream_play_staged(stream);
    if (stream->mishaps.is_scheduled) return;

    const vc_settings *settings = &stream->settings;
    stream->mishaps = (vc_mishaps){
        .is_scheduled = true,
        .unplug_at = settings->unplug_after_s < 0 ? INT64_MAX : now + (int64_t)(settings->unplug_after_s * 1e9),
        .stall_at = settings->stall_after_s < 0 ? INT64_MAX : now + (int64_t)(settings->stall_after_s * 1e9),
        .xrun_at = settings->xrun_after_s < 0 ? INT64_MAX : now + (int64_t)(settings->xrun_after_s * 1e9),
        .jump_at = settings->jump_after_s < 0 ? INT64_MAX : now + (int64_t)(settings->jump_after_s * 1e9),
        .xruns_done = atomic_load(&slot->xrun_requests),
        .jumps_done = atomic_load(&slot->jump_requests),
    };
}

void vc_stream_halt(vc_stream *stream) {
    if (!stream->is_running) return;
    stream->is_running = false;
    if (stream->direction == VC_PLAYBACK)
        vc_tape_erase(&stream->access.card->tape, vc_frames_at(stream->microhertz, vc_stream_now(stream)),
            queued_end(stream));
    // After an unplug the slot may be somebody else's.
    if (vc_card_is_gone(&stream->access)) return;
    if (stream->access.card->is_virtual)
        vc_schedule_halt(stream);
    else
        atomic_store(&stream->slot->running, 0);
}

/// The position leaps by `frames` at card time `at`. Forward: queued frames are swallowed, or silence is captured.
/// Backward: it stands still for that long; what is queued is heard later, what would be captured is lost.
static void leap(vc_stream *stream, int64_t at, int64_t frames) {
    int64_t count = vc_frames_at(stream->microhertz, at), sounding = count - stream->start;
    // What is captured already stays as it is, also while the position stands still after another leap.
    int64_t first = sounding > stream->position ? sounding : stream->position;
    if (frames > 0) sounding += frames;
    if (stream->direction == VC_PLAYBACK)
        vc_tape_shift(&stream->access.card->tape, count, queued_end(stream), -frames);
    stream->start -= frames;
    if (stream->direction == VC_CAPTURE)
        vc_microphone_leap(&stream->microphone, first, sounding > first ? sounding : first, stream->start);
    atomic_store(&stream->slot->start_frame, stream->start);
}

int64_t vc_stream_next_mishap(const vc_stream *stream) {
    const vc_mishaps *mishaps = &stream->mishaps;
    if (!mishaps->is_scheduled) return INT64_MAX;
    int64_t next = mishaps->unplug_at;
    if (mishaps->stall_at < next) next = mishaps->stall_at;
    if (mishaps->xrun_at < next) next = mishaps->xrun_at;
    if (mishaps->jump_at < next) next = mishaps->jump_at;
    return next;
}

/// Whether a mishap of the schedule is due; it then is no more.
static bool is_due(int64_t *at, int64_t now) {
    if (now < *at) return false;
    *at = INT64_MAX;
    return true;
}

/// Lets happen what is due, by the schedule or by request. 0, or -EPIPE for an xrun.
static int suffer_mishaps(vc_stream *stream, int64_t now) {
    vc_mishaps *mishaps = &stream->mishaps;
    vc_slot *slot = stream->slot;
    const vc_settings *settings = &stream->settings;
    if (is_due(&mishaps->unplug_at, now))
        vc_card_unplug(&stream->access, settings->replug_after_s < 0 ? -1 : (int64_t)(settings->replug_after_s * 1e9));
    int64_t stall_at = mishaps->stall_at;
    if (is_due(&mishaps->stall_at, now)) atomic_store(&slot->stalled_until, stall_at + settings->stall_ms * 1000000);
    int64_t jump_at = mishaps->jump_at;
    if (is_due(&mishaps->jump_at, now)) leap(stream, jump_at, settings->jump_frames);
    uint32_t jumps = atomic_load(&slot->jump_requests);
    if (mishaps->jumps_done != jumps) {
        mishaps->jumps_done = jumps;
        leap(stream, now, atomic_load(&slot->jump_frames));
    }
    uint32_t xruns = atomic_load(&slot->xrun_requests);
    bool is_asked = mishaps->xruns_done != xruns;
    mishaps->xruns_done = xruns;
    return is_due(&mishaps->xrun_at, now) || is_asked ? -EPIPE : 0;
}

static bool has_run_out(const vc_stream *stream, int64_t position) {
    return vc_stream_available(stream, position) >= (int64_t)stream->stop_threshold;
}

int vc_stream_break_off(vc_stream *stream) {
    vc_stream_halt(stream);
    stream->is_broken = true;
    atomic_fetch_add(&stream->slot->xruns, 1);
    return -EPIPE;
}

int64_t vc_stream_follow(vc_stream *stream) {
    int64_t now = vc_stream_now(stream);
    int error = stream->is_running && !vc_card_is_gone(&stream->access) ? suffer_mishaps(stream, now) : 0;
    if (vc_card_is_gone(&stream->access)) {
        vc_stream_halt(stream);
        return -ENODEV;
    }
    if (error) return vc_stream_break_off(stream);
    if (stream->is_broken) return -EPIPE;
    if (!stream->is_running) return 0;

    int64_t frames = vc_frames_at(stream->microhertz, now) - stream->start;
    if (frames > stream->position) stream->position = frames;
    int64_t position = rounded_down(stream, stream->position);
    if (stream->io.state == SND_PCM_STATE_DRAINING) {
        // The end of what was written is reached, not overrun. A capture has nothing to drain.
        if (stream->direction == VC_CAPTURE) return -EPIPE;
        if (stream->position >= (int64_t)stream->io.appl_ptr) position = (int64_t)stream->io.appl_ptr;
    } else if (has_run_out(stream, position)) {
        return vc_stream_break_off(stream);
    }
    atomic_store_explicit(&stream->slot->position, position, memory_order_relaxed);
    return position;
}
