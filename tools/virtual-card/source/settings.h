// The settings of a card, as they come from the ALSA configuration: `vcard:ID=a,PPM_CAPTURE=300` or a pcm definition.
#pragma once

#include <alsa/asoundlib.h>
#include <limits.h>
#include <stdbool.h>

/// README.md explains each.
typedef struct {
    // The card
    const char *space, *id;
    long rate, is_virtual;
    double ppm_playback, ppm_capture;
    // From the speaker to the microphone
    long delay_frames;
    double gain;
    const char *room;
    const char *near;
    double near_gain;
    long near_repeat;
    // Hardware's ways
    const char *formats, *channels;
    long period_frames, period_min, period_max, buffer_max;
    long granule_frames, interrupts;
    long jitter_us, seed;
    long setup_error, setup_error_bits;
    long start_delay_ms;
    // Mishaps, by card time since the stream's first start
    double unplug_after_s, replug_after_s;
    double stall_after_s;
    long stall_ms;
    double xrun_after_s;
    long xrun_at_write;
    double jump_after_s;
    long jump_frames;
} vc_settings;

/// Reads and checks them all. 0, or -EINVAL after an error line that says what is wrong and what is allowed. The texts
/// are the settings' own; free them with vc_settings_free.
int vc_settings_read(vc_settings *settings, snd_config_t *configuration);
void vc_settings_free(vc_settings *settings);
