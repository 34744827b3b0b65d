// The arithmetic of small neural networks.

#include "include/CVoiceKernels.h"
#include "simd.h"

typedef int8_t bytes8 __attribute__((vector_size(8), aligned(1)));
typedef int8_t bytes16 __attribute__((vector_size(16), aligned(1)));
typedef float lanes16 __attribute__((vector_size(64), aligned(4)));
#define LOAD_BYTES(at) __builtin_convertvector(*(const bytes8 *)(at), lanes8)
#define LOAD_BYTES16(at) __builtin_convertvector(*(const bytes16 *)(at), lanes16)

// Of numbers, by polynomials that a compiler makes vectors of; within a few units in the last place.

VK_INLINE float power_of_two(float x) {
    const float bounded = x < -126.0f ? -126.0f : x > 126.0f ? 126.0f : x;
    const int32_t whole = (int32_t)(bounded + (bounded < 0 ? -0.5f : 0.5f));
    // exp(f ln 2) of what is left, by its series as far as x^7 / 5040 < 1.2e-7
    const float f = (bounded - (float)whole) * 0.693147181f;
    const float series = 1 + f * (1 + f * (1.0f / 2 + f * (1.0f / 6 + f * (1.0f / 24 + f * (1.0f / 120 + f * (1.0f / 720))))));
    const union {
        int32_t bits;
        float value;
    } scale = {.bits = (whole + 127) << 23};
    return series * scale.value;
}

VK_INLINE float logistic(float x) { return 1 / (1 + power_of_two(-1.44269504f * x)); }

VK_INLINE float hyperbolic_tangent(float x) { return 1 - 2 / (1 + power_of_two(2 * 1.44269504f * x)); }

VK_INLINE float common_logarithm(float x) {
    const union {
        float value;
        int32_t bits;
    } number = {.value = x};
    // From half the square root of 2 to its root, and the power of two that it was divided by.
    const int32_t above = number.bits - 0x3f3504f3;
    const int32_t whole = above >> 23;
    const union {
        int32_t bits;
        float value;
    } rest = {.bits = (above & 0x7fffff) + 0x3f3504f3};
    const float t = (rest.value - 1) / (rest.value + 1), s = t * t;
    const float natural = 2 * t * (1 + s * (1.0f / 3 + s * (1.0f / 5 + s * (1.0f / 7 + s * (1.0f / 9)))));
    return 0.434294482f * natural + 0.301029996f * (float)whole;
}

VK_CLONES void vk_logistic(float *values, size_t count) {
    for (size_t i = 0; i < count; i++) values[i] = logistic(values[i]);
}

VK_CLONES void vk_hyperbolic_tangent(float *values, size_t count) {
    for (size_t i = 0; i < count; i++) values[i] = hyperbolic_tangent(values[i]);
}

VK_CLONES void vk_common_logarithm(float *values, float least, size_t count) {
    for (size_t i = 0; i < count; i++) values[i] = common_logarithm(values[i] + least);
}

VK_CLONES void vk_power(float *values, float exponent, size_t count) {
    for (size_t i = 0; i < count; i++) values[i] = power_of_two(3.32192809f * exponent * common_logarithm(values[i]));
}

VK_CLONES void vk_relative(float *values, const float *to, float most, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const float difference = values[i] - to[i];
        const float bounded = difference < -most ? -most : difference;
        values[i] = bounded > most ? most : bounded;
    }
}

VK_CLONES void vk_gated_unit(const float *of_input, const float *of_state, float *state, size_t units) {
    for (size_t u = 0; u < units; u++) {
        const float reset = logistic(of_input[u] + of_state[u]);
        const float keep = logistic(of_input[units + u] + of_state[units + u]);
        const float new = hyperbolic_tangent(of_input[2 * units + u] + reset * of_state[2 * units + u]);
        state[u] = new + keep * (state[u] - new);
    }
}

// `together` vectors of outputs from `first` on, so that an input is loaded once for all of them and no sum waits for another.
VK_INLINE void dense_outputs(
    const int8_t *weights, const float *scale, const float *bias, const float *input, size_t inputs, float *output, size_t outputs,
    size_t first, const size_t together) {
    lanes16 sums[4] = {{0}};
    for (size_t i = 0; i < inputs; i++)
        for (size_t v = 0; v < together; v++) sums[v] += input[i] * LOAD_BYTES16(weights + i * outputs + first + v * 16);
    for (size_t v = 0; v < together; v++) {
        const size_t at = first + v * 16;
        *(lanes16 *)(output + at) = *(const lanes16 *)(bias + at) + *(const lanes16 *)(scale + at) * sums[v];
    }
}

VK_CLONES void vk_dense(
    const int8_t *weights, const float *scale, const float *bias, const float *input, size_t inputs, float *output, size_t outputs) {
    size_t first = 0;
    for (; first + 64 <= outputs; first += 64) dense_outputs(weights, scale, bias, input, inputs, output, outputs, first, 4);
    for (; first + 32 <= outputs; first += 32) dense_outputs(weights, scale, bias, input, inputs, output, outputs, first, 2);
    for (; first < outputs; first += VK_LANES) {
        lanes8 sum = {0};
        for (size_t i = 0; i < inputs; i++) sum += input[i] * LOAD_BYTES(weights + i * outputs + first);
        STORE(output + first, LOAD(bias + first) + LOAD(scale + first) * sum);
    }
}

VK_CLONES void vk_each_bin(
    const float *features, size_t rows, const float *own, const float *weights, const float *bias, const float *exit, size_t units,
    float *output, size_t bins) {
    enum { TOGETHER = 4 };  // units, so that a feature is loaded once for all of them and no sum waits for another
    for (size_t k = 0; k < bins; k += VK_LANES) {
        lanes8 sum = LOAD(output + k);
        for (size_t r = 0; r < rows; r++) sum += LOAD(own + r * bins + k) * LOAD(features + r * bins + k);
        size_t u = 0;
        for (; u + TOGETHER <= units; u += TOGETHER) {
            lanes8 active[TOGETHER];
            for (size_t v = 0; v < TOGETHER; v++) active[v] = bias[u + v] - (lanes8){0};
            for (size_t r = 0; r < rows; r++) {
                const lanes8 feature = LOAD(features + r * bins + k);
                for (size_t v = 0; v < TOGETHER; v++) active[v] += weights[r * units + u + v] * feature;
            }
            for (size_t v = 0; v < TOGETHER; v++) sum += exit[u + v] * __builtin_elementwise_max(active[v], (lanes8){0});
        }
        for (; u < units; u++) {
            lanes8 active = bias[u] - (lanes8){0};
            for (size_t r = 0; r < rows; r++) active += weights[r * units + u] * LOAD(features + r * bins + k);
            sum += exit[u] * __builtin_elementwise_max(active, (lanes8){0});
        }
        STORE(output + k, sum);
    }
}

// The networks that are the same for each bin: rows of VK_ROW numbers, of which VK_PADDED_BINS from VK_FIRST on are computed and those
// that stand for no bin are zero.

// `some` outputs from `first` on, so that a row of bins is loaded once for all of them.
VK_INLINE void bins_outputs(
    const float *weights, const float *bias, const float *input, size_t inputs, size_t reach, float *output, size_t outputs, int rectify,
    size_t first, const size_t some) {
    for (size_t k = VK_FIRST; k < VK_FIRST + VK_PADDED_BINS; k += 16) {
        lanes16 sums[4];
        for (size_t v = 0; v < some; v++) sums[v] = bias[first + v] - (lanes16){0};
        const float *row = weights + first;
        for (size_t shift = 0; shift < 2 * reach + 1; shift++) {
            const float *from = input + k + shift - reach;
            for (size_t i = 0; i < inputs; i++, row += outputs, from += VK_ROW) {
                const lanes16 value = *(const lanes16 *)from;
                for (size_t v = 0; v < some; v++) sums[v] += row[v] * value;
            }
        }
        for (size_t v = 0; v < some; v++)
            *(lanes16 *)(output + (first + v) * VK_ROW + k) = rectify ? __builtin_elementwise_max(sums[v], (lanes16){0}) : sums[v];
    }
}

VK_CLONES void vk_bins_dense(
    const float *weights, const float *bias, const float *input, size_t inputs, size_t reach, float *output, size_t outputs, int rectify) {
    enum { TOGETHER = 4 };
    size_t first = 0;
    for (; first + TOGETHER <= outputs; first += TOGETHER)
        bins_outputs(weights, bias, input, inputs, reach, output, outputs, rectify, first, TOGETHER);
    for (; first < outputs; first++) bins_outputs(weights, bias, input, inputs, reach, output, outputs, rectify, first, 1);
    for (size_t u = 0; u < outputs; u++)
        for (size_t k = VK_FIRST + VK_BINS; k < VK_FIRST + VK_PADDED_BINS; k++) output[u * VK_ROW + k] = 0;
}

VK_CLONES void vk_bins_follow(const float *driven, float *state, size_t units) {
    for (size_t u = 0; u < units; u++) {
        const float *share = driven + u * VK_ROW + VK_FIRST, *new = driven + (units + u) * VK_ROW + VK_FIRST;
        float *row = state + u * VK_ROW + VK_FIRST;
        for (size_t k = 0; k < VK_PADDED_BINS; k++) row[k] += logistic(share[k]) * (hyperbolic_tangent(new[k]) - row[k]);
        for (size_t k = VK_BINS; k < VK_PADDED_BINS; k++) row[k] = 0;
    }
}
