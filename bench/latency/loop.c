// A plain C loop over alsa-lib, the yardstick for duplex loopback: one thread that reads a period and writes a period,
// with two periods of playback buffer and nothing else. Its round trip is counted in frames: a pulse that is the w-th
// frame written and is heard as the r-th frame read took r - w frames. The silence that fills the buffer before the
// start is not counted.
//
// usage: loop PLAYBACK CAPTURE PERIOD_FRAMES ROUNDS      48 kHz, one channel, 16 bits; SCHED_FIFO 72 where it is granted
// Prints a JSON object for each round and one for all. An xrun starts both streams anew; what was on its way is measured again.
#include <alsa/asoundlib.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    RATE = 48000,
    PRIORITY = 72,
    PLAYBACK_PERIODS = 2,
    CAPTURE_PERIODS = 8,
    MOST_ROUNDS = 1000,
    MOST_XRUNS = 100,
    PULSE = 1023,          // a maximum-length sequence of 10 bits
    LEVEL = 6000,          // of 32768
    SETTLING = RATE / 2,   // before the first pulse
    SPACING = RATE * 3 / 10,
    SPREAD = RATE / 5,     // what is added to the spacing at random
    LONGEST = RATE / 4,    // the longest round trip looked for
};

static double pulse[PULSE];
static double found[MOST_ROUNDS];
static int found_count, xruns;
static uint32_t seed = 1;

static void fail(const char *what, int error) {
    fprintf(stderr, "loop: %s: %s\n", what, snd_strerror(error));
    exit(1);
}

static void check(const char *what, int error) {
    if (error < 0) fail(what, error);
}

// x^10 + x^7 + 1.
static void make_pulse(void) {
    unsigned state = 1;
    for (int i = 0; i < PULSE; i++) {
        pulse[i] = (state & 1) ? 1 : -1;
        const unsigned bit = (state ^ (state >> 3)) & 1;
        state = (state >> 1) | (bit << 9);
    }
}

static unsigned next_random(unsigned below) {
    seed = seed * 1103515245u + 12345u;
    return (seed >> 8) % below;
}

static snd_pcm_t *open_stream(const char *name, snd_pcm_stream_t direction, snd_pcm_uframes_t period, unsigned periods) {
    snd_pcm_t *pcm;
    check(name, snd_pcm_open(&pcm, name, direction, 0));
    snd_pcm_hw_params_t *hardware;
    snd_pcm_hw_params_alloca(&hardware);
    check("parameters", snd_pcm_hw_params_any(pcm, hardware));
    check("access", snd_pcm_hw_params_set_access(pcm, hardware, SND_PCM_ACCESS_RW_INTERLEAVED));
    check("format", snd_pcm_hw_params_set_format(pcm, hardware, SND_PCM_FORMAT_S16_LE));
    check("channels", snd_pcm_hw_params_set_channels(pcm, hardware, 1));
    check("rate", snd_pcm_hw_params_set_rate(pcm, hardware, RATE, 0));
    check("period", snd_pcm_hw_params_set_period_size(pcm, hardware, period, 0));
    check("buffer", snd_pcm_hw_params_set_buffer_size(pcm, hardware, period * periods));
    check("hardware parameters", snd_pcm_hw_params(pcm, hardware));
    snd_pcm_sw_params_t *software;
    snd_pcm_sw_params_alloca(&software);
    check("parameters", snd_pcm_sw_params_current(pcm, software));
    // Both are started by hand, one right after the other.
    check("start", snd_pcm_sw_params_set_start_threshold(pcm, software, RATE * 1000));
    check("wake-up", snd_pcm_sw_params_set_avail_min(pcm, software, period));
    check("software parameters", snd_pcm_sw_params(pcm, software));
    return pcm;
}

// Where the pulse is in the `count` frames of `heard`, between frames too; negative where it is not.
static double find(const int16_t *heard, int count) {
    static double score[LONGEST + 2];
    int best = 0;
    const int places = count - PULSE < LONGEST ? count - PULSE : LONGEST;
    for (int place = 0; place < places; place++) {
        double sum = 0, energy = 1;
        for (int i = 0; i < PULSE; i++) {
            const double sample = heard[place + i];
            sum += sample * pulse[i];
            energy += sample * sample;
        }
        score[place] = sum / sqrt(energy * PULSE);
        if (score[place] > score[best]) best = place;
    }
    if (places < 3 || score[best] < 0.5) return -1;
    if (best == 0 || best == places - 1) return best;
    const double before = score[best - 1], after = score[best + 1];
    return best + 0.5 * (before - after) / (before - 2 * score[best] + after);
}

static int start(snd_pcm_t *playback, snd_pcm_t *capture, const int16_t *silence, snd_pcm_uframes_t period) {
    snd_pcm_drop(playback);
    snd_pcm_drop(capture);
    int error = snd_pcm_prepare(playback);
    if (error == 0) error = snd_pcm_prepare(capture);
    for (int i = 0; error >= 0 && i < PLAYBACK_PERIODS; i++) error = (int)snd_pcm_writei(playback, silence, period);
    if (error >= 0) error = snd_pcm_start(playback);
    if (error >= 0) error = snd_pcm_start(capture);
    return error;
}

// Waits until a whole period is there: a blocking read would take the first few frames of it and then wait for a period
// more.
static int wait_for_period(snd_pcm_t *capture, snd_pcm_uframes_t period) {
    for (;;) {
        const snd_pcm_sframes_t available = snd_pcm_avail_update(capture);
        if (available < 0) return (int)available;
        if ((snd_pcm_uframes_t)available >= period) return 0;
        const int error = snd_pcm_wait(capture, 1000);
        if (error == 0) fail("the device does not move", -ETIMEDOUT);
        if (error < 0) return error;
    }
}

// Runs the loop until `rounds` pulses have come back or an xrun has come between; what was found by then counts.
static void session(snd_pcm_t *playback, snd_pcm_t *capture, snd_pcm_uframes_t period, int rounds) {
    const int64_t longest = SETTLING + (int64_t)rounds * (SPACING + SPREAD) + 2 * LONGEST + PULSE + 2 * (int64_t)period;
    int16_t *heard = calloc(longest, sizeof *heard), *block = calloc(period, sizeof *block);
    int64_t *sent = calloc(rounds, sizeof *sent);
    if (!heard || !block || !sent) fail("memory", -ENOMEM);
    int64_t at = SETTLING;
    for (int i = 0; i < rounds; i++, at += SPACING + next_random(SPREAD)) sent[i] = at;
    const int64_t end = sent[rounds - 1] + PULSE + LONGEST;

    check("start", start(playback, capture, block, period));
    int64_t written = 0, taken = 0;
    int next = 0;
    while (taken < end) {
        if (wait_for_period(capture, period) < 0) break;
        const snd_pcm_sframes_t got = snd_pcm_readi(capture, heard + taken, period);
        if (got < 0) break;
        taken += got;
        for (snd_pcm_sframes_t i = 0; i < got; i++) {
            while (next < rounds && written + i >= sent[next] + PULSE) next++;
            const bool sounds = next < rounds && written + i >= sent[next];
            block[i] = sounds ? (int16_t)(LEVEL * pulse[written + i - sent[next]]) : 0;
        }
        const snd_pcm_sframes_t put = snd_pcm_writei(playback, block, got);
        if (put < 0) break;
        written += put;
    }
    const bool disturbed = taken < end;
    if (disturbed && ++xruns > MOST_XRUNS) fail("too many xruns", -EPIPE);
    for (int i = 0; i < rounds && sent[i] + PULSE + LONGEST <= taken; i++) {
        const double frames = find(heard + sent[i], (int)(taken - sent[i]));
        // A pulse that an xrun may have met is not counted, a lost one is: as not found.
        if (frames >= 0) found[found_count++] = frames * 1000 / RATE;
        else if (!disturbed) fail("a pulse did not come back", -EIO);
    }
    free(heard);
    free(block);
    free(sent);
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Nearest rank.
static double percentile(double percent) {
    const int rank = (int)ceil(percent / 100 * found_count);
    return found[rank < 1 ? 0 : rank - 1];
}

int main(int count, char **arguments) {
    if (count != 5) {
        fprintf(stderr, "usage: loop PLAYBACK CAPTURE PERIOD_FRAMES ROUNDS\n");
        return 64;
    }
    const snd_pcm_uframes_t period = strtoul(arguments[3], NULL, 10);
    const int rounds = atoi(arguments[4]);
    if (period < 16 || period > RATE || rounds < 1 || rounds > MOST_ROUNDS) {
        fprintf(stderr, "loop: periods of 16 to %d frames, 1 to %d rounds\n", RATE, MOST_ROUNDS);
        return 64;
    }
    make_pulse();
    seed = (uint32_t)getpid(); // Pulses at other distances at each start.
    snd_pcm_t *playback = open_stream(arguments[1], SND_PCM_STREAM_PLAYBACK, period, PLAYBACK_PERIODS);
    snd_pcm_t *capture = open_stream(arguments[2], SND_PCM_STREAM_CAPTURE, period, CAPTURE_PERIODS);
    mlockall(MCL_CURRENT | MCL_FUTURE);
    const bool realtime = sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = PRIORITY}) == 0;
    while (found_count < rounds) session(playback, capture, period, rounds - found_count);
    snd_pcm_close(playback);
    snd_pcm_close(capture);
    qsort(found, found_count, sizeof *found, ascending);
    for (int i = 0; i < found_count; i++) printf("{\"type\":\"round\",\"ms\":%.4f}\n", found[i]);
    printf("{\"type\":\"summary\",\"p50_ms\":%.4f,\"p95_ms\":%.4f,\"max_ms\":%.4f,\"rounds\":%d,\"xruns\":%d,\"realtime\":%s}\n", percentile(50),
           percentile(95), found[found_count - 1], found_count, xruns, realtime ? "true" : "false");
    return 0;
}
