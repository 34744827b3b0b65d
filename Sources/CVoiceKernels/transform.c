// Real transforms of 320 frames, eight at once: a complex one of 160 by Stockham's self-sorting algorithm with radices
// 5, 4, 4, 2 and the usual separation of even and odd frames. The lanes are the vector: there is no shuffle and no bit
// reversal.

#include <math.h>
#include <string.h>

#include "include/CVoiceKernels.h"
#include "simd.h"

enum { HALF = VK_FRAMES / 2 };

// Where the tables begin: exp(-2 pi i n / 160) and exp(-2 pi i n / 320).
enum { COMPLEX_COS = 0, COMPLEX_SIN = HALF, REAL_COS = VK_FRAMES, REAL_SIN = 2 * VK_FRAMES };

typedef struct {
    lanes8 re[HALF], im[HALF];
} signal8;

void vk_prepare_tables(float *tables) {
    memset(tables, 0, VK_TABLES * sizeof(float));
    for (int n = 0; n < HALF; n++) {
        tables[COMPLEX_COS + n] = (float)cos(-2 * M_PI * n / HALF);
        tables[COMPLEX_SIN + n] = (float)sin(-2 * M_PI * n / HALF);
    }
    for (int n = 0; n <= HALF; n++) {
        tables[REAL_COS + n] = (float)cos(-2 * M_PI * n / VK_FRAMES);
        tables[REAL_SIN + n] = (float)sin(-2 * M_PI * n / VK_FRAMES);
    }
}

#define TURN(out_re, out_im, a_re, a_im, index)                                         \
    do {                                                                                \
        const float c_ = tables[COMPLEX_COS + (index)], s_ = tables[COMPLEX_SIN + (index)]; \
        out_re = (a_re) * c_ - (a_im) * s_;                                             \
        out_im = (a_re) * s_ + (a_im) * c_;                                             \
    } while (0)

// One pass over `length` = radix * m points, of which `s` interleaved ones are alike.
VK_INLINE void pass2(const float *tables, const signal8 *x, signal8 *y, int length, int s) {
    const int m = length / 2;
    for (int p = 0; p < m; p++)
        for (int q = 0; q < s; q++) {
            const int a = q + s * p, b = a + s * m, o = q + 2 * s * p;
            const lanes8 dr = x->re[a] - x->re[b], di = x->im[a] - x->im[b];
            y->re[o] = x->re[a] + x->re[b];
            y->im[o] = x->im[a] + x->im[b];
            TURN(y->re[o + s], y->im[o + s], dr, di, p * s);
        }
}

VK_INLINE void pass4(const float *tables, const signal8 *x, signal8 *y, int length, int s) {
    const int m = length / 4;
    for (int p = 0; p < m; p++)
        for (int q = 0; q < s; q++) {
            const int a = q + s * p, b = a + s * m, c = b + s * m, d = c + s * m, o = q + 4 * s * p;
            const lanes8 ur = x->re[a] + x->re[c], ui = x->im[a] + x->im[c];
            const lanes8 vr = x->re[a] - x->re[c], vi = x->im[a] - x->im[c];
            const lanes8 wr = x->re[b] + x->re[d], wi = x->im[b] + x->im[d];
            const lanes8 zr = x->im[b] - x->im[d], zi = x->re[d] - x->re[b];  // -i (b - d)
            y->re[o] = ur + wr;
            y->im[o] = ui + wi;
            TURN(y->re[o + s], y->im[o + s], vr + zr, vi + zi, p * s);
            TURN(y->re[o + 2 * s], y->im[o + 2 * s], ur - wr, ui - wi, 2 * p * s);
            TURN(y->re[o + 3 * s], y->im[o + 3 * s], vr - zr, vi - zi, 3 * p * s);
        }
}

// The first pass alone has radix 5, so its stride is 1. Winograd's form: five points with five multiplications.
VK_INLINE void pass5(const float *tables, const signal8 *x, signal8 *y, int length) {
    const int m = length / 5;
    const float c1 = 0.309016994f, c2 = -0.809016994f, s1 = 0.951056516f, s2 = 0.587785252f;  // cos and sin of 72 and 144 degrees
    for (int p = 0; p < m; p++) {
        const lanes8 ar = x->re[p], ai = x->im[p];
        const lanes8 br = x->re[p + m] + x->re[p + 4 * m], bi = x->im[p + m] + x->im[p + 4 * m];
        const lanes8 cr = x->re[p + 2 * m] + x->re[p + 3 * m], ci = x->im[p + 2 * m] + x->im[p + 3 * m];
        const lanes8 dr = x->re[p + m] - x->re[p + 4 * m], di = x->im[p + m] - x->im[p + 4 * m];
        const lanes8 er = x->re[p + 2 * m] - x->re[p + 3 * m], ei = x->im[p + 2 * m] - x->im[p + 3 * m];
        const lanes8 fr = ar + c1 * br + c2 * cr, fi = ai + c1 * bi + c2 * ci;
        const lanes8 gr = ar + c2 * br + c1 * cr, gi = ai + c2 * bi + c1 * ci;
        const lanes8 hr = s1 * di + s2 * ei, hi = -s1 * dr - s2 * er;  // -i (s1 d + s2 e)
        const lanes8 kr = s2 * di - s1 * ei, ki = -s2 * dr + s1 * er;
        const int o = 5 * p;
        y->re[o] = ar + br + cr;
        y->im[o] = ai + bi + ci;
        TURN(y->re[o + 1], y->im[o + 1], fr + hr, fi + hi, p);
        TURN(y->re[o + 2], y->im[o + 2], gr + kr, gi + ki, 2 * p);
        TURN(y->re[o + 3], y->im[o + 3], gr - kr, gi - ki, 3 * p);
        TURN(y->re[o + 4], y->im[o + 4], fr - hr, fi - hi, 4 * p);
    }
}

// In place; `work` is as large.
VK_INLINE void complex_transform(const float *tables, signal8 *x, signal8 *work) {
    pass5(tables, x, work, HALF);
    pass4(tables, work, x, 32, 5);
    pass4(tables, x, work, 8, 20);
    pass2(tables, work, x, 2, 80);
}

// The spectrum of the real signal from that of the complex one whose parts are its even and its odd frames.
VK_INLINE void separate(const float *tables, const signal8 *x, float *real, float *imaginary, size_t stride) {
    for (int k = 0; k <= HALF; k++) {
        const int a = k % HALF, b = (HALF - k) % HALF;
        const float c = tables[REAL_COS + k], s = tables[REAL_SIN + k];
        const lanes8 er = 0.5f * (x->re[a] + x->re[b]), ei = 0.5f * (x->im[a] - x->im[b]);
        const lanes8 or_ = 0.5f * (x->im[a] + x->im[b]), oi = 0.5f * (x->re[b] - x->re[a]);
        STORE(real + k * stride, er + or_ * c - oi * s);
        STORE(imaginary + k * stride, ei + or_ * s + oi * c);
    }
}

// The reverse of separate(), conjugated and scaled, so that a forward transform does the inverse.
VK_INLINE void join(const float *tables, const float *real, const float *imaginary, size_t stride, signal8 *x) {
    const float scale = 0.5f / HALF;
    for (int k = 0; k < HALF; k++) {
        const float c = tables[REAL_COS + k], s = tables[REAL_SIN + k];
        const lanes8 ar = LOAD(real + k * stride), ai = LOAD(imaginary + k * stride);
        const lanes8 br = LOAD(real + (HALF - k) * stride), bi = -LOAD(imaginary + (HALF - k) * stride);
        const lanes8 er = ar + br, ei = ai + bi, dr = ar - br, di = ai - bi;
        const lanes8 or_ = dr * c + di * s, oi = di * c - dr * s;
        x->re[k] = scale * (er - oi);
        x->im[k] = -scale * (ei + or_);
    }
}

VK_CLONES void vk_forward(const float *tables, const float *time, float *real, float *imaginary) {
    signal8 x, work;
    for (int n = 0; n < HALF; n++) {
        x.re[n] = LOAD(time + 2 * n * VK_LANES);
        x.im[n] = LOAD(time + (2 * n + 1) * VK_LANES);
    }
    complex_transform(tables, &x, &work);
    separate(tables, &x, real, imaginary, VK_LANES);
}

VK_CLONES void vk_inverse(const float *tables, const float *real, const float *imaginary, float *time) {
    signal8 x, work;
    join(tables, real, imaginary, VK_LANES, &x);
    complex_transform(tables, &x, &work);
    for (int n = 0; n < HALF; n++) {
        STORE(time + 2 * n * VK_LANES, x.re[n]);
        STORE(time + (2 * n + 1) * VK_LANES, -x.im[n]);
    }
}

VK_CLONES void vk_constrain(const float *tables, float *real, float *imaginary, size_t lanes) {
    signal8 x, work;
    for (size_t lane = 0; lane < lanes; lane += VK_LANES) {
        join(tables, real + lane, imaginary + lane, lanes, &x);
        complex_transform(tables, &x, &work);
        for (int n = 0; n < HALF / 2; n++) x.im[n] = -x.im[n];
        memset(x.re + HALF / 2, 0, sizeof(x.re) / 2);
        memset(x.im + HALF / 2, 0, sizeof(x.im) / 2);
        complex_transform(tables, &x, &work);
        separate(tables, &x, real + lane, imaginary + lane, lanes);
    }
}
