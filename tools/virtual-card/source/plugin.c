// The virtual sound card as an ioplug of libasound: what libasound calls.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "schedule.h"
#include "stream.h"

static snd_pcm_sframes_t on_pointer(snd_pcm_ioplug_t *io) {
    vc_stream *stream = io->private_data;
    vc_schedule_touch(stream);
    int64_t position = vc_stream_follow(stream);
    if (position != -ENODEV) return position;
    // A negative answer would make libasound call it an xrun. So the position stays, and the state says the truth.
    snd_pcm_ioplug_set_state(io, SND_PCM_STATE_DISCONNECTED);
    return (snd_pcm_sframes_t)io->hw_ptr;
}

static int on_start(snd_pcm_ioplug_t *io) {
    vc_stream *stream = io->private_data;
    if (vc_card_is_gone(&stream->access)) return -ENODEV;
    vc_stream_start(stream);
    vc_stream_arm(stream, (int64_t)io->appl_ptr);
    return 0;
}

static int on_stop(snd_pcm_ioplug_t *io) {
    vc_stream *stream = io->private_data;
    vc_stream_halt(stream);
    stream->is_broken = false;
    vc_stream_arm(stream, (int64_t)io->appl_ptr);
    return 0;
}

static int on_prepare(snd_pcm_ioplug_t *io) {
    vc_stream *stream = io->private_data;
    if (vc_card_is_gone(&stream->access)) return -ENODEV;
    // As the kernel has it.
    if (stream->is_running) return -EBUSY;
    stream->is_broken = false;
    // Libasound sets it only after this, and what the program is to be told depends on it.
    snd_pcm_ioplug_set_state(io, SND_PCM_STATE_PREPARED);
    vc_stream_arm(stream, (int64_t)io->appl_ptr);
    return 0;
}

static snd_pcm_sframes_t on_transfer(snd_pcm_ioplug_t *io, const snd_pcm_channel_area_t *areas,
    snd_pcm_uframes_t offset, snd_pcm_uframes_t count) {
    return vc_stream_transfer(io, areas, offset, count);
}

static int on_delay(snd_pcm_ioplug_t *io, snd_pcm_sframes_t *delay) {
    vc_stream *stream = io->private_data;
    vc_schedule_touch(stream);
    int64_t position = vc_stream_follow(stream);
    if (position < 0) {
        // Libasound does not draw this conclusion from a delay.
        snd_pcm_ioplug_set_state(io, position == -ENODEV ? SND_PCM_STATE_DISCONNECTED : SND_PCM_STATE_XRUN);
        return (int)position;
    }
    int64_t application = (int64_t)io->appl_ptr;
    *delay = stream->direction == VC_PLAYBACK ? application - position : position - application;
    return 0;
}

static int on_hw_params(snd_pcm_ioplug_t *io, snd_pcm_hw_params_t *parameters) {
    (void)parameters;
    vc_stream *stream = io->private_data;
    if (vc_card_is_gone(&stream->access)) return -ENODEV;
    bool is_refused = snd_pcm_format_physical_width(io->format) >= stream->settings.setup_error_bits;
    if (stream->settings.setup_error && is_refused) return -(int)stream->settings.setup_error;
    stream->layout = (vc_sample_layout){.format = io->format, .channels = io->channels};
    stream->granule = stream->settings.granule_frames ? stream->settings.granule_frames : (int64_t)io->period_size;
    stream->avail_min = io->period_size;
    stream->stop_threshold = io->buffer_size;
    return 0;
}

static int on_sw_params(snd_pcm_ioplug_t *io, snd_pcm_sw_params_t *parameters) {
    vc_stream *stream = io->private_data;
    snd_pcm_sw_params_get_avail_min(parameters, &stream->avail_min);
    snd_pcm_sw_params_get_stop_threshold(parameters, &stream->stop_threshold);
    vc_stream_arm(stream, (int64_t)io->appl_ptr);
    return 0;
}

static int on_poll_descriptors_count(snd_pcm_ioplug_t *io) {
    (void)io;
    return 1;
}

static void free_stream(vc_stream *stream) {
    vc_wake_close(&stream->wake);
    vc_microphone_close(&stream->microphone);
    if (stream->access.card) {
        if (stream->slot && !vc_card_is_gone(&stream->access)) {
            vc_schedule_leave(stream);
            atomic_store(&stream->slot->process, 0);
        }
        vc_card_close(&stream->access);
    }
    vc_settings_free(&stream->settings);
    free(stream->staged);
    free(stream);
}

static int on_close(snd_pcm_ioplug_t *io) {
    vc_stream *stream = io->private_data;
    vc_stream_halt(stream);
    free_stream(stream);
    return 0;
}

static const snd_pcm_ioplug_callback_t callbacks = {
    .start = on_start,
    .stop = on_stop,
    .pointer = on_pointer,
    .transfer = on_transfer,
    .close = on_close,
    .hw_params = on_hw_params,
    .sw_params = on_sw_params,
    .prepare = on_prepare,
    .poll_descriptors_count = on_poll_descriptors_count,
    .poll_descriptors = vc_stream_poll_descriptors,
    .poll_revents = vc_stream_poll_revents,
    .delay = on_delay,
};

/// The names between slashes in `text`, as numbers of `known`. How many, or -EINVAL after an error line.
static int choose(const char *parameter, const char *text, const char *const names[], const unsigned values[],
    unsigned known, unsigned chosen[]) {
    unsigned count = 0;
    const char *rest = text;
    while (*rest) {
        size_t length = strcspn(rest, "/");
        unsigned i = 0;
        while (i < known && (strlen(names[i]) != length || strncmp(names[i], rest, length))) i++;
        if (i == known || count == known) break;
        chosen[count++] = values[i];
        rest += length;
        if (*rest) rest++;
    }
    if (count && !*rest) return (int)count;
    SNDERR("vcard: %s=%s: must be one or more of these, with / between: %s %s %s", parameter, text, names[0], names[1],
        known > 2 ? names[2] : "");
    return -EINVAL;
}

/// Restrictions on periods are in bytes in libasound, which is exact as there is one size of a frame then.
static int restrict_sizes(vc_stream *stream, unsigned frame_bytes) {
    const vc_settings *settings = &stream->settings;
    long least = settings->period_frames ? settings->period_frames : settings->period_min;
    long most = settings->period_frames ? settings->period_frames : settings->period_max;
    long buffer = settings->buffer_max ? settings->buffer_max : VC_BUFFER_FRAMES;
    unsigned smallest = frame_bytes ? frame_bytes : 2, largest = frame_bytes ? frame_bytes : 8;
    // Without restrictions: from 16 frames of the smallest size to what a buffer of two periods holds.
    unsigned period_least = (least ? (unsigned)least : 16) * smallest;
    unsigned period_most = (most ? (unsigned)most : VC_BUFFER_FRAMES / 4) * smallest;
    if (period_most < period_least) period_most = period_least;
    int error = snd_pcm_ioplug_set_param_minmax(&stream->io, SND_PCM_IOPLUG_HW_PERIOD_BYTES, period_least, period_most);
    if (!error) error = snd_pcm_ioplug_set_param_minmax(&stream->io, SND_PCM_IOPLUG_HW_PERIODS, 2, 1024);
    if (!error)
        error = snd_pcm_ioplug_set_param_minmax(&stream->io, SND_PCM_IOPLUG_HW_BUFFER_BYTES, 2 * period_least,
            (unsigned)buffer * (frame_bytes ? largest : smallest));
    return error;
}

static int restrict_hardware(vc_stream *stream) {
    static const char *const format_names[] = {"S16_LE", "S32_LE", "FLOAT_LE"}, *const channel_names[] = {"1", "2"};
    static const unsigned formats[] = {SND_PCM_FORMAT_S16_LE, SND_PCM_FORMAT_S32_LE, SND_PCM_FORMAT_FLOAT_LE};
    static const unsigned channels[] = {1, 2};
    static const unsigned accesses[] = {SND_PCM_ACCESS_RW_INTERLEAVED, SND_PCM_ACCESS_MMAP_INTERLEAVED};
    const vc_settings *settings = &stream->settings;
    unsigned chosen_formats[3], chosen_channels[2], rate = (unsigned)settings->rate;
    int format_count = choose("FORMATS", settings->formats, format_names, formats, 3, chosen_formats);
    int channel_count = choose("CHANNELS", settings->channels, channel_names, channels, 2, chosen_channels);
    if (format_count < 0 || channel_count < 0) return -EINVAL;
    unsigned frame_bytes = 0;
    if (format_count == 1 && channel_count == 1)
        frame_bytes = (chosen_formats[0] == SND_PCM_FORMAT_S16_LE ? 2 : 4) * chosen_channels[0];

    snd_pcm_ioplug_t *io = &stream->io;
    int error = snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_ACCESS, 2, accesses);
    if (!error)
        error = snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_FORMAT, (unsigned)format_count, chosen_formats);
    if (!error)
        error = snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_CHANNELS, (unsigned)channel_count, chosen_channels);
    if (!error) error = snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_RATE, 1, &rate);
    return error ? error : restrict_sizes(stream, frame_bytes);
}

/// Takes the direction, and what it needs.
static int open_stream(vc_stream *stream) {
    const vc_settings *settings = &stream->settings;
    vc_identity identity = {
        .space = settings->space, .id = settings->id, .rate = settings->rate, .is_virtual = settings->is_virtual};
    int error = vc_card_open(&stream->access, &identity, stream->direction);
    if (error) return error;
    error = vc_wake_open(&stream->wake, &stream->access, stream->direction);
    if (error) return error;
    vc_card *card = stream->access.card;
    vc_slot *slot = &card->slots[stream->direction];
    bool is_capture = stream->direction == VC_CAPTURE;
    stream->microhertz = vc_microhertz(settings->rate, is_capture ? settings->ppm_capture : settings->ppm_playback);
    if (is_capture) {
        atomic_store(&card->delay_frames, settings->delay_frames);
        vc_card_set_gain(card, settings->gain);
        error = vc_microphone_open(&stream->microphone, card, stream->microhertz, settings->room, settings->near,
            settings->near_gain, settings->near_repeat);
    } else {
        stream->staged = calloc(VC_BUFFER_FRAMES, sizeof *stream->staged);
        if (!stream->staged) error = -ENOMEM;
    }
    if (error) return error;
    stream->slot = slot;
    atomic_store(&slot->process, getpid());
    atomic_store(&slot->running, 0);
    atomic_store(&slot->microhertz, stream->microhertz);
    atomic_store(&slot->stalled_until, 0);
    vc_schedule_join(stream);
    return 0;
}

static int open_plugin(
    snd_pcm_t **pcm, const char *name, snd_config_t *configuration, snd_pcm_stream_t direction, int mode) {
    vc_stream *stream = calloc(1, sizeof *stream);
    if (!stream) return -ENOMEM;
    stream->wake = (vc_wake){-1, -1, -1};
    stream->access.descriptor = -1;
    stream->direction = direction == SND_PCM_STREAM_PLAYBACK ? VC_PLAYBACK : VC_CAPTURE;
    stream->granule = 1;
    int error = vc_settings_read(&stream->settings, configuration);
    if (!error) error = open_stream(stream);
    if (!error) {
        stream->io = (snd_pcm_ioplug_t){
            .version = SND_PCM_IOPLUG_VERSION,
            .name = "Virtual sound card",
            .flags = SND_PCM_IOPLUG_FLAG_MONOTONIC | SND_PCM_IOPLUG_FLAG_BOUNDARY_WA,
            .poll_fd = stream->wake.poll_descriptor,
            .poll_events = POLLIN,
            .callback = &callbacks,
            .private_data = stream,
        };
        error = snd_pcm_ioplug_create(&stream->io, name, direction, mode);
    }
    if (error) {
        free_stream(stream);
        return error;
    }
    error = restrict_hardware(stream);
    if (error) {
        snd_pcm_ioplug_delete(&stream->io); // which calls on_close
        return error;
    }
    *pcm = stream->io.pcm;
    return 0;
}

#pragma GCC visibility push(default)

SND_PCM_PLUGIN_DEFINE_FUNC(vcard) {
    (void)root;
    return open_plugin(pcmp, name, conf, stream, mode);
}

SND_PCM_PLUGIN_SYMBOL(vcard);

#pragma GCC visibility pop
