// tick COUNT: COUNT blocks of 10 ms through dv_processor_run, for callgrind; tick create: one engine, made and destroyed, and the milliseconds that it took.
// The same sound, and otherwise the same work, as tick.swift.
#include <duplexvoice.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FRAMES = 480, ECHO_TICKS = 2, MOST = 100000 };
static float reference[ECHO_TICKS + 1][FRAMES], capture[FRAMES];

static int create(void) {
    struct timespec begin, end;
    dv_engine engine;
    dv_error error;
    dv_engine_config config = {sizeof config, DV_ENGINE_VOICE_CHAT, DV_SOUND_CLIENT};
    clock_gettime(CLOCK_MONOTONIC, &begin);
    if (dv_engine_create(&config, &engine, &error)) return fprintf(stderr, "%s\n", error.message), 1;
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.3f\n", (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6);
    return dv_engine_destroy(engine) != DV_OK;
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "create") == 0) return create();
    int ticks = count == 2 ? atoi(arguments[1]) : 0;
    if (ticks < 1 || ticks > MOST) return fprintf(stderr, "usage: %s COUNT|create\n", arguments[0]), 64;
    dv_processor_config config = {sizeof config, 48000};
    config.block_frames = FRAMES;
    dv_processor_settings settings = {sizeof settings};
    dv_processor processor;
    dv_error error;
    dv_processor_preset(DV_PRESET_VOICE_CHAT, &settings);
    if (dv_processor_create(&config, &settings, &processor, &error)) return fprintf(stderr, "%s\n", error.message), 1;
    uint32_t state = 1;
    double sum = 0;
    for (int tick = 0; tick < ticks; tick++) {
        float *now = reference[tick % (ECHO_TICKS + 1)], *before = reference[(tick + 1) % (ECHO_TICKS + 1)];
        for (int frame = 0; frame < FRAMES; frame++) {
            state = state * 1664525u + 1013904223u;
            now[frame] = ((float)(state >> 8) / 8388608.0f - 1.0f) * (float)(tick % 25) * 0.01f;
        }
        for (int frame = 0; frame < FRAMES; frame++) capture[frame] = before[frame] * 0.3f;
        if (dv_processor_run(processor, capture, now, capture, FRAMES)) return 1;
        sum += (double)capture[0];
    }
    printf("%.6f\n", sum);
    return dv_processor_destroy(processor) != DV_OK;
}
