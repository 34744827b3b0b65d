// The arithmetic of small neural networks.

#include "simd.h"

// Of numbers, by polynomials that a compiler makes vectors of; within a few units in the last place.

VK_INLINE float power_of_two(float x, float most) {
    const float lower = x < -most ? -most : x, bounded = lower > most ? most : lower;
    // Added to 3 * 2^22 its nearest whole number stands in the last bits.
    const float magic = 12582912.0f;
    const union {
        float value;
        int32_t bits;
    } shifted = {.value = bounded + magic};
    // 2^f of what is left, -0.5 to 0.5, by the polynomial of least relative error, 9e-8.
    const float f = bounded - (shifted.value - magic);
    const float series = 1 + f * (0.693146978f + f * (0.240222421f + f * (0.0555073374f + f * (0.00967151264f + f * 0.00132647272f))));
    const union {
        uint32_t bits;
        float value;
    } scale = {.bits = ((uint32_t)shifted.bits + 127) << 23};
    return series * scale.value;
}

VK_INLINE float logistic(float x) { return 1 / (1 + power_of_two(-1.44269504f * x, 126)); }

VK_INLINE float hyperbolic_tangent(float x) { return 1 - 2 / (1 + power_of_two(2 * 1.44269504f * x, 126)); }

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

AT_LEVEL void KERNEL(vk_logistic)(float *values, size_t count) {
    for (size_t i = 0; i < count; i++) values[i] = logistic(values[i]);
}

AT_LEVEL void KERNEL(vk_hyperbolic_tangent)(float *values, size_t count) {
    for (size_t i = 0; i < count; i++) values[i] = hyperbolic_tangent(values[i]);
}

AT_LEVEL void KERNEL(vk_common_logarithm)(float *values, float least, size_t count) {
    for (size_t i = 0; i < count; i++) values[i] = common_logarithm(values[i] + least);
}

AT_LEVEL void KERNEL(vk_power)(float *values, float exponent, size_t count) {
    for (size_t i = 0; i < count; i++) values[i] = power_of_two(3.32192809f * exponent * common_logarithm(values[i]), 126);
}

AT_LEVEL void KERNEL(vk_relative)(float *values, const float *to, float most, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const float difference = values[i] - to[i];
        const float bounded = difference < -most ? -most : difference;
        values[i] = bounded > most ? most : bounded;
    }
}

AT_LEVEL void KERNEL(vk_gated_unit)(const float *of_input, const float *of_state, float *state, size_t units) {
    for (size_t u = 0; u < units; u++) {
        const float reset = logistic(of_input[u] + of_state[u]);
        const float keep = logistic(of_input[units + u] + of_state[units + u]);
        const float new = hyperbolic_tangent(of_input[2 * units + u] + reset * of_state[2 * units + u]);
        state[u] = new + keep * (state[u] - new);
    }
}

AT_LEVEL void KERNEL(vk_each_bin)(
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

// The networks that are the same for each bin: rows of VK_ROW numbers, bin 0 at VK_FIRST, and zeros where there is no bin.

enum { VECTORS = VK_BINS / 16 };  // and a bin
_Static_assert(VK_BINS == 16 * VECTORS + 1, "a bin is left behind whole vectors");

// `some` outputs from `first` on of `vectors` vectors of bins from `vector` on, so that a row of bins is loaded once for all of them.
VK_INLINE void bins_outputs(
    const float *weights, const float *bias, const float *input, size_t inputs, size_t reach, float *output, size_t outputs, int rectify,
    size_t first, const size_t some, size_t vector, const size_t vectors) {
    lanes16 sums[8][2];
    const size_t k = VK_FIRST + 16 * vector;
    for (size_t v = 0; v < some; v++)
        for (size_t j = 0; j < vectors; j++) sums[v][j] = bias[first + v] - (lanes16){0};
    const float *row = weights + first;
    for (size_t shift = 0; shift < 2 * reach + 1; shift++) {
        const float *from = input + k + shift - reach;
        for (size_t i = 0; i < inputs; i++, row += outputs, from += VK_ROW) {
            lanes16 values[2];
            for (size_t j = 0; j < vectors; j++) values[j] = *(const lanes16 *)(from + 16 * j);
            for (size_t v = 0; v < some; v++)
                for (size_t j = 0; j < vectors; j++) sums[v][j] += row[v] * values[j];
        }
    }
    for (size_t v = 0; v < some; v++)
        for (size_t j = 0; j < vectors; j++)
            *(lanes16 *)(output + (first + v) * VK_ROW + k + 16 * j) =
                rectify ? __builtin_elementwise_max(sums[v][j], (lanes16){0}) : sums[v][j];
}

// The bin behind the whole vectors, whose vectors are of outputs.
VK_INLINE void last_bin(
    const float *weights, const float *bias, const float *input, size_t inputs, size_t reach, float *output, size_t outputs, int rectify) {
    const float *const at = input + VK_FIRST + VK_BINS - 1 - reach;
    size_t first = 0;
    for (; first + VK_LANES <= outputs; first += VK_LANES) {
        lanes8 sum = LOAD(bias + first);
        const float *row = weights + first;
        for (size_t shift = 0; shift < 2 * reach + 1; shift++)
            for (size_t i = 0; i < inputs; i++, row += outputs) sum += at[shift + i * VK_ROW] * LOAD(row);
        if (rectify) sum = __builtin_elementwise_max(sum, (lanes8){0});
        for (size_t v = 0; v < VK_LANES; v++) output[(first + v) * VK_ROW + VK_FIRST + VK_BINS - 1] = sum[v];
    }
    for (; first < outputs; first++) {
        float sum = bias[first];
        const float *row = weights + first;
        for (size_t shift = 0; shift < 2 * reach + 1; shift++)
            for (size_t i = 0; i < inputs; i++, row += outputs) sum += at[shift + i * VK_ROW] * *row;
        output[first * VK_ROW + VK_FIRST + VK_BINS - 1] = rectify && sum < 0 ? 0 : sum;
    }
}

// As many sums at a time as there are registers for.
WIDE static void bins_wide(
    const float *weights, const float *bias, const float *input, size_t inputs, size_t reach, float *output, size_t outputs, int rectify) {
    size_t first = 0;
    for (; first + 8 <= outputs; first += 8)
        for (size_t k = 0; k < VECTORS; k += 2)
            bins_outputs(weights, bias, input, inputs, reach, output, outputs, rectify, first, 8, k, 2);
    for (; first < outputs; first++)
        for (size_t k = 0; k < VECTORS; k += 2)
            bins_outputs(weights, bias, input, inputs, reach, output, outputs, rectify, first, 1, k, 2);
    last_bin(weights, bias, input, inputs, reach, output, outputs, rectify);
}

AT_LEVEL static void bins_narrow(
    const float *weights, const float *bias, const float *input, size_t inputs, size_t reach, float *output, size_t outputs, int rectify) {
    size_t first = 0;
    for (; first + 4 <= outputs; first += 4)
        for (size_t k = 0; k < VECTORS; k++)
            bins_outputs(weights, bias, input, inputs, reach, output, outputs, rectify, first, 4, k, 1);
    for (; first < outputs; first++)
        for (size_t k = 0; k < VECTORS; k++)
            bins_outputs(weights, bias, input, inputs, reach, output, outputs, rectify, first, 1, k, 1);
    last_bin(weights, bias, input, inputs, reach, output, outputs, rectify);
}

void KERNEL(vk_bins_dense)(
    const float *weights, const float *bias, const float *input, size_t inputs, size_t reach, float *output, size_t outputs, int rectify) {
    if (IS_WIDE) return bins_wide(weights, bias, input, inputs, reach, output, outputs, rectify);
    bins_narrow(weights, bias, input, inputs, reach, output, outputs, rectify);
}

// Both functions over one divisor: with a = exp(-share) and b = exp(2 new), (1 / (1 + a)) ((b - 1) / (b + 1) - state).
VK_INLINE float follow(float share, float new, float state) {
    const float a = power_of_two(-1.44269504f * share, 60), b = power_of_two(2 * 1.44269504f * new, 60);
    return state + (b - 1 - state * (b + 1)) / ((1 + a) * (1 + b));
}

AT_LEVEL void KERNEL(vk_bins_follow)(const float *driven, float *state, size_t units) {
    for (size_t u = 0; u < units; u++) {
        const float *share = driven + u * VK_ROW + VK_FIRST, *new = driven + (units + u) * VK_ROW + VK_FIRST;
        float *row = state + u * VK_ROW + VK_FIRST;
        for (size_t k = 0; k < VK_PADDED_BINS; k++) row[k] = follow(share[k], new[k], row[k]);
    }
}
