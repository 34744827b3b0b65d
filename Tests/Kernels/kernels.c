// Every kernel of CVoiceKernels beside plain loops in double precision. tools/test-kernels runs this at each level of the processor.
//
// Prints how far each is from its definition, relative to the largest number of the result, and returns 1 where one is too far.

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CVoiceKernels.h"

enum { FRAMES = VK_FRAMES, BINS = VK_BINS, MOST = 64 * 1024 };

static int failures;
static uint64_t seed = 1;

// Numbers of SplitMix64, from -1 to 1.
static float number(void) {
    uint64_t z = (seed += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (float)((double)((z ^ (z >> 31)) >> 11) / (1ull << 52) - 1);
}

static float *numbers(size_t count) {
    float *const values = aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64);
    for (size_t i = 0; i < count; i++) values[i] = number();
    return values;
}

static void expect(const char *what, const float *found, const double *expected, size_t count, double tolerance) {
    double worst = 0, largest = 1e-30;
    for (size_t i = 0; i < count; i++) {
        const double difference = fabs(found[i] - expected[i]);
        // One that is no number is never close.
        if (!(difference <= worst)) worst = difference;
        if (fabs(expected[i]) > largest) largest = fabs(expected[i]);
    }
    const int isClose = worst / largest <= tolerance;
    if (!isClose) failures++;
    printf("%s %-40s %.1e of %.0e\n", isClose ? "  " : "! ", what, worst / largest, tolerance);
}

static double wanted[2 * MOST], also[2 * MOST];

// X[k] of a signal whose frames are `step` apart.
static void spectrum(const float *signal, size_t step, double *real, double *imaginary) {
    for (int k = 0; k < BINS; k++) {
        real[k] = imaginary[k] = 0;
        for (int n = 0; n < FRAMES; n++) {
            const double angle = 2 * M_PI * (k * n % FRAMES) / FRAMES;
            real[k] += signal[(size_t)n * step] * cos(angle);
            imaginary[k] -= signal[(size_t)n * step] * sin(angle);
        }
    }
}

// Frame n of the signal whose spectrum's bins are `step` apart.
static double frame(const float *real, const float *imaginary, size_t step, int n) {
    double sum = 0;
    for (int k = 0; k < BINS; k++) {
        const double angle = 2 * M_PI * (k * n % FRAMES) / FRAMES;
        const double pair = real[(size_t)k * step] * cos(angle) - imaginary[(size_t)k * step] * sin(angle);
        sum += (k == 0 || k == BINS - 1 ? 1 : 2) * pair;
    }
    return sum / FRAMES;
}

// Bins 0 and the last of a real signal's spectrum are real.
static void make_real_signals(float *imaginary, size_t lanes) {
    for (size_t l = 0; l < lanes; l++) imaginary[l] = imaginary[(BINS - 1) * lanes + l] = 0;
}

static void transforms(void) {
    float tables[VK_ALONE_TABLES], real[BINS], imaginary[BINS], back[FRAMES], windowed[FRAMES];
    vk_prepare_alone(tables);
    float *const signal = numbers(FRAMES), *const window = numbers(FRAMES);
    for (int n = 0; n < FRAMES; n++) windowed[n] = signal[n] * window[n];
    for (int isWindowed = 0; isWindowed < 2; isWindowed++) {
        spectrum(isWindowed ? windowed : signal, 1, wanted, also);
        vk_forward_alone(tables, signal, isWindowed ? window : NULL, real, imaginary);
        expect("vk_forward_alone, real", real, wanted, BINS, 1e-6);
        expect("vk_forward_alone, imaginary", imaginary, also, BINS, 1e-6);
    }
    for (int n = 0; n < FRAMES; n++) wanted[n] = windowed[n];
    vk_inverse_alone(tables, real, imaginary, back);
    expect("vk_inverse_alone", back, wanted, FRAMES, 1e-6);
}

static void lags(size_t count) {
    float tables[VK_TABLES];
    vk_prepare_tables(tables);
    float *const real = numbers(BINS * count), *const imaginary = numbers(BINS * count);
    make_real_signals(imaginary, count);
    const size_t first = count - VK_SEARCHED;
    float time[FRAMES / 2 * VK_SEARCHED], largest[VK_SEARCHED], row[VK_SEARCHED], sum[VK_SEARCHED];
    double most[VK_SEARCHED] = {0}, place[VK_SEARCHED], total[VK_SEARCHED] = {0};
    vk_lags(tables, real + first, imaginary + first, count, time);
    for (int n = 0; n < FRAMES / 2; n++)
        for (size_t l = 0; l < VK_SEARCHED; l++) {
            wanted[(size_t)n * VK_SEARCHED + l] = frame(real + first + l, imaginary + first + l, count, n);
            const double magnitude = fabs(time[(size_t)n * VK_SEARCHED + l]);
            total[l] += magnitude;
            if (magnitude > most[l]) {
                most[l] = magnitude;
                place[l] = n;
            }
        }
    expect("vk_lags", time, wanted, FRAMES / 2 * VK_SEARCHED, 2e-6);
    vk_peaks(time, largest, row, sum);
    expect("vk_peaks, largest", largest, most, VK_SEARCHED, 0);
    expect("vk_peaks, row", row, place, VK_SEARCHED, 0);
    expect("vk_peaks, sum", sum, total, VK_SEARCHED, 1e-6);
}

static void histories(void) {
    enum { LANES = 24, STRIDE = 40, FIRST = 8 };
    float *const rows = numbers(BINS * STRIDE), *const twice = numbers(BINS * 2 * LANES), *const values = numbers(BINS);
    for (size_t k = 0; k < BINS; k++)
        for (size_t l = 0; l < STRIDE; l++) {
            const int isMoved = l > FIRST && l < FIRST + LANES;
            wanted[k * STRIDE + l] = l == FIRST ? values[k] : rows[k * STRIDE + l - (isMoved ? 1 : 0)];
        }
    vk_push_lane(rows, BINS, STRIDE, FIRST, LANES, values);
    expect("vk_push_lane", rows, wanted, BINS * STRIDE, 0);
    for (size_t i = 0; i < BINS * 2 * LANES; i++) wanted[i] = i % LANES == 5 ? values[i / (2 * LANES)] : twice[i];
    vk_put_lane(twice, BINS, LANES, 5, values);
    expect("vk_put_lane", twice, wanted, BINS * 2 * LANES, 0);
}

// Spectra `lanes` apart without the second half of their signals.
static void constrain(float *real, float *imaginary, size_t lanes) {
    float half[FRAMES];
    double re[BINS], im[BINS];
    for (int n = 0; n < FRAMES; n++) half[n] = n < FRAMES / 2 ? (float)frame(real, imaginary, lanes, n) : 0;
    spectrum(half, 1, re, im);
    for (size_t k = 0; k < BINS; k++) {
        real[k * lanes] = (float)re[k];
        imaginary[k * lanes] = (float)im[k];
    }
}

static void filters(size_t count, size_t stride) {
    float tables[VK_TABLES];
    vk_prepare_tables(tables);
    float *const xr = numbers(BINS * stride), *const xi = numbers(BINS * stride), *const wr = numbers(BINS * count);
    float *const wi = numbers(BINS * count), *const variance = numbers(BINS * count), *const er = numbers(BINS), *const ei = numbers(BINS);
    float *const gain = numbers(BINS), *const dr = numbers(BINS * count), *const di = numbers(BINS * count);
    const vk_path path = {xr, xi, stride, wr, wi, variance, count};
    float real[BINS], imaginary[BINS], uncertainty[BINS];
    double sure[BINS];
    make_real_signals(xi, stride);
    make_real_signals(ei, 1);
    for (size_t i = 0; i < BINS * count; i++) variance[i] = fabsf(variance[i]);
    for (size_t k = 0; k < BINS; k++) {
        gain[k] = 0.1f * fabsf(gain[k]);
        wanted[k] = also[k] = sure[k] = 0;
        for (size_t l = 0; l < count; l++) {
            const double a = xr[k * stride + l], b = xi[k * stride + l], c = wr[k * count + l], d = wi[k * count + l];
            wanted[k] += a * c - b * d;
            also[k] += a * d + b * c;
            sure[k] += 0.5 * variance[k * count + l] * (a * a + b * b);
        }
    }
    vk_filter(xr, xi, stride, wr, wi, count, real, imaginary);
    expect("vk_filter, real", real, wanted, BINS, 1e-6);
    expect("vk_filter, imaginary", imaginary, also, BINS, 1e-6);
    vk_estimate(&path, real, imaginary, uncertainty);
    expect("vk_estimate, real", real, wanted, BINS, 1e-6);
    expect("vk_estimate, imaginary", imaginary, also, BINS, 1e-6);
    expect("vk_estimate, uncertainty", uncertainty, sure, BINS, 1e-6);

    for (size_t k = 0; k < BINS; k++)
        for (size_t l = 0; l < count; l++) {
            const double a = xr[k * stride + l], b = xi[k * stride + l], p = variance[k * count + l] * (double)gain[k];
            dr[k * count + l] = (float)(p * (a * er[k] + b * ei[k]));
            di[k * count + l] = (float)(p * (a * ei[k] - b * er[k]));
        }
    for (size_t l = 0; l < count; l++) constrain(dr + l, di + l, count);
    const float memory = 0.99f;
    const double keep = (double)memory * memory;
    double *const next = calloc(BINS * count, sizeof *next), after_real[BINS] = {0}, after_imaginary[BINS] = {0};
    for (size_t k = 0; k < BINS; k++)
        for (size_t l = 0; l < count; l++) {
            const size_t at = k * count + l;
            const double a = xr[k * stride + l], b = xi[k * stride + l], p = variance[at];
            const double c = wanted[at] = wr[at] + (double)dr[at], d = also[at] = wi[at] + (double)di[at];
            next[at] = fmax(1e-9, keep * (1 - 0.5 * gain[k] * p * (a * a + b * b)) * p + (1 - keep) * (c * c + d * d));
            after_real[k] += a * c - b * d;
            after_imaginary[k] += a * d + b * c;
        }
    vk_learn(tables, &path, er, ei, gain, memory, real, imaginary);
    expect("vk_learn, weights, real", wr, wanted, BINS * count, 1e-6);
    expect("vk_learn, weights, imaginary", wi, also, BINS * count, 1e-6);
    expect("vk_learn, variance", variance, next, BINS * count, 1e-6);
    expect("vk_learn, estimate, real", real, after_real, BINS, 1e-6);
    expect("vk_learn, estimate, imaginary", imaginary, after_imaginary, BINS, 1e-6);
    free(next);

    for (size_t k = 0; k < BINS; k++)
        for (size_t l = 0; l < count; l++) {
            const double a = xr[k * stride + l], b = xi[k * stride + l];
            wanted[k * count + l] = memory * wr[k * count + l] + er[k] * a + ei[k] * b;
            also[k * count + l] = memory * wi[k * count + l] + ei[k] * a - er[k] * b;
        }
    vk_correlate(xr, xi, stride, er, ei, memory, wr, wi, count, BINS);
    expect("vk_correlate, real", wr, wanted, BINS * count, 1e-6);
    expect("vk_correlate, imaginary", wi, also, BINS * count, 1e-6);
    for (size_t reach = 0; reach <= VK_REACH; reach += 8) {
        for (size_t k = 0; k < BINS; k++) {
            double sum = 0, some = 0;
            for (size_t j = k < reach ? 0 : k - reach; j <= k + reach && j < BINS; j++, some++) sum += er[j] * (double)er[j] + ei[j] * (double)ei[j];
            wanted[k] = sum / some;
        }
        vk_mean_power(er, ei, reach, real);
        expect("vk_mean_power", real, wanted, BINS, 1e-6);
    }
}

static void convolutions(void) {
    enum { COUNT = 165, TAPS = 129, STEP = 3 };
    float *const input = numbers(STEP * COUNT + TAPS + 16), *const taps = numbers(TAPS), *const others = numbers(TAPS);
    float output[COUNT];
    for (size_t step = 1; step <= STEP; step += STEP - 1) {
        for (size_t i = 0; i < COUNT; i++) {
            wanted[i] = 0;
            for (size_t j = 0; j < TAPS; j++) wanted[i] += taps[j] * (double)input[i * step + j];
        }
        vk_fir(input, step, taps, TAPS, output, COUNT);
        expect("vk_fir", output, wanted, COUNT, 1e-6);
    }
    for (size_t i = 0; i < COUNT; i++) {
        double a = 0, b = 0;
        for (size_t j = 0; j < TAPS; j++) {
            a += taps[j] * (double)input[i + j];
            b += others[j] * (double)input[i + j];
        }
        wanted[i] = a + (i + 0.5) / COUNT * (b - a);
    }
    vk_fir_crossfade(input, taps, others, TAPS, output, COUNT);
    expect("vk_fir_crossfade", output, wanted, COUNT, 1e-6);
    wanted[0] = 0;
    for (size_t i = 0; i < COUNT; i++) wanted[0] += input[i] * (double)input[i];
    output[0] = vk_dot(input, input, COUNT);
    expect("vk_dot", output, wanted, 1, 1e-6);
}

static void functions(void) {
    enum { COUNT = 401 };
    float values[COUNT], again[COUNT];
    for (int i = 0; i < COUNT; i++) values[i] = again[i] = 0.25f * (float)(i - COUNT / 2);
    for (int i = 0; i < COUNT; i++) {
        wanted[i] = 1 / (1 + exp(-values[i]));
        also[i] = tanh(values[i]);
    }
    vk_logistic(values, COUNT);
    expect("vk_logistic", values, wanted, COUNT, 1e-6);
    vk_hyperbolic_tangent(again, COUNT);
    expect("vk_hyperbolic_tangent", again, also, COUNT, 1e-6);
    for (int i = 0; i < COUNT; i++) values[i] = again[i] = powf(10, -(float)i / 15);
    for (int i = 0; i < COUNT; i++) {
        wanted[i] = log10(values[i] + 1e-20);
        also[i] = pow(again[i], 0.7);
    }
    vk_common_logarithm(values, 1e-20f, COUNT);
    expect("vk_common_logarithm", values, wanted, COUNT, 1e-6);
    vk_power(again, 0.7f, COUNT);
    expect("vk_power", again, also, COUNT, 1e-5);
}

static void dense(size_t inputs, size_t outputs, float peak) {
    const size_t pairs = (inputs + 1) / 2;
    int8_t *const weights = calloc(pairs * 2, outputs);
    float *const scale = numbers(outputs), *const bias = numbers(outputs), *const input = numbers(inputs), *const output = numbers(outputs);
    input[inputs / 3] = peak;
    // All weights at their largest where the sum has to hold them.
    const int isFull = inputs > 500;
    for (size_t i = 0; i < inputs; i++) {
        if (isFull) input[i] = peak;
        for (size_t o = 0; o < outputs; o++) weights[2 * (i / 2 * outputs + o) + i % 2] = isFull ? 127 : (int8_t)(127 * number());
    }
    // Rounded to what the header says, the inputs are multiplied exactly; of two that are as near either will do.
    double largest = 0;
    for (size_t i = 0; i < inputs; i++) largest = fmax(largest, fabs(input[i]));
    const double most = fmin(32767, floor((double)INT32_MAX / 127 / (double)inputs)), step = largest / most;
    for (size_t o = 0; o < outputs; o++) {
        double sum = 0;
        for (size_t i = 0; i < inputs; i++) sum += weights[2 * (i / 2 * outputs + o) + i % 2] * step * rint(input[i] / step);
        wanted[o] = bias[o] + scale[o] * sum;
    }
    vk_dense(weights, scale, bias, input, inputs, output, outputs);
    char what[64];
    snprintf(what, sizeof what, "vk_dense, %zu to %zu", inputs, outputs);
    expect(what, output, wanted, outputs, 5e-6);
    free(weights);
}

static void bins(size_t inputs, size_t reach, size_t outputs, int rectify) {
    const size_t taps = 2 * reach + 1;
    float *const weights = numbers(taps * inputs * outputs), *const bias = numbers(outputs);
    float *const input = calloc(inputs * VK_ROW, sizeof(float)), *const output = calloc(outputs * VK_ROW, sizeof(float));
    for (size_t i = 0; i < inputs; i++)
        for (size_t k = 0; k < BINS; k++) input[i * VK_ROW + VK_FIRST + k] = number();
    memset(wanted, 0, sizeof wanted);
    for (size_t o = 0; o < outputs; o++)
        for (size_t k = 0; k < BINS; k++) {
            double sum = bias[o];
            for (size_t shift = 0; shift < taps; shift++)
                for (size_t i = 0; i < inputs; i++)
                    sum += weights[(shift * inputs + i) * outputs + o] * (double)input[i * VK_ROW + VK_FIRST + k + shift - reach];
            wanted[o * VK_ROW + VK_FIRST + k] = rectify && sum < 0 ? 0 : sum;
        }
    vk_bins_dense(weights, bias, input, inputs, reach, output, outputs, rectify);
    char what[64];
    snprintf(what, sizeof what, "vk_bins_dense, %zu to %zu, reach %zu", inputs, outputs, reach);
    // What stands for no bin is compared too: it stays zero.
    expect(what, output, wanted, outputs * VK_ROW, 1e-6);
    free(input);
    free(output);
}

static void memories(void) {
    enum { UNITS = 5 };
    float *const driven = calloc(2 * UNITS * VK_ROW, sizeof(float)), *const state = calloc(UNITS * VK_ROW, sizeof(float));
    memset(wanted, 0, sizeof wanted);
    for (size_t u = 0; u < UNITS; u++)
        for (size_t k = 0; k < BINS; k++) {
            const size_t at = u * VK_ROW + VK_FIRST + k, loud = k % 7 == 0 ? 100 : 4;
            const double share = driven[at] = (float)loud * number(), new = driven[UNITS * VK_ROW + at] = (float)loud * number();
            state[at] = number();
            wanted[at] = state[at] + 1 / (1 + exp(-share)) * (tanh(new) - state[at]);
        }
    vk_bins_follow(driven, state, UNITS);
    expect("vk_bins_follow", state, wanted, UNITS * VK_ROW, 1e-6);
    free(driven);
    free(state);

    enum { GATED = 24 };
    float *const of_input = numbers(3 * GATED), *const of_state = numbers(3 * GATED), *const memory = numbers(GATED);
    for (size_t u = 0; u < GATED; u++) {
        const double reset = 1 / (1 + exp(-of_input[u] - of_state[u])), keep = 1 / (1 + exp(-of_input[GATED + u] - of_state[GATED + u]));
        const double new = tanh(of_input[2 * GATED + u] + reset * of_state[2 * GATED + u]);
        wanted[u] = new + keep * (memory[u] - new);
    }
    vk_gated_unit(of_input, of_state, memory, GATED);
    expect("vk_gated_unit", memory, wanted, GATED, 1e-6);
}

// kernels [LEVEL]: 1, 3 or 4; the highest that there is unless given.
int main(int count, char **arguments) {
    const int level = count > 1 ? atoi(arguments[1]) : vk_level();
    if (!vk_use_level(level) || vk_level() != level) {
        printf("level %d is not to be had here\n", level);
        return 1;
    }
    transforms();
    lags(16);
    lags(64);
    histories();
    filters(8, 8);
    filters(24, 48);
    filters(48, 48);
    convolutions();
    functions();
    const size_t layers[][2] = {{1, 8}, {7, 8}, {16, 24}, {67, 96}, {96, 288}, {222, 168}, {192, 40}, {516, 64}, {VK_MOST_INPUTS, 16}};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        dense(layers[i][0], layers[i][1], 1);
        dense(layers[i][0], layers[i][1], -5);
    }
    const size_t sizes[][2] = {{11, 24}, {24, 48}, {16, 1}, {3, 13}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t reach = 0; reach < 2; reach++) bins(sizes[i][0], reach, sizes[i][1], reach == 0);
    memories();
    if (failures) printf("%d kernels are too far from their definition\n", failures);
    return failures != 0;
}
