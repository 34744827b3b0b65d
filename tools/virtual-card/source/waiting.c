#include <errno.h>
#include <poll.h>

#include "clock.h"
#include "schedule.h"
#include "stream.h"

/// Marsaglia's xorshift* over what names the wake-up, so that it is as late in each run. Up to `most`.
static int64_t lateness(uint64_t seed, uint64_t direction, uint64_t frame, int64_t most) {
    if (most <= 0) return 0;
    uint64_t x = (seed << 1 | direction) * UINT64_C(0x9e3779b97f4a7c15) + frame + 1;
    for (int round = 0; round < 3; round++) {
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        x *= UINT64_C(0x2545f4914f6cdd1d);
    }
    return (int64_t)((x >> 11) % (uint64_t)most);
}

static int64_t rounded_up(int64_t frames, int64_t unit) { return (frames + unit - 1) / unit * unit; }

/// The position at which the program has something to do.
static int64_t wanted_position(const vc_stream *stream) {
    int64_t application = (int64_t)stream->io.appl_ptr;
    if (stream->io.state == SND_PCM_STATE_DRAINING) return application;
    int64_t wanted = application + (int64_t)stream->avail_min;
    if (stream->direction == VC_PLAYBACK) wanted -= (int64_t)stream->io.buffer_size;
    if (wanted <= 0) return 0;
    if (stream->settings.interrupts) wanted = rounded_up(wanted, (int64_t)stream->io.period_size);
    return rounded_up(wanted, stream->granule);
}

/// Card time at which a running stream has something for its program, late as wake-ups may be.
static int64_t due_time(const vc_stream *stream) {
    int64_t position = wanted_position(stream);
    int64_t at = vc_time_of(stream->microhertz, stream->start + position);
    at += lateness((uint64_t)stream->settings.seed, stream->direction, (uint64_t)position,
        stream->settings.jitter_us * 1000);
    int64_t stalled = atomic_load(&stream->slot->stalled_until);
    return at < stalled ? stalled : at;
}

/// Card time at which the program of a running stream is to be woken: then, or for a mishap.
static int64_t wake_time(const vc_stream *stream) {
    int64_t due = due_time(stream), mishap = vc_stream_next_mishap(stream);
    return due < mishap ? due : mishap;
}

static bool has_room_before_start(const vc_stream *stream) {
    return stream->direction == VC_PLAYBACK && stream->io.state == SND_PCM_STATE_PREPARED &&
        stream->io.appl_ptr + stream->avail_min <= stream->io.buffer_size;
}

void vc_stream_arm(vc_stream *stream) {
    if (stream->is_running && stream->access.card->is_virtual)
        return;
    else if (stream->is_running)
        vc_wake_at(&stream->wake, stream->access.card->epoch + wake_time(stream));
    else if (stream->io.state == SND_PCM_STATE_PREPARED && !has_room_before_start(stream))
        vc_wake_never(&stream->wake);
    else
        vc_wake_at(&stream->wake, VC_AT_ONCE);
}

/// The program is about to wait.
static void wait_for_it(vc_stream *stream) {
    if (!stream->is_running || !stream->access.card->is_virtual)
        vc_stream_arm(stream);
    else if (wake_time(stream) <= vc_stream_now(stream))
        vc_wake_at(&stream->wake, VC_AT_ONCE);
    else
        vc_schedule_wait(stream, wake_time(stream));
}

int vc_stream_poll_descriptors(snd_pcm_ioplug_t *io, struct pollfd *descriptors, unsigned space) {
    vc_stream *stream = io->private_data;
    if (space < 1) return 0;
    wait_for_it(stream);
    *descriptors = (struct pollfd){.fd = io->poll_fd, .events = POLLIN | POLLERR};
    return 1;
}

/// What poll says of a stream in its present state; 0: to wait on.
static unsigned short events(vc_stream *stream) {
    unsigned short ready = stream->direction == VC_PLAYBACK ? POLLOUT : POLLIN;
    int64_t position = vc_stream_follow(stream);
    if (position == -ENODEV) {
        snd_pcm_ioplug_set_state(&stream->io, SND_PCM_STATE_DISCONNECTED);
        return POLLERR | POLLHUP;
    }
    if (position < 0) {
        snd_pcm_ioplug_set_state(&stream->io, SND_PCM_STATE_XRUN);
        return POLLERR | ready;
    }
    switch (stream->io.state) {
    case SND_PCM_STATE_PREPARED: return has_room_before_start(stream) ? ready : 0;
    case SND_PCM_STATE_DRAINING: return position >= (int64_t)stream->io.appl_ptr ? ready : 0;
    case SND_PCM_STATE_RUNNING:
        if (!stream->is_running) return POLLERR | ready;
        if (vc_stream_now(stream) < due_time(stream)) return 0;
        return vc_stream_available(stream, position) >= (int64_t)stream->avail_min ? ready : 0;
    default: return POLLERR | ready;
    }
}

int vc_stream_poll_revents(
    snd_pcm_ioplug_t *io, struct pollfd *descriptors, unsigned count, unsigned short *revents) {
    vc_stream *stream = io->private_data;
    *revents = 0;
    if (count < 1 || !(descriptors->revents & (POLLIN | POLLERR))) return 0;
    vc_wake_answer(&stream->wake);
    *revents = events(stream);
    if (!*revents) {
        wait_for_it(stream);
    } else if (!(*revents & POLLERR)) {
        atomic_fetch_add_explicit(&stream->slot->wakeups, 1, memory_order_relaxed);
        if (stream->is_running) vc_schedule_serve(stream);
    }
    return 0;
}
