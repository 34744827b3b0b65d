// The real transform of VK_FRAMES frames of one signal: a complex one of half the points by Stockham's self-sorting algorithm with radices
// 4, 4, 2, 5, whose vectors are neighbouring points, and the usual separation of even and odd frames.

#include <math.h>

#include "simd.h"

enum { POINTS = VK_FRAMES / 2, FIRST_GROUPS = POINTS / 4, SECOND_GROUPS = FIRST_GROUPS / 4, THIRD_GROUPS = SECOND_GROUPS / 2 };

// Where the tables begin: for the passes rows of cosines and sines of one, two and three times a group's angle, in the second pass each four
// times, for the four points that are alike; then cosines and sines of pi bin / POINTS for bins from 1 to POINTS / 2.
enum {
    FIRST = 0,
    SECOND = FIRST + 6 * FIRST_GROUPS,
    THIRD = SECOND + 6 * 4 * SECOND_GROUPS,
    COSINES = THIRD + 2 * THIRD_GROUPS,
    SINES = COSINES + POINTS / 2,
    END = SINES + POINTS / 2
};
_Static_assert(END == VK_ALONE_TABLES, "as large as the header says");

#if VK_LEVEL == 1
void vk_prepare_alone(float *tables) {
    for (int turn = 1; turn <= 3; turn++) {
        float *const first = tables + FIRST + (turn - 1) * 2 * FIRST_GROUPS, *const second = tables + SECOND + (turn - 1) * 8 * SECOND_GROUPS;
        for (int group = 0; group < FIRST_GROUPS; group++) {
            const double angle = -2 * M_PI * turn * group / POINTS, alike = -2 * M_PI * turn * (group / 4) / FIRST_GROUPS;
            first[group] = (float)cos(angle);
            first[FIRST_GROUPS + group] = (float)sin(angle);
            second[group] = (float)cos(alike);
            second[FIRST_GROUPS + group] = (float)sin(alike);
        }
    }
    for (int group = 0; group < THIRD_GROUPS; group++) {
        const double angle = -2 * M_PI * group / SECOND_GROUPS;
        tables[THIRD + group] = (float)cos(angle);
        tables[THIRD + THIRD_GROUPS + group] = (float)sin(angle);
    }
    for (int bin = 1; bin <= POINTS / 2; bin++) {
        tables[COSINES + bin - 1] = (float)cos(M_PI * bin / POINTS);
        tables[SINES + bin - 1] = (float)sin(M_PI * bin / POINTS);
    }
}
#endif

typedef struct {
    _Alignas(64) float re[POINTS];
    _Alignas(64) float im[POINTS];
} complex160;

#define LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)

// The numbers of four vectors in turn: first[0], second[0], third[0], fourth[0], first[1] ...
VK_INLINE void interleave(float *at, const lanes8 *y) {
    const lanes8 ft = LOW(y[0], y[2]), su = LOW(y[1], y[3]), ft_high = HIGH(y[0], y[2]), su_high = HIGH(y[1], y[3]);
    STORE(at, LOW(ft, su));
    STORE(at + 8, HIGH(ft, su));
    STORE(at + 16, LOW(ft_high, su_high));
    STORE(at + 24, HIGH(ft_high, su_high));
}

// Fours of four vectors in turn.
VK_INLINE void interleave_fours(float *at, const lanes8 *y) {
    STORE(at, __builtin_shufflevector(y[0], y[1], 0, 1, 2, 3, 8, 9, 10, 11));
    STORE(at + 8, __builtin_shufflevector(y[2], y[3], 0, 1, 2, 3, 8, 9, 10, 11));
    STORE(at + 16, __builtin_shufflevector(y[0], y[1], 4, 5, 6, 7, 12, 13, 14, 15));
    STORE(at + 24, __builtin_shufflevector(y[2], y[3], 4, 5, 6, 7, 12, 13, 14, 15));
}

// A pass of radix 4: four points become four others, turned by their factors. In the first pass each group is one point and its four outputs
// lie side by side; in the second each group is four points that are alike, so two groups are done at a time.
VK_INLINE void radix4_pass(const float *factors, int in_fours, const complex160 *x, complex160 *y) {
    for (int at = 0; at < FIRST_GROUPS; at += 8) {
        const float *const re = x->re + at, *const im = x->im + at, *const turns = factors + at;
        const lanes8 x0r = LOAD(re), x1r = LOAD(re + FIRST_GROUPS), x2r = LOAD(re + 2 * FIRST_GROUPS), x3r = LOAD(re + 3 * FIRST_GROUPS);
        const lanes8 x0i = LOAD(im), x1i = LOAD(im + FIRST_GROUPS), x2i = LOAD(im + 2 * FIRST_GROUPS), x3i = LOAD(im + 3 * FIRST_GROUPS);
        const lanes8 even_r = x0r + x2r, even_i = x0i + x2i, odd_r = x1r + x3r, odd_i = x1i + x3i;
        const lanes8 across_r = x0r - x2r, across_i = x0i - x2i, turned_r = x1i - x3i, turned_i = x3r - x1r;  // -i (x1 - x3)
        const lanes8 a1r = across_r + turned_r, a1i = across_i + turned_i, a2r = even_r - odd_r, a2i = even_i - odd_i;
        const lanes8 a3r = across_r - turned_r, a3i = across_i - turned_i;
        const lanes8 c1 = LOAD(turns), s1 = LOAD(turns + FIRST_GROUPS), c2 = LOAD(turns + 2 * FIRST_GROUPS);
        const lanes8 s2 = LOAD(turns + 3 * FIRST_GROUPS), c3 = LOAD(turns + 4 * FIRST_GROUPS), s3 = LOAD(turns + 5 * FIRST_GROUPS);
        const lanes8 real[] = {even_r + odd_r, a1r * c1 - a1i * s1, a2r * c2 - a2i * s2, a3r * c3 - a3i * s3};
        const lanes8 imaginary[] = {even_i + odd_i, a1r * s1 + a1i * c1, a2r * s2 + a2i * c2, a3r * s3 + a3i * c3};
        if (in_fours) {
            interleave_fours(y->re + 4 * at, real);
            interleave_fours(y->im + 4 * at, imaginary);
        } else {
            interleave(y->re + 4 * at, real);
            interleave(y->im + 4 * at, imaginary);
        }
    }
}

VK_INLINE void third_pass(const float *tables, const complex160 *x, complex160 *y) {
    enum { ALIKE = 16 };
    for (int group = 0; group < THIRD_GROUPS; group++) {
        const float c = tables[THIRD + group], s = tables[THIRD + THIRD_GROUPS + group];
        for (int q = 0; q < ALIKE; q += 8) {
            const int a = ALIKE * group + q, b = a + POINTS / 2, o = 2 * ALIKE * group + q;
            const lanes8 ar = LOAD(x->re + a), ai = LOAD(x->im + a), br = LOAD(x->re + b), bi = LOAD(x->im + b);
            const lanes8 dr = ar - br, di = ai - bi;
            STORE(y->re + o, ar + br);
            STORE(y->im + o, ai + bi);
            STORE(y->re + o + ALIKE, dr * c - di * s);
            STORE(y->im + o + ALIKE, dr * s + di * c);
        }
    }
}

// Winograd's form: five points with five multiplications.
VK_INLINE void last_pass(const complex160 *x, complex160 *y) {
    enum { ALIKE = 32 };
    const float c1 = 0.309016994f, c2 = -0.809016994f, s1 = 0.951056516f, s2 = 0.587785252f;  // cos and sin of 72 and 144 degrees
    for (int q = 0; q < ALIKE; q += 8) {
        const float *const re = x->re + q, *const im = x->im + q;
        const lanes8 ar = LOAD(re), ai = LOAD(im);
        const lanes8 br = LOAD(re + ALIKE) + LOAD(re + 4 * ALIKE), bi = LOAD(im + ALIKE) + LOAD(im + 4 * ALIKE);
        const lanes8 cr = LOAD(re + 2 * ALIKE) + LOAD(re + 3 * ALIKE), ci = LOAD(im + 2 * ALIKE) + LOAD(im + 3 * ALIKE);
        const lanes8 dr = LOAD(re + ALIKE) - LOAD(re + 4 * ALIKE), di = LOAD(im + ALIKE) - LOAD(im + 4 * ALIKE);
        const lanes8 er = LOAD(re + 2 * ALIKE) - LOAD(re + 3 * ALIKE), ei = LOAD(im + 2 * ALIKE) - LOAD(im + 3 * ALIKE);
        const lanes8 fr = ar + c1 * br + c2 * cr, fi = ai + c1 * bi + c2 * ci;
        const lanes8 gr = ar + c2 * br + c1 * cr, gi = ai + c2 * bi + c1 * ci;
        const lanes8 hr = s1 * di + s2 * ei, hi = -s1 * dr - s2 * er;  // -i (s1 d + s2 e)
        const lanes8 kr = s2 * di - s1 * ei, ki = -s2 * dr + s1 * er;
        STORE(y->re + q, ar + br + cr);
        STORE(y->im + q, ai + bi + ci);
        STORE(y->re + q + ALIKE, fr + hr);
        STORE(y->im + q + ALIKE, fi + hi);
        STORE(y->re + q + 2 * ALIKE, gr + kr);
        STORE(y->im + q + 2 * ALIKE, gi + ki);
        STORE(y->re + q + 3 * ALIKE, gr - kr);
        STORE(y->im + q + 3 * ALIKE, gi - ki);
        STORE(y->re + q + 4 * ALIKE, fr - hr);
        STORE(y->im + q + 4 * ALIKE, fi - hi);
    }
}

// In place.
VK_INLINE void transform(const float *tables, complex160 *x) {
    complex160 work;
    radix4_pass(tables + FIRST, 0, x, &work);
    radix4_pass(tables + SECOND, 1, &work, x);
    third_pass(tables, x, &work);
    last_pass(&work, x);
}

#define REVERSED(v) __builtin_shufflevector(v, v, 7, 6, 5, 4, 3, 2, 1, 0)

AT_LEVEL void KERNEL(vk_forward_alone)(const float *tables, const float *signal, const float *window, float *real, float *imaginary) {
    complex160 x;
    for (int n = 0; n < POINTS; n += 8) {
        lanes16 pairs = *(const lanes16 *)(signal + 2 * n);
        if (window) pairs *= *(const lanes16 *)(window + 2 * n);
        STORE(x.re + n, __builtin_shufflevector(pairs, pairs, 0, 2, 4, 6, 8, 10, 12, 14));
        STORE(x.im + n, __builtin_shufflevector(pairs, pairs, 1, 3, 5, 7, 9, 11, 13, 15));
    }
    transform(tables, &x);
    real[0] = x.re[0] + x.im[0];
    imaginary[0] = 0;
    real[POINTS] = x.re[0] - x.im[0];
    imaginary[POINTS] = 0;
    // Bins k and POINTS - k of the spectra of the even and of the odd frames are conjugates.
    for (int k = 1; k <= POINTS / 2; k += 8) {
        const int mirror = POINTS - k - 7;
        const lanes8 ar = LOAD(x.re + k), ai = LOAD(x.im + k);
        const lanes8 br = REVERSED(LOAD(x.re + mirror)), bi = REVERSED(LOAD(x.im + mirror));
        const lanes8 even_r = 0.5f * (ar + br), even_i = 0.5f * (ai - bi), odd_r = 0.5f * (ai + bi), odd_i = 0.5f * (br - ar);
        const lanes8 c = LOAD(tables + COSINES + k - 1), s = LOAD(tables + SINES + k - 1);
        const lanes8 re = c * odd_r + s * odd_i, im = c * odd_i - s * odd_r;
        const lanes8 mirror_r = even_r - re, mirror_i = im - even_i;
        STORE(real + mirror, REVERSED(mirror_r));
        STORE(imaginary + mirror, REVERSED(mirror_i));
        STORE(real + k, even_r + re);
        STORE(imaginary + k, even_i + im);
    }
}

AT_LEVEL void KERNEL(vk_inverse_alone)(const float *tables, const float *real, const float *imaginary, float *signal) {
    // Real and imaginary parts exchanged, which makes the forward transform the inverse one.
    complex160 x;
    const float scale = 1.0f / VK_FRAMES;
    x.im[0] = scale * (real[0] + real[POINTS]);
    x.re[0] = scale * (real[0] - real[POINTS]);
    for (int k = 1; k <= POINTS / 2; k += 8) {
        const int mirror = POINTS - k - 7;
        const lanes8 ar = LOAD(real + k), ai = LOAD(imaginary + k);
        const lanes8 br = REVERSED(LOAD(real + mirror)), bi = REVERSED(LOAD(imaginary + mirror));
        const lanes8 even_r = scale * (ar + br), even_i = scale * (ai - bi), across_r = scale * (ar - br), across_i = scale * (ai + bi);
        const lanes8 c = LOAD(tables + COSINES + k - 1), s = LOAD(tables + SINES + k - 1);
        const lanes8 odd_r = c * across_i + s * across_r, odd_i = c * across_r - s * across_i;
        const lanes8 mirror_r = even_r + odd_r, mirror_i = odd_i - even_i;
        STORE(x.im + mirror, REVERSED(mirror_r));
        STORE(x.re + mirror, REVERSED(mirror_i));
        STORE(x.im + k, even_r - odd_r);
        STORE(x.re + k, even_i + odd_i);
    }
    transform(tables, &x);
    for (int n = 0; n < POINTS; n += 8) {
        const lanes8 even = LOAD(x.im + n), odd = LOAD(x.re + n);
        STORE(signal + 2 * n, LOW(even, odd));
        STORE(signal + 2 * n + 8, HIGH(even, odd));
    }
}

#undef LOW
#undef HIGH
#undef REVERSED
