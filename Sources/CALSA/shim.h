// What Swift needs of alsa-lib beyond its own header: calls that the real-time loops make, with our word that they are
// fit for it, and calls whose variadic or macro interface Swift cannot see.
//
// Functions marked DV_REALTIME_SAFE may be called from capture and playback code: the Swift compiler takes our word
// that they neither lock nor allocate. For a `hw` PCM that is so: alsa-lib goes straight to an ioctl or to the mapped
// control page, and takes no mutex (`need_lock` is 0 for hw). For plugin PCMs (plug, dmix, pulse, pipewire, ioplugs)
// alsa-lib takes a mutex of that PCM, which is never contended, since after the start only one thread uses the handle;
// what the plugin itself does inside is not ours to prove.
#pragma once

#include <alsa/asoundlib.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>

#define DV_REALTIME_SAFE __attribute__((swift_attr("@_noLocks"))) __attribute__((swift_attr("@_noAllocation")))

/// Where a stream stood at one moment.
typedef struct {
    /// When, in nanoseconds on the clock that the stream was set to (monotonic); 0 where the driver does not tell.
    int64_t nanoseconds;
    /// Frames that can be read or written.
    int64_t available;
    /// Frames between the application's next frame and the converter, hardware queues included.
    int64_t delay;
    /// When the stream was last started or stopped, on the same clock; 0 where the driver does not tell.
    int64_t trigger;
} dv_pcm_moment;

static inline int64_t dv_nanoseconds(snd_htimestamp_t time) DV_REALTIME_SAFE;
static inline int64_t dv_nanoseconds(snd_htimestamp_t time) { return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec; }

/// Position and delay with the time at which they were true. 0, or the negative errno that tells of the stream's state
/// where it does not run. Real-time safe: hw: one ioctl, which synchronises the pointer first.
static inline int dv_pcm_observe(snd_pcm_t *pcm, snd_pcm_status_t *status, dv_pcm_moment *moment) DV_REALTIME_SAFE;
static inline int dv_pcm_observe(snd_pcm_t *pcm, snd_pcm_status_t *status, dv_pcm_moment *moment) {
    int error = snd_pcm_status(pcm, status);
    if (error < 0) return error;
    snd_htimestamp_t time;
    snd_pcm_status_get_htstamp(status, &time);
    moment->nanoseconds = dv_nanoseconds(time);
    snd_pcm_status_get_trigger_htstamp(status, &time);
    moment->trigger = dv_nanoseconds(time);
    moment->available = snd_pcm_status_get_avail(status);
    moment->delay = snd_pcm_status_get_delay(status);
    switch (snd_pcm_status_get_state(status)) {
    case SND_PCM_STATE_XRUN: return -EPIPE;
    case SND_PCM_STATE_SUSPENDED: return -ESTRPIPE;
    case SND_PCM_STATE_DISCONNECTED: return -ENODEV;
    // Somebody has stopped it.
    case SND_PCM_STATE_OPEN:
    case SND_PCM_STATE_SETUP: return -EBADFD;
    default: return 0;
    }
}

/// Reads up to `frames` frames and returns how many, or a negative errno (-EAGAIN for none). Real-time safe: hw: one
/// ioctl; the PCM is non-blocking, so that it never waits.
static inline int64_t dv_pcm_read(snd_pcm_t *pcm, void *buffer, uint64_t frames) DV_REALTIME_SAFE;
static inline int64_t dv_pcm_read(snd_pcm_t *pcm, void *buffer, uint64_t frames) {
    return snd_pcm_readi(pcm, buffer, frames);
}

/// Writes up to `frames` frames and returns how many, or a negative errno (-EAGAIN for none). Real-time safe, as
/// dv_pcm_read.
static inline int64_t dv_pcm_write(snd_pcm_t *pcm, const void *buffer, uint64_t frames) DV_REALTIME_SAFE;
static inline int64_t dv_pcm_write(snd_pcm_t *pcm, const void *buffer, uint64_t frames) {
    return snd_pcm_writei(pcm, buffer, frames);
}

/// What alsa-lib would print on stderr is left out: the same comes back as an error.
static inline void dv_alsa_ignore_error(
    const char *file, int line, const char *function, int error, const char *format, va_list list) {
    (void)file, (void)line, (void)function, (void)error, (void)format, (void)list;
}

/// Opens a PCM in non-blocking mode, and says nothing on stderr if it cannot. 0 or a negative errno.
static inline int dv_pcm_open(snd_pcm_t **pcm, const char *name, snd_pcm_stream_t stream) {
    snd_local_error_handler_t before = snd_lib_error_set_local(dv_alsa_ignore_error);
    int error = snd_pcm_open(pcm, name, stream, SND_PCM_NONBLOCK);
    snd_lib_error_set_local(before);
    return error;
}

/// Joins two streams, so that one start starts both to the sample. 0, or a negative errno where the devices cannot.
static inline int dv_pcm_link(snd_pcm_t *first, snd_pcm_t *second) {
    snd_local_error_handler_t before = snd_lib_error_set_local(dv_alsa_ignore_error);
    int error = snd_pcm_link(first, second);
    snd_lib_error_set_local(before);
    return error;
}

/// The names of all PCMs that the configuration hints at. 0 or a negative errno.
static inline int dv_pcm_hints(void ***hints) {
    snd_local_error_handler_t before = snd_lib_error_set_local(dv_alsa_ignore_error);
    int error = snd_device_name_hint(-1, "pcm", hints);
    snd_lib_error_set_local(before);
    return error;
}

/// Reads `files` (NULL: alsa-lib's own), or again where they have changed: 1; else 0, or a negative errno.
static inline int dv_config_update(snd_config_t **top, snd_config_update_t **update, const char *files) {
    snd_local_error_handler_t before = snd_lib_error_set_local(dv_alsa_ignore_error);
    int error = snd_config_update_r(top, update, files);
    snd_lib_error_set_local(before);
    return error;
}

/// Opens a card's control device for reading, and says nothing on stderr if it cannot. 0 or a negative errno.
static inline int dv_control_open(snd_ctl_t **control, const char *name) {
    snd_local_error_handler_t before = snd_lib_error_set_local(dv_alsa_ignore_error);
    int error = snd_ctl_open(control, name, SND_CTL_READONLY | SND_CTL_NONBLOCK);
    snd_lib_error_set_local(before);
    return error;
}
