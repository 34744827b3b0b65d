// The arithmetic of small neural networks.

#include <string.h>

#include "products.h"
#include "simd.h"

// Of numbers, by polynomials that a compiler makes vectors of; within a few units in the last place.

// 2^f, f from -0.5 to 0.5, by the polynomial of least relative error, 9e-8.
#define SERIES(f) (1 + (f) * (0.693146978f + (f) * (0.240222421f + (f) * (0.0555073374f + (f) * (0.00967151264f + (f) * 0.00132647272f)))))

VK_INLINE float power_of_two(float x, float most) {
    const float lower = x < -most ? -most : x, bounded = lower > most ? most : lower;
    const float magic = WHOLE_IN_BITS(0);
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

// How many outputs of how many vectors of bins are summed up at a time: as many sums as there are registers for, beside what they share.
enum { TILE_OUTPUTS = VK_LEVEL == 4 ? 8 : 4, TILE_VECTORS = VK_LEVEL == 3 ? 3 : 2 };
enum { VECTORS = VK_BINS / SUM_LANES };  // and a bin
_Static_assert(VK_BINS == SUM_LANES * VECTORS + 1, "a bin is left behind whole vectors");

// A layer, its inputs rounded: a row of fours for each four of them. A sum's step is what `step` says of its output.
typedef struct {
    const int8_t *weights;
    const int32_t *start;
    const float *step, *bias;
    const uint8_t *input;
    size_t fours, reach, outputs;
    float *output;
    int isRectified;
} bins_layer;

// Four inputs of the bin behind the whole vectors.
VK_INLINE const uint8_t *last_bin(const bins_layer *of, size_t shift, size_t four) {
    return of->input + 4 * (four * VK_ROW + VK_FIRST + VK_BINS - 1 + shift - of->reach);
}

// The bounds of powers of two here: of four of them the product is a number still.
static const float most_power = 30;

// What is added to a memory, with a = exp(-share) and c = 1 + exp(2 new): 1 / (1 + a) (1 - 2 / c - state), over one divisor. The exponents to
// the base of 2 come out of the layer.
#define DIVIDEND(state, c) ((1 - (state)) * (c) - 2)
#define DIVISOR(a, c) ((c) + (a) * (c))

// 2^x of a vector, within 3e-6 of itself, in place.
AT_LEVEL VK_INLINE void powers_of_two(sum_floats *x) {
    const sum_floats most = most_power - (sum_floats){0};
#if VK_LEVEL == 4
    // The smaller magnitude, with x's sign: one instruction instead of two.
    const sum_floats bounded = (sum_floats)_mm512_range_ps((__m512)*x, (__m512)most, 2);
#else
    const sum_floats bounded = __builtin_elementwise_min(__builtin_elementwise_max(*x, -most), most);
#endif
    const sum_floats shifted = bounded + WHOLE_IN_BITS(0), f = bounded - (shifted - WHOLE_IN_BITS(0));
    const sum_floats series = 0.99999926f + f * (0.69312181f + f * (0.24024745f + f * (0.05591786f + f * 0.0095701f)));
    *x = (sum_floats)((sum_whole)series + ((sum_whole)shifted << 23));
}

// What the memories of one unit become, from the exponents of `vectors` vectors of bins. A division takes as long as eight multiplications:
// two vectors share one. Of three the product might be no number.
AT_LEVEL VK_INLINE void remember(sum_floats *state, sum_floats *share, sum_floats *new, const size_t vectors) {
    sum_floats divisor[TILE_VECTORS];
    for (size_t j = 0; j < vectors; j++) {
        powers_of_two(&share[j]);
        powers_of_two(&new[j]);
        new[j] += 1;
        divisor[j] = DIVISOR(share[j], new[j]);
    }
    if (vectors == 2) {
        const sum_floats all = 1 / (divisor[0] * divisor[1]);
        for (size_t j = 0; j < 2; j++) state[j] += DIVIDEND(state[j], new[j]) * (all * divisor[1 - j]);
        return;
    }
    for (size_t j = 0; j < vectors; j++) state[j] += DIVIDEND(state[j], new[j]) / divisor[j];
}

#define TEMPLATE "bins-outputs.h"
#include "kinds.h"

// Rows of inputs as rows of fours of bytes, the largest VK_MOST_WHOLE from VK_INPUT_ZERO, and what one of their steps is.
WIDE static float round_rows(const float *input, size_t inputs, uint8_t *rounded) {
    sum_whole largest[4] = {0};
    for (size_t k = 0; k < inputs * VK_ROW; k += 4 * SUM_LANES)
        for (size_t v = 0; v < 4; v++)
            largest[v] = __builtin_elementwise_max(largest[v], *(const sum_whole *)(input + k + v * SUM_LANES) & INT32_MAX);
    const union {
        int32_t bits;
        float value;
    } most = {__builtin_reduce_max(
        __builtin_elementwise_max(__builtin_elementwise_max(largest[0], largest[1]), __builtin_elementwise_max(largest[2], largest[3])))};
    const float scale = most.value > 0 ? VK_MOST_WHOLE / most.value : 0;
    for (size_t i = 0; i < inputs; i += 4, rounded += 4 * VK_ROW) {
        const float *rows[4];
        float scales[4];
        for (size_t r = 0; r < 4; r++) {
            const int isThere = i + r < inputs;
            rows[r] = input + (isThere ? i + r : i) * VK_ROW;
            scales[r] = isThere ? scale : 0;
        }
        for (size_t k = 0; k < VK_ROW; k += SUM_LANES) {
            sum_bits fours = {0};
            for (size_t r = 0; r < 4; r++) {
                const sum_floats whole = *(const sum_floats *)(rows[r] + k) * scales[r] + WHOLE_IN_BITS(VK_INPUT_ZERO);
                fours |= ((sum_bits)whole & 0xff) << 8 * r;
            }
            *(sum_bits *)(rounded + 4 * k) = fours;
        }
    }
    return most.value / VK_MOST_WHOLE;
}

// All bins but the last one, of which it writes what the layer is before its function.
AT_LEVEL static void run_layer(
    const int hasMemory, const int8_t *weights, const int32_t *start, const float *scale, const float *bias, const float *input, size_t inputs,
    size_t reach, float *output, size_t outputs, int isRectified, float *made) {
    uint8_t rounded[VK_MOST_BIN_INPUTS * VK_ROW];
    const float unit = round_rows(input, inputs, rounded);
    float steps[VK_MOST_OUTPUTS];
    for (size_t v = 0; v < outputs; v++) steps[v] = scale[v] * unit;
    const bins_layer of = {weights, start, steps, bias, rounded, (inputs + 3) / 4, reach, outputs, output, isRectified};
    int32_t last[VK_MOST_OUTPUTS];
    CHOSEN(bins)(&of, hasMemory, last);
    for (size_t v = 0; v < outputs; v++) made[v] = bias[v] + steps[v] * (float)last[v];
}

AT_LEVEL void KERNEL(vk_bins_dense)(
    const int8_t *weights, const int32_t *start, const float *scale, const float *bias, const float *input, size_t inputs, size_t reach,
    float *output, size_t outputs, int rectify) {
    float made[VK_MOST_OUTPUTS];
    run_layer(0, weights, start, scale, bias, input, inputs, reach, output, outputs, rectify, made);
    for (size_t v = 0; v < outputs; v++)
        output[v * VK_ROW + VK_FIRST + VK_BINS - 1] = rectify && made[v] < 0 ? 0 : made[v];
}

AT_LEVEL void KERNEL(vk_bins_memory)(
    const int8_t *weights, const int32_t *start, const float *scale, const float *bias, const float *input, size_t inputs, float *state,
    size_t units) {
    float made[VK_MOST_OUTPUTS];
    run_layer(1, weights, start, scale, bias, input, inputs, 0, state, 2 * units, 0, made);
    float *const last = state + VK_FIRST + VK_BINS - 1;
    for (size_t v = 0; v < 2 * units; v++) made[v] = power_of_two(made[v], most_power);
    for (size_t u = 0; u < units; u++) {
        const float a = made[2 * u], c = 1 + made[2 * u + 1];
        last[VK_ROW * u] += DIVIDEND(last[VK_ROW * u], c) / DIVISOR(a, c);
    }
}
