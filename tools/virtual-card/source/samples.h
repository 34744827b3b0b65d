// Between the program's samples and the card's, which are mono and floating: full scale is 1.
//
// The speaker plays the mean of its channels; the microphone gives all channels the same. Sixteen bits, and the upper
// twenty-four of thirty-two, come through unchanged.
#pragma once

#include <alsa/asoundlib.h>

typedef struct {
    snd_pcm_format_t format;
    unsigned channels;
} vc_sample_layout;

/// The program's frames from `offset` on, mixed. Real-time safe, as the other.
void vc_samples_take(const vc_sample_layout *layout, const snd_pcm_channel_area_t *areas, snd_pcm_uframes_t offset,
    int count, float *mixed);
void vc_samples_give(const vc_sample_layout *layout, const snd_pcm_channel_area_t *areas, snd_pcm_uframes_t offset,
    int count, const float *heard);
