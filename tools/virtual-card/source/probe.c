// vcard-probe: plain programs against any ALSA PCM, to see what a card does and to test the virtual one.
#define _GNU_SOURCE
#include <alsa/asoundlib.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MISMATCH = 1, USAGE = 64, UNAVAILABLE = 69 };

enum {
    RATE = 48000,
    // A pulse every quarter of a second, found as the loudest frame of the quarter after it.
    PULSE_FRAMES = RATE / 4,
    PULSE = 16384,
    // The program waits this long for a card that does not answer.
    WAIT_MS = 5000,
    // Players and listeners are no test of how promptly this program is run: two thirds of a second lie queued.
    QUEUED_PERIODS = 64,
};

static const char usage[] =
    "usage: vcard-probe loop PLAYBACK CAPTURE [PERIOD [SECONDS]]   round trip of a plain loop in one thread\n"
    "       vcard-probe play PCM SECONDS                           plays pulses\n"
    "       vcard-probe hear PCM SECONDS                           counts the pulses that it captures\n"
    "       vcard-probe hold DIRECTION PCM                         opens it, says so, and keeps it till stdin ends\n"
    "       vcard-probe list                                       the PCMs that programs offer\n"
    "\n"
    "At 48 kHz, mono, 16 bits; PERIOD in frames, 240 by default; the loop prefills two periods.\n"
    "Exit status: 0; 1: nothing came through; 64: usage; 69: the PCM does not work.\n";

static int failed(const char *what, const char *pcm, int error) {
    fprintf(stderr, "vcard-probe: %s: %s: %s\n", pcm, what, snd_strerror(error));
    return UNAVAILABLE;
}

/// A PCM of 48 kHz, mono, 16 bits that starts only when told to. 0 or a negative errno.
static int open_pcm(
    snd_pcm_t **pcm, const char *name, snd_pcm_stream_t direction, snd_pcm_uframes_t period, unsigned periods) {
    int error = snd_pcm_open(pcm, name, direction, 0);
    if (error < 0) return error;
    snd_pcm_hw_params_t *hardware;
    snd_pcm_sw_params_t *software;
    snd_pcm_hw_params_alloca(&hardware);
    snd_pcm_sw_params_alloca(&software);
    snd_pcm_uframes_t buffer = period * periods, never;
    if ((error = snd_pcm_hw_params_any(*pcm, hardware)) < 0 ||
        (error = snd_pcm_hw_params_set_access(*pcm, hardware, SND_PCM_ACCESS_RW_INTERLEAVED)) < 0 ||
        (error = snd_pcm_hw_params_set_format(*pcm, hardware, SND_PCM_FORMAT_S16_LE)) < 0 ||
        (error = snd_pcm_hw_params_set_channels(*pcm, hardware, 1)) < 0 ||
        (error = snd_pcm_hw_params_set_rate(*pcm, hardware, RATE, 0)) < 0 ||
        (error = snd_pcm_hw_params_set_period_size(*pcm, hardware, period, 0)) < 0 ||
        (error = snd_pcm_hw_params_set_buffer_size(*pcm, hardware, buffer)) < 0 ||
        (error = snd_pcm_hw_params(*pcm, hardware)) < 0 || (error = snd_pcm_sw_params_current(*pcm, software)) < 0 ||
        (error = snd_pcm_sw_params_get_boundary(software, &never)) < 0 ||
        (error = snd_pcm_sw_params_set_start_threshold(*pcm, software, never)) < 0 ||
        (error = snd_pcm_sw_params_set_avail_min(*pcm, software, period)) < 0 ||
        (error = snd_pcm_sw_params(*pcm, software)) < 0 || (error = snd_pcm_prepare(*pcm)) < 0)
        snd_pcm_close(*pcm);
    return error;
}

/// Waits until `count` frames can be moved. 0 or a negative errno.
static int wait_for(snd_pcm_t *pcm, snd_pcm_sframes_t count) {
    for (;;) {
        snd_pcm_sframes_t available = snd_pcm_avail_update(pcm);
        if (available < 0) return (int)available;
        if (available >= count) return 0;
        int ready = snd_pcm_wait(pcm, WAIT_MS);
        if (ready <= 0) return ready < 0 ? ready : -ETIMEDOUT;
    }
}

static void pulses(int16_t *block, long first, long count) {
    for (long i = 0; i < count; i++) block[i] = (first + i) % PULSE_FRAMES == 0 ? PULSE : 0;
}

/// Follows what is captured, quarter by quarter after each pulse.
typedef struct {
    long frame, peak_at;
    int peak, found;
    long least, most;
} listener;

static void listen_to(listener *listener, const int16_t *block, long count) {
    for (long i = 0; i < count; i++, listener->frame++) {
        long since = listener->frame % PULSE_FRAMES;
        if (since == 0) listener->peak = 0;
        if (abs(block[i]) > listener->peak) {
            listener->peak = abs(block[i]);
            listener->peak_at = since;
        }
        if (since != PULSE_FRAMES - 1 || listener->peak < PULSE / 64) continue;
        if (!listener->found || listener->peak_at < listener->least) listener->least = listener->peak_at;
        if (!listener->found || listener->peak_at > listener->most) listener->most = listener->peak_at;
        listener->found++;
    }
}

/// Reads and writes period by period. 0 or a negative errno.
static int run_loop(snd_pcm_t *playback, snd_pcm_t *capture, long period, long frames, listener *heard) {
    int16_t *block = calloc((size_t)period, sizeof *block);
    if (!block) return -ENOMEM;
    int error = 0;
    // What is heard of written frame n is captured frame n + round trip; the prefill comes before frame 0.
    for (int i = 0; i < 2 && error >= 0; i++) error = (int)snd_pcm_writei(playback, block, (snd_pcm_uframes_t)period);
    if (error >= 0) error = snd_pcm_start(playback);
    if (error >= 0) error = snd_pcm_start(capture);
    for (long frame = 0; frame < frames && error >= 0; frame += period) {
        error = wait_for(capture, period);
        if (error >= 0) error = (int)snd_pcm_readi(capture, block, (snd_pcm_uframes_t)period);
        if (error < 0) break;
        listen_to(heard, block, period);
        pulses(block, frame, period);
        error = (int)snd_pcm_writei(playback, block, (snd_pcm_uframes_t)period);
    }
    free(block);
    return error < 0 ? error : 0;
}

static int loop(const char *playback_name, const char *capture_name, long period, double seconds) {
    snd_pcm_t *playback, *capture;
    int error = open_pcm(&playback, playback_name, SND_PCM_STREAM_PLAYBACK, (snd_pcm_uframes_t)period, 2);
    if (error < 0) return failed("playback", playback_name, error);
    error = open_pcm(&capture, capture_name, SND_PCM_STREAM_CAPTURE, (snd_pcm_uframes_t)period, 4);
    if (error < 0) return failed("capture", capture_name, error);
    struct sched_param priority = {.sched_priority = 70};
    bool is_realtime = sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
    listener heard = {0};
    error = run_loop(playback, capture, period, (long)(seconds * RATE), &heard);
    snd_pcm_close(playback);
    snd_pcm_close(capture);
    if (error < 0) return failed("loop", capture_name, error);
    printf("period_frames %ld\nround_trip_frames_min %ld\nround_trip_frames_max %ld\nround_trip_ms %.3f\n", period,
        heard.least, heard.most, (double)heard.most * 1000 / RATE);
    printf("pulses %d\nrealtime_priority %d\n", heard.found, is_realtime);
    return heard.found ? 0 : MISMATCH;
}

static int play(const char *name, double seconds) {
    enum { PERIOD = 480 };
    snd_pcm_t *pcm;
    int16_t block[PERIOD];
    int error = open_pcm(&pcm, name, SND_PCM_STREAM_PLAYBACK, PERIOD, QUEUED_PERIODS);
    if (error < 0) return failed("playback", name, error);
    long frames = (long)(seconds * RATE);
    for (long frame = 0; frame < frames && error >= 0; frame += PERIOD) {
        if (frame == QUEUED_PERIODS * PERIOD) error = snd_pcm_start(pcm);
        if (error >= 0 && frame >= QUEUED_PERIODS * PERIOD) error = wait_for(pcm, PERIOD);
        pulses(block, frame, PERIOD);
        if (error >= 0) error = (int)snd_pcm_writei(pcm, block, PERIOD);
    }
    if (error >= 0) error = snd_pcm_drain(pcm);
    snd_pcm_close(pcm);
    return error < 0 ? failed("playback", name, error) : 0;
}

static int hear(const char *name, double seconds) {
    enum { PERIOD = 480 };
    snd_pcm_t *pcm;
    int16_t block[PERIOD];
    int error = open_pcm(&pcm, name, SND_PCM_STREAM_CAPTURE, PERIOD, QUEUED_PERIODS);
    if (error < 0) return failed("capture", name, error);
    int count = 0;
    error = snd_pcm_start(pcm);
    for (long frame = 0; frame < (long)(seconds * RATE) && error >= 0; frame += PERIOD) {
        error = wait_for(pcm, PERIOD);
        if (error >= 0) error = (int)snd_pcm_readi(pcm, block, PERIOD);
        for (int i = 0; i < PERIOD && error >= 0; i++) count += abs(block[i]) > PULSE / 64;
    }
    snd_pcm_close(pcm);
    if (error < 0) return failed("capture", name, error);
    printf("pulses %d\n", count);
    return count ? 0 : MISMATCH;
}

static int hold(const char *direction, const char *name) {
    bool is_capture = !strcmp(direction, "capture");
    snd_pcm_t *pcm;
    int error = snd_pcm_open(&pcm, name, is_capture ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK, 0);
    if (error < 0) return failed(direction, name, error);
    puts("open");
    fflush(stdout);
    while (getchar() != EOF) {}
    snd_pcm_close(pcm);
    return 0;
}

static int list(void) {
    void **hints;
    int error = snd_device_name_hint(-1, "pcm", &hints);
    if (error < 0) return failed("hints", "pcm", error);
    for (void **hint = hints; *hint; hint++) {
        char *name = snd_device_name_get_hint(*hint, "NAME"), *description = snd_device_name_get_hint(*hint, "DESC");
        printf("%s\t%s\n", name ? name : "", description ? description : "");
        free(name);
        free(description);
    }
    snd_device_name_free_hint(hints);
    return 0;
}

int main(int count, char **words) {
    const char *command = count > 1 ? words[1] : "";
    if (!strcmp(command, "loop") && count >= 4 && count <= 6) {
        long period = count > 4 ? atol(words[4]) : 240;
        double seconds = count > 5 ? atof(words[5]) : 4;
        if (period > 0 && period <= 16384 && seconds > 0) return loop(words[2], words[3], period, seconds);
    } else if (!strcmp(command, "play") && count == 4) {
        return play(words[2], atof(words[3]));
    } else if (!strcmp(command, "hear") && count == 4) {
        return hear(words[2], atof(words[3]));
    } else if (!strcmp(command, "hold") && count == 4) {
        return hold(words[2], words[3]);
    } else if (!strcmp(command, "list") && count == 2) {
        return list();
    }
    fputs(usage, stderr);
    return USAGE;
}
