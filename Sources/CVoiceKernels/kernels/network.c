// The arithmetic of small neural networks.

#include "simd.h"

// Of numbers, by polynomials that a compiler makes vectors of; within a few units in the last place.

// 2^f, f from -0.5 to 0.5, by the polynomial of least relative error, 9e-8.
#define SERIES(f) (1 + (f) * (0.693146978f + (f) * (0.240222421f + (f) * (0.0555073374f + (f) * (0.00967151264f + (f) * 0.00132647272f)))))

VK_INLINE float power_of_two(float x, float most) {
    const float lower = x < -most ? -most : x, bounded = lower > most ? most : lower;
    // Added to 3 * 2^22 its nearest whole number stands in the last bits.
    const float magic = 12582912.0f;
    const union {
        float value;
        int32_t bits;
    } shifted = {.value = bounded + magic};
    const float f = bounded - (shifted.value - magic);
    const float series = SERIES(f);
    // Times 2^n: added to the exponent.
    const union {
        float value;
        uint32_t bits;
    } fraction = {.value = series};
    const union {
        uint32_t bits;
        float value;
    } scaled = {.bits = fraction.bits + ((uint32_t)shifted.bits << 23)};
    return scaled.value;
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

AT_LEVEL void KERNEL(vk_track_noise)(
    const vk_noise_rule *rule, const float *restrict power, float *restrict noise, float *restrict presence, size_t count) {
    const vk_noise_rule is = *rule;
    for (size_t k = 0; k < count; k++) {
        const float before = noise[k], heard = presence[k];
        const float speech = 1 / (1 + is.odds * power_of_two(-is.slope * (power[k] / before), 126));
        const float now = heard + is.presence_weight * (speech - heard);
        const float bounded = now > is.stuck && speech > is.stuck ? is.stuck : speech;
        const float next = before + is.noise_weight * (1 - bounded) * (power[k] - before);
        const int isHeld = power[k] < before * is.held;
        noise[k] = isHeld ? before : next;
        presence[k] = isHeld ? heard : now;
    }
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

// A vector of a row, and how many outputs of how many vectors are summed up at a time: as many sums as there are registers for, beside the
// vectors that they share.
#if VK_LEVEL == 4
typedef lanes16 row_vector;
typedef int32_t row_whole __attribute__((vector_size(64), aligned(4)));
enum { ROW_LANES = 16, TILE_OUTPUTS = 8, TILE_VECTORS = 2 };
#else
typedef lanes8 row_vector;
typedef int32_t row_whole __attribute__((vector_size(32), aligned(4)));
#if VK_LEVEL == 1 && defined(__x86_64__)
enum { ROW_LANES = 8, TILE_OUTPUTS = 4, TILE_VECTORS = 1 };
#else
enum { ROW_LANES = 8, TILE_OUTPUTS = 4, TILE_VECTORS = 3 };
#endif
#endif
enum { VECTORS = VK_BINS / ROW_LANES };  // and a bin
_Static_assert(VK_BINS == ROW_LANES * VECTORS + 1, "a bin is left behind whole vectors");

// `some` outputs from `first` on of `vectors` vectors of bins from `vector` on, so that a row of bins is loaded once for all of them.
VK_INLINE void bins_outputs(
    const float *weights, const float *bias, const float *input, size_t inputs, size_t reach, float *output, size_t outputs, int rectify,
    size_t first, const size_t some, size_t vector, const size_t vectors) {
    row_vector sums[TILE_OUTPUTS][TILE_VECTORS];
    const size_t k = VK_FIRST + ROW_LANES * vector;
    for (size_t v = 0; v < some; v++)
        for (size_t j = 0; j < vectors; j++) sums[v][j] = bias[first + v] - (row_vector){0};
    const float *row = weights + first;
    for (size_t shift = 0; shift < 2 * reach + 1; shift++) {
        const float *from = input + k + shift - reach;
        for (size_t i = 0; i < inputs; i++, row += outputs, from += VK_ROW) {
            row_vector values[TILE_VECTORS];
            for (size_t j = 0; j < vectors; j++) values[j] = *(const row_vector *)(from + ROW_LANES * j);
            for (size_t v = 0; v < some; v++)
                for (size_t j = 0; j < vectors; j++) sums[v][j] += row[v] * values[j];
        }
    }
    for (size_t v = 0; v < some; v++)
        for (size_t j = 0; j < vectors; j++)
            *(row_vector *)(output + (first + v) * VK_ROW + k + ROW_LANES * j) =
                rectify ? __builtin_elementwise_max(sums[v][j], (row_vector){0}) : sums[v][j];
}

// All outputs of the bin behind the whole vectors, whose vectors are of outputs.
VK_INLINE void last_bin(
    const float *weights, const float *bias, const float *input, size_t inputs, size_t reach, size_t outputs, float *made) {
    const float *const at = input + VK_FIRST + VK_BINS - 1 - reach;
    size_t first = 0;
    for (; first + VK_LANES <= outputs; first += VK_LANES) {
        lanes8 sum = LOAD(bias + first);
        const float *row = weights + first;
        for (size_t shift = 0; shift < 2 * reach + 1; shift++)
            for (size_t i = 0; i < inputs; i++, row += outputs) sum += at[shift + i * VK_ROW] * LOAD(row);
        STORE(made + first, sum);
    }
    for (; first < outputs; first++) {
        float sum = bias[first];
        const float *row = weights + first;
        for (size_t shift = 0; shift < 2 * reach + 1; shift++)
            for (size_t i = 0; i < inputs; i++, row += outputs) sum += at[shift + i * VK_ROW] * *row;
        made[first] = sum;
    }
}

AT_LEVEL void KERNEL(vk_bins_look)(
    const float *restrict features, size_t stride, const float *restrict mean, const float *restrict slope, const float *restrict own,
    size_t rows, float *restrict output, float *restrict sums) {
    for (size_t r = 0; r < rows; r++, features += stride, own += stride, output += VK_ROW)
        for (size_t k = 0; k < VK_BINS; k++) {
            const float value = (features[k] - mean[r]) * slope[r];
            output[VK_FIRST + k] = value;
            sums[k] += own[k] * value;
        }
}

VK_INLINE void some_outputs(
    const float *weights, const float *bias, const float *input, size_t inputs, size_t reach, float *output, size_t outputs, int rectify,
    size_t first, const size_t some) {
    size_t k = 0;
    for (; k + TILE_VECTORS <= VECTORS; k += TILE_VECTORS)
        bins_outputs(weights, bias, input, inputs, reach, output, outputs, rectify, first, some, k, TILE_VECTORS);
    if (k < VECTORS) bins_outputs(weights, bias, input, inputs, reach, output, outputs, rectify, first, some, k, VECTORS % TILE_VECTORS);
}

WIDE void KERNEL(vk_bins_dense)(
    const float *weights, const float *bias, const float *input, size_t inputs, size_t reach, float *output, size_t outputs, int rectify) {
    size_t first = 0;
    for (; first + TILE_OUTPUTS <= outputs; first += TILE_OUTPUTS)
        some_outputs(weights, bias, input, inputs, reach, output, outputs, rectify, first, TILE_OUTPUTS);
    for (; first < outputs; first++) some_outputs(weights, bias, input, inputs, reach, output, outputs, rectify, first, 1);
    float made[VK_MOST_OUTPUTS];
    last_bin(weights, bias, input, inputs, reach, outputs, made);
    for (size_t v = 0; v < outputs; v++)
        output[v * VK_ROW + VK_FIRST + VK_BINS - 1] = rectify && made[v] < 0 ? 0 : made[v];
}

// A layer with a memory.

// The bounds of powers of two here: of two of them the product is a number still.
static const float most_power = 60;

// Both functions over one divisor: with a = exp(-share) and b = exp(2 new), (1 / (1 + a)) ((b - 1) / (b + 1) - state). The exponents to the
// base of 2 come out of the layer.
#define FOLLOWED(state, a, b) ((state) + ((b) - 1 - (state) * ((b) + 1)) / ((1 + (a)) * (1 + (b))))

// power_of_two of a vector, in place.
VK_INLINE void powers_of_two(row_vector *x) {
    const row_vector least = -most_power - (row_vector){0}, most = most_power - (row_vector){0};
    const row_vector bounded = __builtin_elementwise_min(__builtin_elementwise_max(*x, least), most);
    const row_vector shifted = bounded + 12582912.0f, f = bounded - (shifted - 12582912.0f);
    const row_vector series = SERIES(f);
    *x = (row_vector)((row_whole)series + ((row_whole)shifted << 23));
}

// `some` units from `first` on, of `vectors` vectors of bins from `vector` on.
VK_INLINE void bins_memory(
    const float *weights, const float *bias, const float *input, size_t inputs, float *state, size_t units, size_t first, const size_t some,
    size_t vector, const size_t vectors) {
    row_vector share[TILE_OUTPUTS / 2][TILE_VECTORS], new[TILE_OUTPUTS / 2][TILE_VECTORS];
    const size_t k = VK_FIRST + ROW_LANES * vector;
    for (size_t v = 0; v < some; v++)
        for (size_t j = 0; j < vectors; j++) {
            share[v][j] = bias[first + v] - (row_vector){0};
            new[v][j] = bias[units + first + v] - (row_vector){0};
        }
    const float *of_share = weights + first, *of_new = of_share + units, *from = input + k;
    for (size_t i = 0; i < inputs; i++, of_share += 2 * units, of_new += 2 * units, from += VK_ROW) {
        row_vector values[TILE_VECTORS];
        for (size_t j = 0; j < vectors; j++) values[j] = *(const row_vector *)(from + ROW_LANES * j);
        for (size_t v = 0; v < some; v++) {
            for (size_t j = 0; j < vectors; j++) share[v][j] += of_share[v] * values[j];
            for (size_t j = 0; j < vectors; j++) new[v][j] += of_new[v] * values[j];
        }
    }
    for (size_t v = 0; v < some; v++)
        for (size_t j = 0; j < vectors; j++) {
            row_vector *const at = (row_vector *)(state + (first + v) * VK_ROW + k + ROW_LANES * j);
            powers_of_two(&share[v][j]);
            powers_of_two(&new[v][j]);
            *at = FOLLOWED(*at, share[v][j], new[v][j]);
        }
}

VK_INLINE void some_units(
    const float *weights, const float *bias, const float *input, size_t inputs, float *state, size_t units, size_t first,
    const size_t some) {
    size_t k = 0;
    for (; k + TILE_VECTORS <= VECTORS; k += TILE_VECTORS)
        bins_memory(weights, bias, input, inputs, state, units, first, some, k, TILE_VECTORS);
    if (k < VECTORS) bins_memory(weights, bias, input, inputs, state, units, first, some, k, VECTORS % TILE_VECTORS);
}

WIDE void KERNEL(vk_bins_memory)(const float *weights, const float *bias, const float *input, size_t inputs, float *state, size_t units) {
    enum { TOGETHER = TILE_OUTPUTS / 2 };
    size_t first = 0;
    for (; first + TOGETHER <= units; first += TOGETHER) some_units(weights, bias, input, inputs, state, units, first, TOGETHER);
    for (; first < units; first++) some_units(weights, bias, input, inputs, state, units, first, 1);
    float made[VK_MOST_OUTPUTS];
    last_bin(weights, bias, input, inputs, 0, 2 * units, made);
    float *const last = state + VK_FIRST + VK_BINS - 1;
    for (size_t u = 0; u < units; u++) {
        const float a = power_of_two(made[u], most_power), b = power_of_two(made[units + u], most_power);
        last[VK_ROW * u] = FOLLOWED(last[VK_ROW * u], a, b);
    }
}
