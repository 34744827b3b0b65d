// One pass of a complex transform of any power of two; Swift has the passes' order and the tables. Not compiled for more than the baseline:
// with fused multiplications results would differ from machine to machine, and memory sets the pace.

#include "include/CVoiceKernels.h"
#include "simd.h"

void vk_fourier_pass(const float *cosines, const float *sines, const float *in_re, const float *in_im, float *out_re,
                     float *out_im, size_t half, size_t stride) {
#pragma clang fp contract(off)
    const size_t other = half * stride;
    for (size_t group = 0; group < half; group++) {
        const float c = cosines[group * stride], s = sines[group * stride];
        const float *const a_re = in_re + stride * group, *const a_im = in_im + stride * group;
        float *const b_re = out_re + 2 * stride * group, *const b_im = out_im + 2 * stride * group;
        size_t at = 0;
        for (; at + 8 <= stride; at += 8) {
            const lanes8 xr = LOAD(a_re + at), xi = LOAD(a_im + at);
            const lanes8 yr = LOAD(a_re + other + at), yi = LOAD(a_im + other + at);
            const lanes8 dr = xr - yr, di = xi - yi;
            STORE(b_re + at, xr + yr);
            STORE(b_im + at, xi + yi);
            STORE(b_re + stride + at, dr * c - di * s);
            STORE(b_im + stride + at, dr * s + di * c);
        }
        for (; at < stride; at++) {
            const float dr = a_re[at] - a_re[other + at], di = a_im[at] - a_im[other + at];
            const float sum_re = a_re[at] + a_re[other + at], sum_im = a_im[at] + a_im[other + at];
            b_re[at] = sum_re;
            b_im[at] = sum_im;
            b_re[stride + at] = dr * c - di * s;
            b_im[stride + at] = dr * s + di * c;
        }
    }
}
