// Filters in the time domain.

#include "include/CVoiceKernels.h"
#include "simd.h"

VK_INLINE float dot(const float *a, const float *b, size_t count) {
    lanes8 first = {0}, second = {0};
    size_t n = 0;
    for (; n + 16 <= count; n += 16) {
        first += LOAD(a + n) * LOAD(b + n);
        second += LOAD(a + n + 8) * LOAD(b + n + 8);
    }
    const lanes8 both = first + second;
    float sum = SUM(both);
    for (; n < count; n++) sum += a[n] * b[n];
    return sum;
}

VK_CLONES float vk_dot(const float *a, const float *b, size_t count) { return dot(a, b, count); }

VK_CLONES void vk_fir(const float *input, size_t step, const float *taps, size_t tap_count, float *output, size_t count) {
    for (size_t i = 0; i < count; i++) output[i] = dot(input + i * step, taps, tap_count);
}

VK_CLONES void vk_fir_crossfade(
    const float *input, const float *old_taps, const float *new_taps, size_t tap_count, float *output, size_t count) {
    const lanes8 ramp = {0.5f, 1.5f, 2.5f, 3.5f, 4.5f, 5.5f, 6.5f, 7.5f};
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        lanes8 a = {0}, b = {0};
        for (size_t j = 0; j < tap_count; j++) {
            const lanes8 x = LOAD(input + i + j);
            a += old_taps[j] * x;
            b += new_taps[j] * x;
        }
        STORE(output + i, a + (ramp + (float)i) / (float)count * (b - a));
    }
    for (; i < count; i++) {
        const float a = dot(input + i, old_taps, tap_count), b = dot(input + i, new_taps, tap_count);
        output[i] = a + ((float)i + 0.5f) / (float)count * (b - a);
    }
}

VK_CLONES void vk_resample(
    const float *input, double start, double step, const float *rows, size_t phases, size_t tap_count, float *output, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const double position = start + (double)i * step;
        const ptrdiff_t whole = (ptrdiff_t)position;
        const double phase = (position - (double)whole) * (double)phases;
        const size_t row = (size_t)phase;
        const float between = (float)(phase - (double)row);
        const float *a = rows + row * tap_count, *b = a + tap_count;
        const float *x = input + whole - (ptrdiff_t)(tap_count / 2) + 1;
        lanes8 sum = {0};
        for (size_t j = 0; j < tap_count; j += 8) {
            const lanes8 low = LOAD(a + j);
            sum += LOAD(x + j) * (low + between * (LOAD(b + j) - low));
        }
        output[i] = SUM(sum);
    }
}
