// A call whose sound is this program's own: sends a tone into a room, and says how loud the others are.
//
//     cc -Wall -Werror main.c $(pkg-config --cflags --libs duplexvoice) -lm -o call
//     ./call 'duplex://127.0.0.1:7900/?fingerprint=sha256:…' "$TOKEN"
//
// It ends when somebody sends a message, or after a minute. An audio system's callback takes the place of the loop.
#include <duplexvoice.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 480, MINUTE = 6000 }; // frames of 48 kHz in 10 ms; blocks

int main(int count, char **arguments) {
    if (count != 3) return fprintf(stderr, "usage: %s URL TOKEN\n", arguments[0]), 64;
    dv_engine_config config = {sizeof config, DV_ENGINE_LOW_DELAY, DV_SOUND_CLIENT};
    dv_engine engine;
    dv_error error;
    if (dv_engine_create(&config, &engine, &error) || dv_engine_start(engine, &error) ||
        dv_engine_join(engine, arguments[1], arguments[2], NULL, &error))
        return fprintf(stderr, "%s: %s\n", error.code, error.message), 69;

    float sound[BLOCK], loudest = 0;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    dv_event event = {sizeof event};
    for (int block = 0; block < MINUTE && event.kind != DV_EVENT_MESSAGE && event.kind != DV_EVENT_LEFT; block++) {
        for (int i = 0; i < BLOCK; i++) sound[i] = 0.2f * sinf((float)i * 4 * 6.2831853f / BLOCK); // 400 Hz
        dv_send_capture(engine, sound, BLOCK, 0, NULL);
        dv_pull_playback(engine, sound, BLOCK, 0, NULL);
        float power = 0;
        for (int i = 0; i < BLOCK; i++) power += sound[i] * sound[i] / BLOCK;
        if (power > loudest) loudest = power;
        while (dv_engine_next_event(engine, 0, &event) == DV_OK && event.kind != DV_EVENT_NONE) {
            if (event.kind == DV_EVENT_PARTICIPANT_JOINED) printf("%s came in\n", event.text);
            if (event.kind == DV_EVENT_MESSAGE || event.kind == DV_EVENT_LEFT) break;
        }
        if ((now.tv_nsec += 10000000) >= 1000000000) now.tv_sec++, now.tv_nsec -= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &now, NULL);
    }
    dv_engine_statistics statistics = {sizeof statistics};
    dv_engine_get_statistics(engine, &statistics);
    printf("sent %llu packets, heard %.0f dBFS at most\n", (unsigned long long)statistics.packets_sent, 10 * log10f(loudest + 1e-12f));
    return dv_engine_destroy(engine) != DV_OK;
}
