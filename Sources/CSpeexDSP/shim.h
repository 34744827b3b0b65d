#pragma once

#include <speex/speex_echo.h>
#include <speex/speex_preprocess.h>
#include <speex/speex_resampler.h>
#include <stdint.h>

/// Converts one channel; `*input_count` and `*output_count` hold what there is and then what was used. Real-time safe:
/// since the rates and the quality are set once at the start, this is arithmetic on memory that was allocated then
/// (speexdsp 1.2, resample.c: only speex_resampler_init and update_filter allocate, and nothing locks).
static inline void dv_resample(
    SpeexResamplerState *state, const float *input, uint32_t *input_count, float *output, uint32_t *output_count)
    __attribute__((swift_attr("@_noLocks"))) __attribute__((swift_attr("@_noAllocation")));
static inline void dv_resample(
    SpeexResamplerState *state, const float *input, uint32_t *input_count, float *output, uint32_t *output_count) {
    speex_resampler_process_float(state, 0, input, input_count, output, output_count);
}

/// Forgets the past: the next output lies exactly at the next input. Real-time safe: it writes zeros into memory that
/// is there (speexdsp 1.2, resample.c: speex_resampler_reset_mem and speex_resampler_skip_zeros).
static inline void dv_resampler_reset(SpeexResamplerState *state) __attribute__((swift_attr("@_noLocks")))
__attribute__((swift_attr("@_noAllocation")));
static inline void dv_resampler_reset(SpeexResamplerState *state) {
    speex_resampler_reset_mem(state);
    speex_resampler_skip_zeros(state);
}
