// DuplexVoice as a back end of PipeWire's module-echo-cancel (`library.name = aec/libspa-aec-duplexvoice`): docs/pipewire.md.
//
//     microphone ──> rec ──> mean ──┐
//                                   ├─> dv_processor_run ──> out: the same on every channel ──> echo-cancel source
//     echo-cancel sink ──> play ──> mean ──┘   └──> loudspeaker, by the module
//
// The interface is that of spa/interfaces/audio/aec.h, as of PipeWire 0.3.58: the module calls `init` once on its main thread and `run` on the graph's
// real-time thread, for each block. Both streams are on the graph's clock, so a block of `play` is what the loudspeaker is handed while `rec` is read.
#include <duplexvoice.h>
#include <errno.h>
#include <spa/interfaces/audio/aec.h>
#include <spa/support/log.h>
#include <spa/support/plugin.h>
#include <spa/utils/names.h>
#include <spa/utils/string.h>
#include <stdio.h>
#include <string.h>

enum {
    // Frames, at 32 kHz and more.
    MAXIMUM_BLOCK = 256,
};

static struct spa_log_topic topic = SPA_LOG_TOPIC(0, "spa.aec.duplexvoice");
#undef SPA_LOG_TOPIC_DEFAULT
#define SPA_LOG_TOPIC_DEFAULT &topic

struct backend {
    struct spa_handle handle;
    struct spa_audio_aec aec;
    struct spa_log *log;
    dv_processor processor;
    uint32_t channels;
    // What every call brings a multiple of.
    uint32_t block;
    char latency[sizeof "4294967295/4294967295"];
    float capture[MAXIMUM_BLOCK];
    float reference[MAXIMUM_BLOCK];
};

// MARK: Settings

struct choice {
    const char *name;
    uint32_t value;
};

static const struct choice backends[] = {
    {"native", DV_BACKEND_NATIVE}, {"webrtc", DV_BACKEND_WEBRTC}, {"speexdsp", DV_BACKEND_SPEEXDSP}, {"bypass", DV_BACKEND_BYPASS}, {0}};
static const struct choice echoes[] = {{"off", DV_ECHO_OFF},
    {"soft", DV_ECHO_SOFT}, {"medium", DV_ECHO_MEDIUM}, {"aggressive", DV_ECHO_AGGRESSIVE}, {"auto", DV_ECHO_AUTO}, {0}};
static const struct choice noises[] = {{"off", DV_NOISE_OFF},
    {"low", DV_NOISE_LOW}, {"moderate", DV_NOISE_MODERATE}, {"high", DV_NOISE_HIGH}, {"very-high", DV_NOISE_VERY_HIGH}, {0}};
static const struct choice methods[] = {{"spectral", DV_NOISE_SPECTRAL}, {"neural", DV_NOISE_NEURAL}, {0}};
static const struct choice gains[] = {{"off", DV_GAIN_OFF}, {"adaptive", DV_GAIN_ADAPTIVE}, {0}};
static const struct choice switches[] = {{"false", 0}, {"true", 1}, {0}};

// The processor's names for what may stand in `aec.args`.
static const struct option {
    const char *key;
    const struct choice *choices;
} options[] = {{"duplexvoice.backend", backends}, {"duplexvoice.echo", echoes}, {"duplexvoice.noise", noises},
    {"duplexvoice.noise-method", methods}, {"duplexvoice.gain", gains}, {"duplexvoice.high-pass", switches}};

// Reads the arguments; what is unknown is an error, as the user believes that it holds.
static int read_arguments(
    struct backend *self, const struct spa_dict *arguments, dv_processor_config *config, dv_processor_settings *settings) {
    // Of the options above, in their order.
    uint32_t *const values[SPA_N_ELEMENTS(options)] = {
        &config->backend, &settings->echo, &settings->noise, &settings->noise_method, &settings->gain, &settings->high_pass};
    const struct spa_dict_item *item;

    if (arguments == NULL) return 0;
    spa_dict_for_each(item, arguments) {
        size_t at = 0;
        while (at < SPA_N_ELEMENTS(options) && !spa_streq(item->key, options[at].key)) at++;
        if (at == SPA_N_ELEMENTS(options)) {
            // Arguments of other back ends stay in a configuration when its library changes.
            if (strncmp(item->key, "duplexvoice.", strlen("duplexvoice.")) != 0) continue;
            spa_log_error(self->log, "there is no argument %s: docs/pipewire.md has them all", item->key);
            return -EINVAL;
        }
        const struct choice *choice = options[at].choices;
        while (choice->name != NULL && !spa_streq(item->value, choice->name)) choice++;
        if (choice->name == NULL) {
            spa_log_error(self->log, "%s cannot be '%s': docs/pipewire.md has its values", item->key, item->value);
            return -EINVAL;
        }
        *values[at] = choice->value;
    }
    return 0;
}

// MARK: Interface

// The block that is asked for, frames: 5 to 8 ms, and a power of two, as the graph's quantum is. Of 10 ms blocks would be made either way, here or by the
// module, with the same delay; but the module of PipeWire 0.3.65 drops what a quantum has more than a block, and with `node.latency` a user can make
// multiples of this one as large as a quantum that is forced.
static uint32_t block_at(uint32_t rate) {
    if (rate >= 32000) return MAXIMUM_BLOCK;
    return rate >= 16000 ? MAXIMUM_BLOCK / 2 : MAXIMUM_BLOCK / 4;
}

static int backend_init(void *object, const struct spa_dict *arguments, const struct spa_audio_info_raw *info) {
    struct backend *self = object;
    dv_processor_config config = {.size = sizeof config, .sample_rate = info->rate};
    dv_processor_settings settings = {.size = sizeof settings};
    dv_error error;
    dv_processor made;
    int result;

    // In a desktop's source a gain belongs to the volume control and to apps, which have their own.
    dv_processor_preset(DV_PRESET_VOICE_CHAT, &settings);
    settings.gain = DV_GAIN_OFF;
    settings.voice_detection = DV_VOICE_OFF;
    if ((result = read_arguments(self, arguments, &config, &settings)) < 0) return result;

    if (info->channels == 0 || info->channels > SPA_AUDIO_MAX_CHANNELS) {
        spa_log_error(self->log, "%u channels: give 1 to %u", info->channels, SPA_AUDIO_MAX_CHANNELS);
        return -EINVAL;
    }
    config.block_frames = block_at(info->rate);
    if (dv_processor_create(&config, &settings, &made, &error) != DV_OK) {
        spa_log_error(self->log, "no processor: %s", error.message);
        return error.status == DV_INVALID_ARGUMENT ? -EINVAL : -ENOMEM;
    }
    dv_processor_destroy(self->processor);
    self->processor = made;
    self->channels = info->channels;
    self->block = config.block_frames;
    snprintf(self->latency, sizeof self->latency, "%u/%u", config.block_frames, info->rate);
    self->aec.latency = self->latency;
    return 0;
}

// The mean of the channels, `count` frames from `begin` on.
static void mix(const float *channels[], uint32_t channel_count, uint32_t begin, uint32_t count, float *mixed) {
    const float scale = 1.0f / (float)channel_count;

    for (uint32_t frame = 0; frame < count; frame++) mixed[frame] = channels[0][begin + frame] * scale;
    for (uint32_t channel = 1; channel < channel_count; channel++)
        for (uint32_t frame = 0; frame < count; frame++) mixed[frame] += channels[channel][begin + frame] * scale;
}

// Real-time thread. The module calls with multiples of the block, but once: when `buffer.play_delay` is over, with what is left of one. What makes no block is
// silence, as nobody has taken its echo away.
static int backend_run(void *object, const float *rec[], const float *play[], float *out[], uint32_t count) {
    struct backend *self = object;
    uint32_t done = 0;
    int result = 0;

    for (; count - done >= self->block && self->block > 0; done += self->block) {
        mix(rec, self->channels, done, self->block, self->capture);
        mix(play, self->channels, done, self->block, self->reference);
        if (dv_processor_run(self->processor, self->capture, self->reference, self->capture, self->block) != DV_OK) {
            memset(self->capture, 0, self->block * sizeof *self->capture);
            result = -EIO;
        }
        for (uint32_t channel = 0; channel < self->channels; channel++)
            memcpy(out[channel] + done, self->capture, self->block * sizeof *self->capture);
    }
    for (uint32_t channel = 0; channel < self->channels; channel++)
        memset(out[channel] + done, 0, (count - done) * sizeof **out);
    return result;
}

static const struct spa_audio_aec_methods methods_of_backend = {
    .version = SPA_VERSION_AUDIO_AEC_METHODS,
    .init = backend_init,
    .run = backend_run,
};

// MARK: Plug-in

static int get_interface(struct spa_handle *handle, const char *type, void **interface) {
    if (handle == NULL || interface == NULL) return -EINVAL;
    if (!spa_streq(type, SPA_TYPE_INTERFACE_AUDIO_AEC)) return -ENOENT;
    *interface = &((struct backend *)handle)->aec;
    return 0;
}

static int clear(struct spa_handle *handle) {
    if (handle == NULL) return -EINVAL;
    dv_processor_destroy(((struct backend *)handle)->processor);
    ((struct backend *)handle)->processor = 0;
    return 0;
}

static size_t get_size(const struct spa_handle_factory *factory, const struct spa_dict *parameters) {
    (void)factory, (void)parameters;
    return sizeof(struct backend);
}

static int init(const struct spa_handle_factory *factory, struct spa_handle *handle, const struct spa_dict *info,
    const struct spa_support *support, uint32_t support_count) {
    struct backend *self = (struct backend *)handle;

    (void)info;
    if (factory == NULL || handle == NULL) return -EINVAL;
    memset(self, 0, sizeof *self);
    self->handle.version = SPA_VERSION_HANDLE;
    self->handle.get_interface = get_interface;
    self->handle.clear = clear;
    self->aec.iface = SPA_INTERFACE_INIT(SPA_TYPE_INTERFACE_AUDIO_AEC, SPA_VERSION_AUDIO_AEC, &methods_of_backend, self);
    self->aec.name = "duplexvoice";
    self->log = spa_support_find(support, support_count, SPA_TYPE_INTERFACE_Log);
    spa_log_topic_init(self->log, &topic);
    return 0;
}

static int enum_interface_info(
    const struct spa_handle_factory *factory, const struct spa_interface_info **info, uint32_t *index) {
    static const struct spa_interface_info interfaces[] = {{SPA_TYPE_INTERFACE_AUDIO_AEC}};

    if (factory == NULL || info == NULL || index == NULL) return -EINVAL;
    if (*index >= SPA_N_ELEMENTS(interfaces)) return 0;
    *info = &interfaces[(*index)++];
    return 1;
}

SPA_EXPORT int spa_handle_factory_enum(const struct spa_handle_factory **factory, uint32_t *index) {
    static const struct spa_handle_factory ours = {
        SPA_VERSION_HANDLE_FACTORY, SPA_NAME_AEC, NULL, get_size, init, enum_interface_info};

    if (factory == NULL || index == NULL) return -EINVAL;
    if (*index > 0) return 0;
    *factory = &ours;
    (*index)++;
    return 1;
}
