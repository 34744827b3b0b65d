// The back end for PipeWire as the module loads it, without a daemon: by its handle, over a simulated echo.
//
//     main libspa-aec-duplexvoice.so
//
// Exits with 0 where the echo is gone, the near talker is left, and each wrong call gets its error.
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <spa/interfaces/audio/aec.h>
#include <spa/support/plugin.h>
#include <spa/utils/names.h>
#include <spa/utils/result.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 256, SECOND = 188, BLOCKS = 12 * SECOND, TALK_FROM = 8 * SECOND, PATH_DELAY = 30 * 48, TAPS = 480, CHANNELS = 2, MAXIMUM_DELAY = 960 };

static void expect(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "pipewire backend: %s\n", what);
    exit(1);
}

// White noise, the same each run (Numerical Recipes' generator).
static float noise(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / (float)(1 << 23) - 1;
}

// Loud and soft about as syllables are: four a second.
static float syllables(int frame, double offset) {
    return 0.05f + 0.25f * (float)pow(sin(M_PI * (4.0 * frame / 48000 + offset)), 2);
}

// As the module does it: a handle of the size that the factory says.
static struct spa_handle *make(const struct spa_handle_factory *factory, struct spa_audio_aec **aec) {
    void *interface = NULL;
    struct spa_handle *handle = calloc(1, spa_handle_factory_get_size(factory, NULL));
    expect(spa_handle_factory_init(factory, handle, NULL, NULL, 0) == 0, "the handle is not made");
    expect(spa_handle_get_interface(handle, "something else", &interface) == -ENOENT, "an unknown interface is given");
    expect(spa_handle_get_interface(handle, SPA_TYPE_INTERFACE_AUDIO_AEC, &interface) == 0, "there is no echo canceller");
    *aec = interface;
    expect((*aec)->iface.version <= SPA_VERSION_AUDIO_AEC, "the interface is newer than the header");
    return handle;
}

static void refused(const struct spa_handle_factory *factory, uint32_t rate, uint32_t channels, const char *key, const char *value) {
    struct spa_audio_aec *aec;
    struct spa_handle *handle = make(factory, &aec);
    struct spa_dict_item item = {key, value};
    struct spa_dict arguments = {0, key != NULL, &item};
    struct spa_audio_info_raw info = {.rate = rate, .channels = channels};
    float silence[BLOCK] = {0}, output[BLOCK];
    const float *in[] = {silence};
    float *out[] = {output};
    int result = spa_audio_aec_init(aec, &arguments, &info);
    if (result != -EINVAL) fprintf(stderr, "pipewire backend: %u Hz, %u channels, %s=%s: %d\n", rate, channels, key ? key : "", value ? value : "", result);
    expect(result == -EINVAL, "what cannot be is not refused");
    // A module that goes on all the same.
    spa_audio_aec_run(aec, in, in, out, BLOCK);
    spa_handle_clear(handle);
    free(handle);
}

static double decibels(double power) { return 10 * log10(power + 1e-12); }

int main(int count, char **arguments) {
    if (count != 2) return fprintf(stderr, "usage: %s libspa-aec-duplexvoice.so\n", arguments[0]), 64;
    void *library = dlopen(arguments[1], RTLD_NOW);
    if (!library) return fprintf(stderr, "pipewire backend: %s\n", dlerror()), 69;
    spa_handle_factory_enum_func_t enumerate = (spa_handle_factory_enum_func_t)dlsym(library, SPA_HANDLE_FACTORY_ENUM_FUNC_NAME);
    expect(enumerate != NULL, "there is no " SPA_HANDLE_FACTORY_ENUM_FUNC_NAME);
    const struct spa_handle_factory *factory = NULL, *none;
    const struct spa_interface_info *information;
    uint32_t index = 0, interfaces = 0;
    expect(enumerate(&factory, &index) == 1 && strcmp(factory->name, SPA_NAME_AEC) == 0, "the first factory is another");
    expect(enumerate(&none, &index) == 0, "there is a second factory");
    expect(spa_handle_factory_enum_interface_info(factory, &information, &interfaces) == 1
        && strcmp(information->type, SPA_TYPE_INTERFACE_AUDIO_AEC) == 0, "the factory makes something else");

    refused(factory, 96000, 1, NULL, NULL);
    refused(factory, 48000, 0, NULL, NULL);
    refused(factory, 48000, SPA_AUDIO_MAX_CHANNELS + 1, NULL, NULL);
    refused(factory, 48000, 1, "duplexvoice.noise", "much");
    refused(factory, 48000, 1, "duplexvoice.noize", "high");

    // Given a room with an echo after 30 ms and a loudspeaker that talks, and from the eighth second on somebody near.
    struct spa_audio_aec *aec;
    struct spa_handle *handle = make(factory, &aec);
    struct spa_dict_item items[] = {{"duplexvoice.noise", "off"}, {"duplexvoice.high-pass", "false"}, {"webrtc.gain_control", "true"}};
    struct spa_dict dictionary = SPA_DICT_INIT_ARRAY(items);
    struct spa_audio_info_raw info = {.rate = 48000, .channels = CHANNELS};
    expect(spa_audio_aec_init(aec, &dictionary, &info) == 0, "48 kHz stereo is refused");
    expect(strcmp(aec->latency, "256/48000") == 0, "another block is asked for");
    uint32_t far_seed = 1, near_seed = 2, path_seed = 3;
    static float played[PATH_DELAY + TAPS + BLOCK], taps[TAPS], microphone[BLOCK], near[BLOCK], output[CHANNELS][BLOCK];
    for (int tap = 0; tap < TAPS; tap++) taps[tap] = 0.1f * noise(&path_seed) * expf(-(float)tap / 120);
    // The near talker and the output from a second after the talker has begun.
    static float talker[(BLOCKS - TALK_FROM - SECOND) * BLOCK], heard[(BLOCKS - TALK_FROM - SECOND) * BLOCK];
    double echo = 0, left = 0;
    int talked = 0;
    for (int block = 0; block < BLOCKS; block++) {
        float *now = played + PATH_DELAY + TAPS;
        memmove(played, played + BLOCK, (PATH_DELAY + TAPS) * sizeof *played);
        for (int frame = 0; frame < BLOCK; frame++) now[frame] = syllables(block * BLOCK + frame, 0) * noise(&far_seed);
        for (int frame = 0; frame < BLOCK; frame++) {
            float sum = 0;
            for (int tap = 0; tap < TAPS; tap++) sum += taps[tap] * now[frame - PATH_DELAY - tap];
            near[frame] = block < TALK_FROM ? 0 : 0.3f * syllables(block * BLOCK + frame, 0.3) * noise(&near_seed);
            microphone[frame] = sum + near[frame];
            if (block >= TALK_FROM / 2 && block < TALK_FROM) echo += sum * sum;
        }
        const float *rec[] = {microphone, microphone}, *play[] = {now, now};
        float *out[] = {output[0], output[1]};
        expect(spa_audio_aec_run(aec, rec, play, out, BLOCK) == 0, "a block fails");
        expect(memcmp(output[0], output[1], sizeof output[0]) == 0, "the channels differ");
        for (int frame = 0; frame < BLOCK; frame++) {
            double sample = output[0][frame];
            expect(isfinite(sample), "the output is no number");
            if (block >= TALK_FROM / 2 && block < TALK_FROM) left += sample * sample;
            if (block < TALK_FROM + SECOND) continue;
            talker[talked] = near[frame], heard[talked++] = (float)sample;
        }
    }
    // Then 20 dB of the echo are gone, and the near talker is what is heard: soon, and not made quiet.
    double likeness = 0, kept = 0;
    int delay = 0;
    for (int lag = 0; lag <= MAXIMUM_DELAY; lag++) {
        double own = 0, product = 0, power = 0;
        for (int frame = 0; frame + lag < talked; frame++)
            own += talker[frame] * talker[frame], product += talker[frame] * heard[frame + lag], power += heard[frame + lag] * heard[frame + lag];
        if (product / sqrt(own * power + 1e-12) <= likeness) continue;
        likeness = product / sqrt(own * power + 1e-12), kept = decibels(product * product / own) - decibels(own), delay = lag;
    }
    double removed = decibels(echo) - decibels(left);
    printf("pipewire backend: %.1f dB of the echo removed; the near talker at %.1f dB, %.1f ms late, correlation %.2f\n", removed, kept,
        delay / 48.0, likeness);
    expect(removed > 20, "the echo is left");
    expect(fabs(kept) < 3 && likeness > 0.8, "the near talker is not left");

    // What makes no block is silence, and nothing is written beyond it.
    float guarded[BLOCK + 8];
    for (int frame = 0; frame < BLOCK + 8; frame++) guarded[frame] = 7;
    const float *short_in[] = {microphone, microphone};
    float *short_out[] = {guarded, output[1]};
    expect(spa_audio_aec_run(aec, short_in, short_in, short_out, 100) == 0, "a short block fails");
    expect(guarded[0] == 0 && guarded[99] == 0 && guarded[100] == 7, "a short block is not silent, or longer than it was");
    expect(spa_audio_aec_set_props(aec, NULL) == -ENOTSUP, "what is not implemented does not say so");
    // Twice, as after a change of format; then another canceller at another rate.
    struct spa_dict_item other[] = {{"duplexvoice.backend", "webrtc"}, {"duplexvoice.noise", "high"}};
    struct spa_dict other_dictionary = SPA_DICT_INIT_ARRAY(other);
    info.rate = 16000;
    expect(spa_audio_aec_init(aec, &other_dictionary, &info) == 0, "a second init is refused");
    float *both[] = {output[0], output[1]};
    expect(spa_audio_aec_run(aec, short_in, short_in, both, BLOCK) == 0, "two blocks of 16 kHz fail");
    expect(strcmp(aec->latency, "128/16000") == 0, "another block is asked for at 16 kHz");
    expect(spa_handle_clear(handle) == 0, "the handle is not cleared");
    free(handle);
    dlclose(library);
    return 0;
}
