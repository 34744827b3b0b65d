// Filters in the time domain.

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

AT_LEVEL float KERNEL(vk_dot)(const float *a, const float *b, size_t count) { return dot(a, b, count); }

AT_LEVEL float KERNEL(vk_sum)(const float *a, size_t count) {
    lanes8 sums = {0};
    size_t n = 0;
    for (; n + VK_LANES <= count; n += VK_LANES) sums += LOAD(a + n);
    float sum = SUM(sums);
    for (; n < count; n++) sum += a[n];
    return sum;
}

AT_LEVEL void KERNEL(vk_fir)(const float *input, size_t step, const float *taps, size_t tap_count, float *output, size_t count) {
    for (size_t i = 0; i < count; i++) output[i] = dot(input + i * step, taps, tap_count);
}

AT_LEVEL void KERNEL(vk_fir_crossfade)(
    const float *input, const float *old_taps, const float *new_taps, size_t tap_count, float *output, size_t count) {
    enum { TOGETHER = 2 };  // vectors of outputs, so that a tap is loaded once for all of them and no sum waits for another
    const lanes16 ramp = {0.5f, 1.5f, 2.5f, 3.5f, 4.5f, 5.5f, 6.5f, 7.5f, 8.5f, 9.5f, 10.5f, 11.5f, 12.5f, 13.5f, 14.5f, 15.5f};
    size_t i = 0;
    for (; i + 16 * TOGETHER <= count; i += 16 * TOGETHER) {
        lanes16 a[TOGETHER] = {{0}}, b[TOGETHER] = {{0}};
        for (size_t j = 0; j < tap_count; j++)
            for (size_t v = 0; v < TOGETHER; v++) {
                const lanes16 x = *(const lanes16 *)(input + i + 16 * v + j);
                a[v] += old_taps[j] * x;
                b[v] += new_taps[j] * x;
            }
        for (size_t v = 0; v < TOGETHER; v++)
            *(lanes16 *)(output + i + 16 * v) = a[v] + (ramp + (float)(i + 16 * v)) / (float)count * (b[v] - a[v]);
    }
    for (; i < count; i++) {
        const float a = dot(input + i, old_taps, tap_count), b = dot(input + i, new_taps, tap_count);
        output[i] = a + ((float)i + 0.5f) / (float)count * (b - a);
    }
}

// The taps of a position between two rows, and the row that follows them: `phase` rows after the first.
VK_INLINE void taps_between(const float *rows, double phase, size_t tap_count, float *taps) {
    const size_t row = (size_t)phase;
    const float between = (float)(phase - (double)row);
    const float *a = rows + row * tap_count, *b = a + tap_count;
    for (size_t j = 0; j < tap_count; j += 8) {
        const lanes8 low = LOAD(a + j);
        STORE(taps + j, low + between * (LOAD(b + j) - low));
    }
}

enum { longest_row = 64, run = 16 };

AT_LEVEL void KERNEL(vk_resample)(
    const float *input, double start, double step, const float *rows, size_t phases, size_t tap_count, float *output, size_t count) {
    const double reach = (double)(tap_count / 2), turn = (step - 1) * (double)phases * run;
    const lanes8 ramp = {0, 1.f / run, 2.f / run, 3.f / run, 4.f / run, 5.f / run, 6.f / run, 7.f / run};
    // A run of outputs whose step is all but 1 reads neighbouring inputs by taps that hardly change: so they are taken from a straight line
    // between the taps at its beginning and at its end, two rows away at most, which leaves (pi / phases)^2 / 2, as for 256 phases -82 dB.
    const int in_runs = turn <= 2 && turn >= -2;
    float first[longest_row], last[longest_row];
    size_t i = 0;
    while (i < count) {
        const double position = start + (double)i * step;
        const ptrdiff_t whole = (ptrdiff_t)position;
        const double phase = (position - (double)whole) * (double)phases, end = phase + turn;
        const float *x = input + whole - (ptrdiff_t)reach + 1;
        taps_between(rows, phase, tap_count, first);
        if (in_runs && count - i >= run && end >= 0 && end < (double)phases) {
            taps_between(rows, end, tap_count, last);
            lanes8 a = {0}, b = {0}, c = {0}, d = {0};
            for (size_t j = 0; j < tap_count; j++) {
                const float tap = first[j], change = last[j] - tap;
                const lanes8 near = LOAD(x + j), far = LOAD(x + j + 8);
                a += tap * near;
                b += change * near;
                c += tap * far;
                d += change * far;
            }
            STORE(output + i, a + ramp * b);
            STORE(output + i + 8, c + (ramp + 0.5f) * d);
            i += run;
        } else {
            output[i++] = dot(x, first, tap_count);
        }
    }
}

// In state space, where from one sample to the next only a product and a sum of each section have to wait for each other:
//
//     y = b0 x + z1        z1 <- (b1 - a1 b0) x + z2 - a1 z1        z2 <- (b2 - a2 b0) x - a2 z1
AT_LEVEL void KERNEL(vk_biquad)(vk_section *section, const float *input, float *output, size_t count) {
    vk_section a = *section;
    for (size_t i = 0; i < count; i++) {
        const double x = input[i];
        output[i] = (float)(a.b0 * x + a.z1);
        const double z1 = a.c1 * x + a.z2 - a.a1 * a.z1;
        a.z2 = a.c2 * x - a.a2 * a.z1;
        a.z1 = z1;
    }
    *section = a;
}

AT_LEVEL double KERNEL(vk_weighted_energy)(const float *input, size_t count, vk_section *first, vk_section *second) {
    vk_section a = *first, b = *second;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const double x = input[i];
        const double y = a.b0 * x + a.z1, w = b.b0 * y + b.z1;
        const double z1 = a.c1 * x + a.z2 - a.a1 * a.z1, v1 = b.c1 * y + b.z2 - b.a1 * b.z1;
        a.z2 = a.c2 * x - a.a2 * a.z1;
        b.z2 = b.c2 * y - b.a2 * b.z1;
        a.z1 = z1;
        b.z1 = v1;
        sum += w * w;
    }
    *first = a;
    *second = b;
    return sum;
}
