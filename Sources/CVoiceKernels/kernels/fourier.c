// The discrete Fourier transform of any power of two, pass by pass in Stockham's order, and the step between real
// signals and complex ones of half the length; Swift has the passes' order and the tables. Without fused
// multiplications, so that a transform gives the same bits on every machine and at every level.

#include "simd.h"

typedef float lanes4 __attribute__((vector_size(16), aligned(4)));
#define LOAD4(at) (*(const lanes4 *)(at))
#define STORE4(at, value) (*(lanes4 *)(at) = (value))
#define LOAD1(at) (*(at))
#define STORE1(at, value) (*(at) = (value))

// Four points, `other` apart, become four others y0 ... y3, before they are turned by the factors.
#define BUTTERFLY(V, READ, re, im, other)                                                                                              \
    const V x0r = READ(re), x1r = READ((re) + (other)), x2r = READ((re) + 2 * (other)), x3r = READ((re) + 3 * (other));                \
    const V x0i = READ(im), x1i = READ((im) + (other)), x2i = READ((im) + 2 * (other)), x3i = READ((im) + 3 * (other));                \
    const V even_r = x0r + x2r, even_i = x0i + x2i, odd_r = x1r + x3r, odd_i = x1i + x3i;                                              \
    const V across_r = x0r - x2r, across_i = x0i - x2i, turned_r = x3i - x1i, turned_i = x1r - x3r;                                    \
    const V y0r = even_r + odd_r, y0i = even_i + odd_i, y1r = across_r - turned_r, y1i = across_i - turned_i;                          \
    const V y2r = even_r - odd_r, y2i = even_i - odd_i, y3r = across_r + turned_r, y3i = across_i + turned_i

// The factors of group `group`, of each V; cosines and sines of one, two and three times its angle.
#define FACTORS(V, READ, factors, groups, group)                                                                                       \
    const V c1 = READ((factors) + (group)), s1 = READ((factors) + (groups) + (group));                                                 \
    const V c2 = READ((factors) + 2 * (groups) + (group)), s2 = READ((factors) + 3 * (groups) + (group));                              \
    const V c3 = READ((factors) + 4 * (groups) + (group)), s3 = READ((factors) + 5 * (groups) + (group))

#define WRITE(STORE, re, im, apart)                                                                                                    \
    do {                                                                                                                               \
        STORE(re, y0r);                                                                                                                \
        STORE(im, y0i);                                                                                                                \
        STORE((re) + (apart), y1r * c1 - y1i * s1);                                                                                    \
        STORE((im) + (apart), y1r * s1 + y1i * c1);                                                                                    \
        STORE((re) + 2 * (apart), y2r * c2 - y2i * s2);                                                                                \
        STORE((im) + 2 * (apart), y2r * s2 + y2i * c2);                                                                                \
        STORE((re) + 3 * (apart), y3r * c3 - y3i * s3);                                                                                \
        STORE((im) + 3 * (apart), y3r * s3 + y3i * c3);                                                                                \
    } while (0)

// The numbers of four vectors in turn: first[0], second[0], third[0], fourth[0], first[1] ...
#define LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define INTERLEAVE(at, first, second, third, fourth)                                                                                   \
    do {                                                                                                                               \
        const lanes8 f = first, s = second, t = third, u = fourth;                                                                     \
        const lanes8 ft = LOW(f, t), su = LOW(s, u), ft_high = HIGH(f, t), su_high = HIGH(s, u);                                       \
        STORE(at, LOW(ft, su));                                                                                                        \
        STORE((at) + 8, HIGH(ft, su));                                                                                                 \
        STORE((at) + 16, LOW(ft_high, su_high));                                                                                       \
        STORE((at) + 24, HIGH(ft_high, su_high));                                                                                      \
    } while (0)

AT_LEVEL void KERNEL(vk_fourier_pass4)(
    const float *factors, const float *in_re, const float *in_im, float *out_re, float *out_im, size_t groups, size_t stride) {
#pragma clang fp contract(off)
    const size_t other = groups * stride;
    size_t group = 0;
    // In the first pass neighbours belong to different groups, and what they become does not lie together.
    for (; stride == 1 && group + 8 <= groups; group += 8) {
        BUTTERFLY(lanes8, LOAD, in_re + group, in_im + group, other);
        FACTORS(lanes8, LOAD, factors, groups, group);
        INTERLEAVE(out_re + 4 * group, y0r, y1r * c1 - y1i * s1, y2r * c2 - y2i * s2, y3r * c3 - y3i * s3);
        INTERLEAVE(out_im + 4 * group, y0i, y1r * s1 + y1i * c1, y2r * s2 + y2i * c2, y3r * s3 + y3i * c3);
    }
    for (; group < groups; group++) {
        FACTORS(float, LOAD1, factors, groups, group);
        const float *const re = in_re + stride * group, *const im = in_im + stride * group;
        float *const to_re = out_re + 4 * stride * group, *const to_im = out_im + 4 * stride * group;
        size_t at = 0;
        for (; at + 8 <= stride; at += 8) {
            BUTTERFLY(lanes8, LOAD, re + at, im + at, other);
            WRITE(STORE, to_re + at, to_im + at, stride);
        }
        for (; at + 4 <= stride; at += 4) {
            BUTTERFLY(lanes4, LOAD4, re + at, im + at, other);
            WRITE(STORE4, to_re + at, to_im + at, stride);
        }
        for (; at < stride; at++) {
            BUTTERFLY(float, LOAD1, re + at, im + at, other);
            WRITE(STORE1, to_re + at, to_im + at, stride);
        }
    }
}

AT_LEVEL void KERNEL(vk_fourier_last_pass2)(const float *in_re, const float *in_im, float *out_re, float *out_im, size_t half) {
#pragma clang fp contract(off)
    for (size_t at = 0; at < half; at++) {
        out_re[at] = in_re[at] + in_re[half + at];
        out_im[at] = in_im[at] + in_im[half + at];
        out_re[half + at] = in_re[at] - in_re[half + at];
        out_im[half + at] = in_im[at] - in_im[half + at];
    }
}

AT_LEVEL void KERNEL(vk_real_to_complex)(const float *signal, float *re, float *im, size_t half) {
    for (size_t at = 0; at < half; at++) {
        re[at] = signal[2 * at];
        im[at] = signal[2 * at + 1];
    }
}

AT_LEVEL void KERNEL(vk_complex_to_real)(const float *re, const float *im, float scale, float *signal, size_t half) {
    for (size_t at = 0; at < half; at++) {
        signal[2 * at] = re[at] * scale;
        signal[2 * at + 1] = im[at] * scale;
    }
}

AT_LEVEL void KERNEL(vk_split_spectrum)(
    const float *cosines, const float *sines, const float *restrict re, const float *restrict im, float *restrict out_re,
    float *restrict out_im, size_t half) {
#pragma clang fp contract(off)
    out_re[0] = re[0] + im[0];
    out_im[0] = 0;
    out_re[half] = re[0] - im[0];
    out_im[half] = 0;
    for (size_t bin = 1; bin < half; bin++) {
        const float ar = re[bin], ai = im[bin], br = re[half - bin], bi = im[half - bin];
        // The spectra of the even and of the odd samples; the latter are turned by half a step of this bin.
        const float even_r = 0.5f * (ar + br), even_i = 0.5f * (ai - bi), odd_r = 0.5f * (ai + bi), odd_i = 0.5f * (br - ar);
        out_re[bin] = even_r + cosines[bin] * odd_r + sines[bin] * odd_i;
        out_im[bin] = even_i + cosines[bin] * odd_i - sines[bin] * odd_r;
    }
}

AT_LEVEL void KERNEL(vk_join_spectrum)(
    const float *cosines, const float *sines, const float *restrict re, const float *restrict im, float *restrict out_re,
    float *restrict out_im, size_t half) {
#pragma clang fp contract(off)
    for (size_t bin = 0; bin < half; bin++) {
        const float xr = re[bin], xi = im[bin], yr = re[half - bin], yi = im[half - bin];
        const float turned_r = xr - yr, turned_i = xi + yi;
        out_re[bin] = xr + yr - (cosines[bin] * turned_i + sines[bin] * turned_r);
        out_im[bin] = xi - yi + (cosines[bin] * turned_r - sines[bin] * turned_i);
    }
}
