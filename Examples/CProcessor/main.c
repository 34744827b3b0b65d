// Takes the echo of one WAV file out of another: microphone, what was played, output.
//
//     cc -Wall -Werror main.c $(pkg-config --cflags --libs duplexvoice) -lsndfile -o processor
//     ./processor mic.wav ref.wav out.wav
#include <duplexvoice.h>
#include <math.h>
#include <sndfile.h>
#include <stdio.h>

enum { BLOCK = 512 };
static float microphone[32 * BLOCK], played[32 * BLOCK], output[BLOCK];

int main(int count, char **arguments) {
    if (count != 4) return fprintf(stderr, "usage: %s mic.wav ref.wav out.wav\n", arguments[0]), 64;
    SF_INFO mic_info = {0}, ref_info = {0};
    SNDFILE *mic = sf_open(arguments[1], SFM_READ, &mic_info), *ref = sf_open(arguments[2], SFM_READ, &ref_info);
    if (!mic || !ref || mic_info.samplerate != ref_info.samplerate || mic_info.channels > 32 || ref_info.channels > 32)
        return fprintf(stderr, "give two sound files of one rate\n"), 65;
    SF_INFO out_info = {.samplerate = mic_info.samplerate, .channels = 1, .format = SF_FORMAT_WAV | SF_FORMAT_FLOAT};
    SNDFILE *out = sf_open(arguments[3], SFM_WRITE, &out_info);
    if (!out) return fprintf(stderr, "%s\n", sf_strerror(NULL)), 73;

    dv_processor_config config = {sizeof config, (uint32_t)mic_info.samplerate};
    config.capture_channels = (uint32_t)mic_info.channels;
    config.reference_channels = (uint32_t)ref_info.channels;
    dv_processor processor;
    dv_error error;
    if (dv_processor_create(&config, NULL, &processor, &error)) return fprintf(stderr, "%s\n", error.message), 69;

    float delay = NAN, removed = NAN;
    uint32_t late = 0; // frames of the output that come before the first of the microphone
    dv_processor_delay(processor, &late);
    for (sf_count_t left = mic_info.frames + late; left > 0;) {
        sf_count_t frames = left < BLOCK ? left : BLOCK;
        // What a file lacks at its end is silence.
        for (sf_count_t at = sf_readf_float(mic, microphone, frames) * mic_info.channels; at < frames * mic_info.channels; at++)
            microphone[at] = 0;
        for (sf_count_t at = sf_readf_float(ref, played, frames) * ref_info.channels; at < frames * ref_info.channels; at++)
            played[at] = 0;
        dv_status status = dv_processor_run(processor, microphone, played, output, (size_t)frames);
        if (status) return fprintf(stderr, "%s\n", dv_status_text(status)), 70;
        // What is not known, as after a leap of the echo's delay, is a NaN.
        dv_processor_report report = {sizeof report};
        dv_processor_get_report(processor, &report);
        if (!isnan(report.echo_return_loss_enhancement))
            delay = report.echo_delay_ms, removed = report.echo_return_loss_enhancement;
        sf_count_t dropped = late < frames ? late : frames;
        sf_writef_float(out, output + dropped, frames - dropped);
        late -= (uint32_t)dropped;
        left -= frames;
    }
    if (isnan(removed))
        printf("no echo was found\n");
    else
        printf("echo after %.1f ms, %.1f dB of it removed\n", delay, removed);
    sf_close(mic), sf_close(ref);
    return dv_processor_destroy(processor) || sf_close(out);
}
