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

static void lags(void) {
    enum { LANES = VK_SEARCHED, COUNT = FRAMES / 2 * LANES };
    float tables[VK_TABLES];
    vk_prepare_tables(tables);
    float *const real = numbers(VK_SEARCHED_BINS * LANES), *const imaginary = numbers(VK_SEARCHED_BINS * LANES);
    float whole[BINS] = {0}, wholeToo[BINS] = {0};
    float time[COUNT], largest[LANES], row[LANES], sum[LANES];
    double most[LANES] = {0}, place[LANES], total[LANES] = {0};
    for (size_t l = 0; l < LANES; l++) imaginary[l * VK_SEARCHED_BINS] = 0;
    vk_lags(tables, real, imaginary, time, largest, row, sum);
    for (size_t l = 0; l < LANES; l++) {
        memcpy(whole, real + l * VK_SEARCHED_BINS, VK_SEARCHED_BINS * sizeof(float));
        memcpy(wholeToo, imaginary + l * VK_SEARCHED_BINS, VK_SEARCHED_BINS * sizeof(float));
        for (int n = 0; n < FRAMES / 2; n++) {
            wanted[(size_t)n * LANES + l] = FRAMES * frame(whole, wholeToo, 1, n);
            const double magnitude = fabs(time[(size_t)n * LANES + l]);
            total[l] += magnitude;
            if (magnitude > most[l]) {
                most[l] = magnitude;
                place[l] = n;
            }
        }
    }
    expect("vk_lags, time", time, wanted, COUNT, 2e-6);
    expect("vk_lags, largest", largest, most, LANES, 0);
    expect("vk_lags, row", row, place, LANES, 0);
    expect("vk_lags, sum", sum, total, LANES, 1e-6);
}

static void histories(void) {
    enum { LANES = 24, STRIDE = 40, FIRST = 8 };
    float *const rows = numbers(BINS * STRIDE), *const values = numbers(BINS);
    for (size_t k = 0; k < BINS; k++)
        for (size_t l = 0; l < STRIDE; l++) {
            const int isMoved = l > FIRST && l < FIRST + LANES;
            wanted[k * STRIDE + l] = l == FIRST ? values[k] : rows[k * STRIDE + l - (isMoved ? 1 : 0)];
        }
    vk_push_lane(rows, BINS, STRIDE, FIRST, LANES, values);
    expect("vk_push_lane", rows, wanted, BINS * STRIDE, 0);

    // Rings whose newest lane is at the beginning, somewhere, and at the end.
    for (size_t newest = 0; newest < LANES; newest += 11 + newest) {
        float *const xr = numbers(LANES * VK_WHOLE_BINS), *const xi = numbers(LANES * VK_WHOLE_BINS);
        float *const wr = numbers(LANES * VK_WHOLE_BINS), *const wi = numbers(LANES * VK_WHOLE_BINS);
        float real[BINS], imaginary[BINS];
        memset(wanted, 0, sizeof wanted);
        memset(also, 0, sizeof also);
        for (size_t l = 0; l < LANES; l++)
            for (size_t k = 0; k < BINS; k++) {
                const size_t x = (newest + l) % LANES * VK_WHOLE_BINS + k, w = l * VK_WHOLE_BINS + k;
                wanted[k] += xr[x] * (double)wr[w] - xi[x] * (double)wi[w];
                also[k] += xr[x] * (double)wi[w] + xi[x] * (double)wr[w];
            }
        const vk_history x = {xr, xi, VK_WHOLE_BINS, LANES, newest};
        vk_filter_history(&x, wr, wi, LANES, real, imaginary);
        expect("vk_filter_history, real", real, wanted, BINS, 1e-6);
        expect("vk_filter_history, imaginary", imaginary, also, BINS, 1e-6);
    }
}

static void correlations(size_t blocks, size_t first, size_t newest) {
    enum { LANES = 40, SUMS = VK_SEARCHED * VK_SEARCHED_BINS };
    const float memory = 0.9f;
    float *const ur = numbers(LANES * VK_SEARCHED_BINS), *const ui = numbers(LANES * VK_SEARCHED_BINS);
    float *const dr = numbers(2 * VK_SEARCHED_BINS), *const di = numbers(2 * VK_SEARCHED_BINS);
    float *const real = numbers(SUMS), *const imaginary = numbers(SUMS);
    for (size_t i = 0; i < SUMS; i++) {
        wanted[i] = real[i];
        also[i] = imaginary[i];
    }
    for (size_t ago = blocks; ago-- > 0;)
        for (size_t i = 0; i < SUMS; i++) {
            const size_t k = i % VK_SEARCHED_BINS, lane = first + i / VK_SEARCHED_BINS + ago;
            const size_t u = (newest + lane) % LANES * VK_SEARCHED_BINS + k, d = (1 + ago) % 2 * VK_SEARCHED_BINS + k;
            wanted[i] = memory * wanted[i] + dr[d] * (double)ur[u] + di[d] * (double)ui[u];
            also[i] = memory * also[i] + di[d] * (double)ur[u] - dr[d] * (double)ui[u];
        }
    const vk_history u = {ur, ui, VK_SEARCHED_BINS, LANES, newest}, d = {dr, di, VK_SEARCHED_BINS, 2, 1};
    vk_correlate(&u, &d, blocks, memory, first, real, imaginary);
    expect("vk_correlate, real", real, wanted, SUMS, 1e-6);
    expect("vk_correlate, imaginary", imaginary, also, SUMS, 1e-6);
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

static void recursions(void) {
    enum { COUNT = 200 };
    float *const input = numbers(COUNT);
    float output[COUNT];
    vk_section section = {0.9, -1.7 + 1.75 * 0.9, 0.9 - 0.8 * 0.9, -1.75, 0.8, 0, 0};
    const double b1 = -1.7, b2 = 0.9;
    for (size_t i = 0; i < COUNT; i++) {
        wanted[i] = section.b0 * input[i];
        if (i > 0) wanted[i] += b1 * input[i - 1] - section.a1 * wanted[i - 1];
        if (i > 1) wanted[i] += b2 * input[i - 2] - section.a2 * wanted[i - 2];
    }
    // A block after the other.
    vk_biquad(&section, input, output, COUNT / 2);
    vk_biquad(&section, input + COUNT / 2, output + COUNT / 2, COUNT / 2);
    expect("vk_biquad", output, wanted, COUNT, 1e-6);
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

static double between(double value, double least, double most) { return fmin(most, fmax(least, value)); }

// Powers and averages, all above 0.
static float *positive(size_t count) {
    float *const values = numbers(count);
    for (size_t i = 0; i < count; i++) values[i] = 0.01f + fabsf(values[i]);
    return values;
}

static void of_bins(void) {
    float *const ar = numbers(BINS), *const ai = numbers(BINS), *const br = numbers(BINS), *const bi = numbers(BINS);
    float *const p = positive(BINS), *const q = positive(BINS), *const r = positive(BINS), *const t = positive(BINS);
    float found[BINS], second[BINS];
#define EACH(what, result, tolerance, expression)              \
    do {                                                       \
        for (size_t k = 0; k < BINS; k++) wanted[k] = expression; \
        expect(what, result, wanted, BINS, tolerance);         \
    } while (0)
    const double power = 1e-6;
    vk_powers(ar, ai, found, BINS);
    EACH("vk_powers", found, power, ar[k] * (double)ar[k] + ai[k] * (double)ai[k]);
    vk_products(ar, ai, br, bi, found, second, BINS);
    EACH("vk_products, real", found, power, ar[k] * (double)br[k] + ai[k] * (double)bi[k]);
    EACH("vk_products, imaginary", second, power, ai[k] * (double)br[k] - ar[k] * (double)bi[k]);
    memcpy(found, p, sizeof found);
    vk_follow(q, 0.15f, found, BINS);
    EACH("vk_follow", found, power, p[k] + 0.15f * ((double)q[k] - p[k]));
    memcpy(found, p, sizeof found);
    vk_follow_powers(ar, ai, 0.15f, found, BINS);
    EACH("vk_follow_powers", found, power, p[k] + 0.15f * (ar[k] * (double)ar[k] + ai[k] * (double)ai[k] - p[k]));
    vk_coherence(ar, ai, p, q, found, BINS);
    EACH("vk_coherence", found, power, fmin(1, (ar[k] * (double)ar[k] + ai[k] * (double)ai[k]) / (p[k] * (double)q[k])));
    vk_cosines(ar, p, q, found, BINS);
    EACH("vk_cosines", found, power, ar[k] / sqrt(p[k] * (double)q[k]));
    vk_whiten(ar, ai, found, second, BINS);
    EACH("vk_whiten, real", found, power, ar[k] / (hypot(ar[k], ai[k]) + 1e-9));
    EACH("vk_whiten, imaginary", second, power, ai[k] / (hypot(ar[k], ai[k]) + 1e-9));
    vk_reciprocals(p, q, 0.5f, found, BINS);
    EACH("vk_reciprocals", found, power, 1 / ((double)p[k] + q[k] + 0.5));
    vk_difference(ar, br, found, BINS);
    EACH("vk_difference", found, power, (double)ar[k] - br[k]);
    vk_normalise(ar, br, bi, found, BINS);
    EACH("vk_normalise", found, power, ((double)ar[k] - br[k]) * bi[k]);
    memcpy(found, ar, sizeof found);
    vk_add(br, found, BINS);
    EACH("vk_add", found, power, (double)ar[k] + br[k]);
    memcpy(found, ar, sizeof found);
    vk_multiply(br, found, BINS);
    EACH("vk_multiply", found, power, (double)ar[k] * br[k]);
    memcpy(found, p, sizeof found);
    vk_fourth_root(found, 0.1f, BINS);
    EACH("vk_fourth_root", found, power, sqrt(sqrt((double)p[k] + 0.1f)));
    for (size_t count = 1; count < BINS; count += 7) {
        found[0] = vk_largest(ar, count);
        wanted[0] = -2;
        for (size_t k = 0; k < count; k++) wanted[0] = fmax(wanted[0], ar[k]);
        expect("vk_largest", found, wanted, 1, 0);
    }
    memcpy(found, ar, sizeof found);
    vk_scale(found, 2, -1, BINS);
    EACH("vk_scale", found, power, 2 * (double)ar[k] - 1);
    memcpy(found, ar, sizeof found);
    vk_bound(found, -0.3f, 0.6f, BINS);
    EACH("vk_bound", found, power, between(ar[k], -0.3f, 0.6f));
    memcpy(found, ar, sizeof found);
    vk_scale_not_below(found, br, -0.1f, BINS);
    EACH("vk_scale_not_below", found, power, fmax(-0.1f, ar[k] * (double)br[k]));
    memcpy(found, ar, sizeof found);
    vk_raise_to_product(br, bi, found, BINS);
    EACH("vk_raise_to_product", found, power, fmax(ar[k], br[k] * (double)bi[k]));
    const int32_t edges[] = {2, 4, 9, 30, 161};
    vk_band_means(ar, edges, 4, found);
    for (size_t band = 0; band < 4; band++) {
        wanted[band] = 0;
        for (int32_t k = edges[band]; k < edges[band + 1]; k++) wanted[band] += ar[k] / (double)(edges[band + 1] - edges[band]);
    }
    expect("vk_band_means", found, wanted, 4, power);
    vk_emphasise(ar, 0.85f, 0.7f, found, BINS);
    EACH("vk_emphasise", found, power, ar[k] - 0.85f * (double)(k == 0 ? 0.7f : ar[k - 1]));
    memcpy(found, ar, sizeof found);
    vk_undo_emphasis(found, 0.85f, 0.7f, BINS - 1);
    for (size_t k = 0; k < BINS; k++) wanted[k] = ar[k] + (k < BINS - 1 ? 0.85f * (k == 0 ? 0.7f : wanted[k - 1]) : 0);
    expect("vk_undo_emphasis", found, wanted, BINS, power);
    found[0] = vk_sum(ar, BINS);
    wanted[0] = 0;
    for (size_t k = 0; k < BINS; k++) wanted[0] += ar[k];
    expect("vk_sum", found, wanted, 1, 1e-5);

    const vk_talker_rule talker = {0.8f, 0.1f, 0.6f, 0.5f, 4};
    vk_talker_floor(&talker, p, q, r, t, found, BINS);
    EACH("vk_talker_floor", found, power,
         0.8f * between((sqrt(q[k]) - 0.1f) / 0.5, 0, 1) * between((r[k] / (double)t[k] - 0.5) / 3.5, 0, 1) * p[k]);
    float passed[BINS], gains[BINS];
    memcpy(passed, q, sizeof passed);
    memcpy(gains, r, sizeof gains);
    vk_lower_noise(p, t, 0.92f, 0.32f, passed, gains);
    for (size_t k = 0; k < BINS; k++) {
        const double posterior = p[k] / (double)t[k], prior = 0.92f * q[k] + (1 - 0.92f) * fmax(posterior - 1, 0), gain = prior / (1 + prior);
        wanted[k] = gain * gain * posterior;
        also[k] = fmax(r[k] * gain, fmin(r[k], 0.32f));
    }
    expect("vk_lower_noise, passed", passed, wanted, BINS, power);
    expect("vk_lower_noise, gains", gains, also, BINS, power);
    vk_response(p, 0.4f, 0.7f, found);
    EACH("vk_response", found, power,
         0.3f + 0.7f * (0.75 * fmax(0.4f, p[k]) + 0.125 * (fmax(0.4f, p[k > 0 ? k - 1 : 0]) + fmax(0.4f, p[k + 1 < BINS ? k + 1 : k]))));
    vk_missing_noise(ar, p, q, 3, found);
    EACH("vk_missing_noise", found, power, sqrt(3 * fmax(0, 1 - ar[k] * (double)ar[k]) * fmin(p[k], q[k])));
    const size_t louder = vk_excess(ar, br, p, q, 1.6f, found);
    size_t counted = 0;
    for (size_t k = 0; k < BINS; k++) counted += p[k] > 1.6f * q[k];
    EACH("vk_excess", found, power, p[k] > 1.6f * q[k] ? fmax(0, (double)ar[k] - br[k]) : 0);
    wanted[0] = (double)counted;
    found[0] = (float)louder;
    expect("vk_excess, how often", found, wanted, 1, 0);
}

static void residual(void) {
    float *const error = positive(BINS), *const echo = positive(BINS), *const usual_error = positive(BINS), *const usual_echo = positive(BINS);
    float *const uncertainty = positive(BINS), *const leakage = positive(BINS), *const floor = positive(BINS);
    float *const left = positive(BINS), *const gain = positive(BINS);
    double leak[BINS], noise[BINS];
    const vk_residual_rule is = {0.3f, 0.2f, 1.02f, 0.05f, 0.9f, 3, 0.4f, 0.01f, 0.6f, 0.2f, 1.003f, 1e-9f, 0.85f, 0.01f};
    // Nothing comes in some bins, as from a microphone that is switched off.
    for (size_t k = 0; k < BINS; k += 7) error[k] = 0;
    for (size_t k = 0; k < BINS; k++) {
        const double seen = fmin(1, usual_error[k] / (double)usual_echo[k]), now = leakage[k], power = error[k];
        const double next = seen < now ? now + is.fall * (seen - now) : now * is.growth;
        leak[k] = usual_echo[k] > is.audible ? between(next, is.least, is.most) : now;
        wanted[k] = fmax(is.tail * left[k], leak[k] * is.over * echo[k] + is.weight * uncertainty[k] + is.elsewhere);
        noise[k] = power < floor[k] ? floor[k] + is.noise_fall * (power - floor[k]) : floor[k] * (double)is.noise_growth;
        if (power < is.silence) noise[k] = floor[k];
        const double posterior = power / wanted[k];
        const double prior = is.decision * gain[k] * gain[k] * posterior + (1 - is.decision) * fmax(posterior - 1, 0);
        also[k] = fmax(prior / (1 + prior), fmax(is.least_gain, fmin(1, sqrt(noise[k] / power))));
    }
    vk_residual(&is, error, echo, usual_error, usual_echo, uncertainty, leakage, floor, left, gain);
    expect("vk_residual, leakage", leakage, leak, BINS, 1e-6);
    expect("vk_residual, floor", floor, noise, BINS, 1e-6);
    expect("vk_residual, residual", left, wanted, BINS, 1e-6);
    expect("vk_residual, gain", gain, also, BINS, 1e-6);
}

static void noises(void) {
    float *const power = positive(BINS), *const noise = positive(BINS), *const presence = positive(BINS);
    for (int isHeld = 0; isHeld < 2; isHeld++) {
        const vk_noise_rule is = {32.6f, 1.398f, 0.03f, 0.036f, 0.5f, (float)isHeld};
        for (size_t k = 0; k < BINS; k++) {
            const double speech = 1 / (1 + is.odds * exp2(-is.slope * (power[k] / (double)noise[k])));
            also[k] = presence[k] + is.presence_weight * (speech - presence[k]);
            const double bounded = also[k] > is.stuck ? fmin(speech, is.stuck) : speech;
            wanted[k] = noise[k] + is.noise_weight * (1 - bounded) * (power[k] - (double)noise[k]);
            if (isHeld && power[k] < noise[k]) {
                wanted[k] = noise[k];
                also[k] = presence[k];
            }
        }
        vk_track_noise(&is, power, noise, presence, BINS);
        expect("vk_track_noise, noise", noise, wanted, BINS, 1e-6);
        expect("vk_track_noise, presence", presence, also, BINS, 1e-6);
    }
}

static void look(void) {
    enum { ROWS = 5, STRIDE = 168 };
    float *const features = numbers(ROWS * STRIDE), *const own = numbers(ROWS * STRIDE), *const mean = numbers(ROWS), *const slope = numbers(ROWS);
    float *const output = calloc(ROWS * VK_ROW, sizeof(float)), *const sums = numbers(BINS);
    memset(wanted, 0, sizeof wanted);
    for (size_t k = 0; k < BINS; k++) also[k] = sums[k];
    for (size_t r = 0; r < ROWS; r++)
        for (size_t k = 0; k < BINS; k++) {
            const double value = ((double)features[r * STRIDE + k] - mean[r]) * slope[r];
            wanted[r * VK_ROW + VK_FIRST + k] = value;
            also[k] += own[r * STRIDE + k] * value;
        }
    vk_bins_look(features, STRIDE, mean, slope, own, ROWS, output, sums);
    expect("vk_bins_look", output, wanted, ROWS * VK_ROW, 1e-6);
    expect("vk_bins_look, sums", sums, also, BINS, 1e-6);
    free(output);
}

// Where a weight of a layer is.
static size_t weight_at(size_t inputs, size_t outputs, size_t input, size_t output) {
    size_t first = 0, width = VK_PANEL;
    while (outputs - first >= 2 * VK_PANEL && output >= first + VK_PANEL) first += VK_PANEL;
    if (outputs - first < 2 * VK_PANEL) width = outputs - first;
    return (inputs + 3) / 4 * 4 * first + 4 * (input / 4 * width + output - first) + input % 4;
}

static void dense(size_t inputs, size_t outputs, float peak) {
    uint8_t *const weights = malloc((inputs + 3) / 4 * 4 * outputs);
    // Where there is no input, any number may stand.
    memset(weights, 255, (inputs + 3) / 4 * 4 * outputs);
    float *const scale = numbers(outputs), *const bias = numbers(outputs), *const input = numbers(inputs), *const output = numbers(outputs);
    input[inputs / 3] = peak;
    // All weights at their largest where the sum has to hold them.
    const int isFull = inputs > 500;
    for (size_t i = 0; i < inputs; i++) {
        if (isFull) input[i] = peak;
        for (size_t o = 0; o < outputs; o++) weights[weight_at(inputs, outputs, i, o)] = (uint8_t)(VK_WEIGHT_ZERO + (isFull ? 127 : (int)(127 * number())));
    }
    // Rounded to what the header says, the inputs are multiplied exactly. None is as near to one whole number as to another: either would do.
    double largest = 0;
    for (size_t i = 0; i < inputs; i++) largest = fmax(largest, fabs(input[i]));
    const double step = largest / VK_MOST_WHOLE;
    for (size_t i = 0; i < inputs; i++) {
        const double whole = rint(input[i] / step);
        if (fabs(whole) < VK_MOST_WHOLE) input[i] = (float)(step * (whole + 0.4 * number()));
    }
    for (size_t o = 0; o < outputs; o++) {
        double sum = 0;
        for (size_t i = 0; i < inputs; i++) sum += (weights[weight_at(inputs, outputs, i, o)] - VK_WEIGHT_ZERO) * step * rint(input[i] / step);
        wanted[o] = bias[o] + scale[o] * sum;
    }
    vk_dense(weights, scale, bias, input, inputs, output, outputs);
    char what[64];
    snprintf(what, sizeof what, "vk_dense, %zu to %zu", inputs, outputs);
    expect(what, output, wanted, outputs, 5e-6);
    free(weights);
}

// A layer of bins: its weights, what they are worth, its inputs, and what they are once rounded.
typedef struct {
    int8_t *weights;
    int32_t *start;
    float *scale, *bias, *input;
    double *rounded;
} bins_layer;

// Inputs of `peak` and weights of one sign are as large as sums may become.
static bins_layer layer_of_bins(size_t inputs, size_t taps, size_t outputs, float peak, int isFull) {
    const size_t fours = (inputs + 3) / 4;
    const bins_layer of = {
        calloc(taps * fours * 4, outputs), calloc(outputs, sizeof(int32_t)), numbers(outputs), numbers(outputs), calloc(inputs * VK_ROW, sizeof(float)),
        calloc(inputs * VK_ROW, sizeof(double))};
    double largest = 0;
    for (size_t i = 0; i < inputs; i++)
        for (size_t k = 0; k < BINS; k++) {
            float *const at = &of.input[i * VK_ROW + VK_FIRST + k];
            *at = isFull || (i == inputs / 2 && k == 100) ? peak : number();
            largest = fmax(largest, fabs(*at));
        }
    // No input is as near to one whole number as to another: either would do.
    const double step = largest / VK_MOST_WHOLE;
    for (size_t i = 0; i < inputs * VK_ROW; i++) {
        const double whole = rint(of.input[i] / step);
        of.rounded[i] = step * whole;
        if (whole != 0 && fabs(whole) < VK_MOST_WHOLE) of.input[i] = (float)(step * (whole + 0.4 * number()));
    }
    for (size_t o = 0; o < outputs; o++) {
        of.scale[o] /= 127;
        for (size_t t = 0; t < taps; t++)
            for (size_t i = 0; i < inputs; i++) {
                int8_t *const weight = &of.weights[4 * ((t * fours + i / 4) * outputs + o) + i % 4];
                *weight = isFull ? 127 : (int8_t)(127 * number());
                of.start[o] -= VK_INPUT_ZERO * *weight;
            }
    }
    return of;
}

// What the layer makes of a bin.
static double sum_of_bin(const bins_layer *of, size_t inputs, size_t reach, size_t outputs, size_t output, size_t bin) {
    double sum = 0;
    for (size_t shift = 0; shift < 2 * reach + 1; shift++)
        for (size_t i = 0; i < inputs; i++)
            sum += of->weights[4 * ((shift * ((inputs + 3) / 4) + i / 4) * outputs + output) + i % 4] *
                   of->rounded[i * VK_ROW + VK_FIRST + bin + shift - reach];
    return of->bias[output] + of->scale[output] * sum;
}

static void free_layer(const bins_layer *of) {
    free(of->weights);
    free(of->start);
    free(of->scale);
    free(of->bias);
    free(of->input);
    free(of->rounded);
}

static void bins(size_t inputs, size_t reach, size_t outputs, int rectify, float peak, int isFull) {
    const bins_layer of = layer_of_bins(inputs, 2 * reach + 1, outputs, peak, isFull);
    float *const output = calloc(outputs * VK_ROW, sizeof(float));
    memset(wanted, 0, sizeof wanted);
    for (size_t o = 0; o < outputs; o++)
        for (size_t k = 0; k < BINS; k++) {
            const double sum = sum_of_bin(&of, inputs, reach, outputs, o, k);
            wanted[o * VK_ROW + VK_FIRST + k] = rectify && sum < 0 ? 0 : sum;
        }
    vk_bins_dense(of.weights, of.start, of.scale, of.bias, of.input, inputs, reach, output, outputs, rectify);
    char what[64];
    snprintf(what, sizeof what, "vk_bins_dense, %zu to %zu, reach %zu", inputs, outputs, reach);
    // What stands for no bin is compared too: it stays zero.
    expect(what, output, wanted, outputs * VK_ROW, 1e-6);
    free_layer(&of);
    free(output);
}

static void memories(size_t inputs, size_t units, float peak) {
    const bins_layer of = layer_of_bins(inputs, 1, 2 * units, peak, 0);
    float *const state = calloc(units * VK_ROW, sizeof(float));
    memset(wanted, 0, sizeof wanted);
    for (size_t u = 0; u < units; u++)
        for (size_t k = 0; k < BINS; k++) {
            const size_t at = u * VK_ROW + VK_FIRST + k;
            const double share = sum_of_bin(&of, inputs, 0, 2 * units, 2 * u, k), new = sum_of_bin(&of, inputs, 0, 2 * units, 2 * u + 1, k);
            state[at] = number();
            wanted[at] = state[at] + 1 / (1 + exp2(share)) * (tanh(new / 2 * M_LN2) - state[at]);
        }
    vk_bins_memory(of.weights, of.start, of.scale, of.bias, of.input, inputs, state, units);
    char what[64];
    snprintf(what, sizeof what, "vk_bins_memory, %zu to %zu", inputs, units);
    expect(what, state, wanted, units * VK_ROW, 4e-6);
    free_layer(&of);
    free(state);
}

static void gates(void) {
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
    lags();
    histories();
    for (size_t newest = 0; newest < 40; newest += 13) {
        correlations(1, 16, newest);
        correlations(2, 16, newest);
    }
    filters(8, 8);
    filters(24, 48);
    filters(48, 48);
    convolutions();
    recursions();
    functions();
    of_bins();
    residual();
    noises();
    look();
    const size_t layers[][2] = {{1, 8}, {7, 8}, {16, 24}, {67, 96}, {96, 288}, {222, 168}, {192, 40}, {516, 64}, {VK_MOST_INPUTS, 16}};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        dense(layers[i][0], layers[i][1], 1);
        dense(layers[i][0], layers[i][1], -5);
    }
    const size_t sizes[][2] = {{11, 24}, {24, 48}, {16, 1}, {3, 13}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t reach = 0; reach < 2; reach++) {
            bins(sizes[i][0], reach, sizes[i][1], reach == 0, 1, 0);
            bins(sizes[i][0], reach, sizes[i][1], reach == 0, -7, 1);
        }
    bins(VK_MOST_BIN_INPUTS, 1, 40, 0, 3, 1);
    memories(3, 5, 100);
    memories(32, 32, 4);
    gates();
    if (failures) printf("%d kernels are too far from their definition\n", failures);
    return failures != 0;
}
