#include "samples.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define FULL_SCALE_S16 32768.0
#define FULL_SCALE_S32 2147483648.0

/// Where a channel's sample of frame `offset` is, and how far apart two are, in bytes.
static char *place(const snd_pcm_channel_area_t *area, snd_pcm_uframes_t offset, size_t *step) {
    *step = area->step / 8;
    return (char *)area->addr + area->first / 8 + offset * *step;
}

static float decode(snd_pcm_format_t format, const char *at) {
    int16_t s16;
    int32_t s32;
    float sample;
    switch (format) {
    case SND_PCM_FORMAT_S16_LE: memcpy(&s16, at, sizeof s16); return (float)s16 / (float)FULL_SCALE_S16;
    case SND_PCM_FORMAT_S32_LE: memcpy(&s32, at, sizeof s32); return (float)(s32 / FULL_SCALE_S32);
    default: memcpy(&sample, at, sizeof sample); return sample;
    }
}

static double whole(float sample, double full_scale) {
    double value = rint(sample * full_scale);
    if (!(value >= -full_scale)) return -full_scale; // also what is no number
    return value > full_scale - 1 ? full_scale - 1 : value;
}

static void encode(snd_pcm_format_t format, float sample, char *at) {
    int16_t s16;
    int32_t s32;
    switch (format) {
    case SND_PCM_FORMAT_S16_LE:
        s16 = (int16_t)whole(sample, FULL_SCALE_S16);
        memcpy(at, &s16, sizeof s16);
        break;
    case SND_PCM_FORMAT_S32_LE:
        s32 = (int32_t)whole(sample, FULL_SCALE_S32);
        memcpy(at, &s32, sizeof s32);
        break;
    default: memcpy(at, &sample, sizeof sample);
    }
}

void vc_samples_take(const vc_sample_layout *layout, const snd_pcm_channel_area_t *areas, snd_pcm_uframes_t offset,
    int count, float *mixed) {
    memset(mixed, 0, (size_t)count * sizeof *mixed);
    for (unsigned channel = 0; channel < layout->channels; channel++) {
        size_t step;
        const char *at = place(&areas[channel], offset, &step);
        for (int i = 0; i < count; i++, at += step) mixed[i] += decode(layout->format, at);
    }
    if (layout->channels > 1)
        for (int i = 0; i < count; i++) mixed[i] /= (float)layout->channels;
}

void vc_samples_give(const vc_sample_layout *layout, const snd_pcm_channel_area_t *areas, snd_pcm_uframes_t offset,
    int count, const float *heard) {
    for (unsigned channel = 0; channel < layout->channels; channel++) {
        size_t step;
        char *at = place(&areas[channel], offset, &step);
        for (int i = 0; i < count; i++, at += step) encode(layout->format, heard[i], at);
    }
}
