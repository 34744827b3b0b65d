// A call whose sound is this program's own: sends a tone into a room, and says how loud the others are.
//
//     cc -Wall -Werror main.c $(pkg-config --cflags --libs duplexvoice) -lm -o call
//     ./call 'duplex://127.0.0.1:7900/?fingerprint=sha256:…' "$TOKEN"
//
// It ends when somebody sends a message, or after a minute. An audio system's callback takes the place of the loop; it
// leaves events, and all that prints, to another thread.
#include <duplexvoice.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

enum { BLOCK = 480, SECOND = 100, MINUTE = 60 * SECOND }; // frames of 48 kHz in 10 ms; blocks

// What was sent and came so far, and the loudest block since the last line.
static void tell(dv_engine engine, float power) {
    dv_engine_statistics statistics = {sizeof statistics};
    dv_engine_get_statistics(engine, &statistics);
    printf(
        "sent %llu packets, received %llu, heard %.0f dBFS at most\n", (unsigned long long)statistics.packets_sent,
        (unsigned long long)statistics.packets_received, 10 * log10f(power + 1e-12f));
}

// What others wrote, without the control characters that a terminal would obey: ASCII's, and C1 in UTF-8.
static const char *printable(char *text) {
    for (unsigned char *c = (unsigned char *)text; *c; c++) {
        if (*c < 0x20 || *c == 0x7F) *c = ' ';
        if (*c == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0) c[0] = c[1] = ' ';
    }
    return text;
}

int main(int count, char **arguments) {
    if (count != 3) return fprintf(stderr, "usage: %s URL TOKEN\n", arguments[0]), 64;
    dv_engine_config config = {sizeof config, DV_ENGINE_LOW_DELAY, DV_SOUND_CLIENT};
    dv_engine engine;
    dv_error error;
    if (dv_engine_create(&config, &engine, &error) || dv_engine_start(engine, &error) ||
        dv_engine_join(engine, arguments[1], arguments[2], NULL, &error))
        return fprintf(stderr, "%s: %s\n", error.code, printable(error.message)), 69;

    setvbuf(stdout, NULL, _IOLBF, 0); // each line at once, into a file too
    dv_engine_snapshot snapshot = {sizeof snapshot};
    dv_engine_get_snapshot(engine, &snapshot);
    printf("in room %s with %u others\n", printable(snapshot.room), snapshot.participants);

    float sound[BLOCK], loudest = 0;
    struct timespec due;
    clock_gettime(CLOCK_MONOTONIC, &due);
    dv_event event = {sizeof event};
    for (int block = 1; block <= MINUTE && event.kind != DV_EVENT_MESSAGE && event.kind != DV_EVENT_LEFT; block++) {
        for (int i = 0; i < BLOCK; i++) sound[i] = 0.2f * sinf((float)i * 4 * 6.2831853f / BLOCK); // 400 Hz
        dv_send_capture(engine, sound, BLOCK, 0, NULL);
        dv_pull_playback(engine, sound, BLOCK, 0, NULL);
        float power = 0;
        for (int i = 0; i < BLOCK; i++) power += sound[i] * sound[i] / BLOCK;
        loudest = fmaxf(loudest, power);
        while (dv_engine_next_event(engine, 0, &event) == DV_OK && event.kind != DV_EVENT_NONE) {
            if (event.kind == DV_EVENT_PARTICIPANT_JOINED) printf("%s came in\n", printable(event.text));
            if (event.kind == DV_EVENT_PARTICIPANT_LEFT) printf("somebody went out\n");
            if (event.kind == DV_EVENT_MESSAGE) printf("a message of %u bytes\n", event.data_bytes);
            if (event.kind == DV_EVENT_LEFT) printf("out of the room: %s\n", printable(event.text));
            if (event.kind == DV_EVENT_MESSAGE || event.kind == DV_EVENT_LEFT) break;
        }
        if (block % SECOND == 0 && block < MINUTE) tell(engine, loudest), loudest = 0;
        if ((due.tv_nsec += 10000000) >= 1000000000) due.tv_sec++, due.tv_nsec -= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
    }
    tell(engine, loudest);
    return dv_engine_destroy(engine) != DV_OK;
}
