// Spectra in time order, a row of bins for each block: vectors of neighbouring bins.

#include <string.h>

#include "simd.h"

#define ROW(values, at) (*(const lanes16 *)((values) + (at)))

// Where a lane's row is.
VK_INLINE size_t place(const vk_history *of, size_t lane) {
    const size_t slot = of->newest + lane;
    return (slot < of->slots ? slot : slot - of->slots) * of->stride;
}

WIDE void KERNEL(vk_filter_history)(
    const vk_history *x, const float *w_real, const float *w_imaginary, size_t lanes, float *real, float *imaginary) {
    enum { VECTORS = VK_WHOLE_BINS / 16 };
    _Alignas(64) lanes16 re[VECTORS] = {0}, im[VECTORS] = {0};
    for (size_t lane = 0; lane < lanes; lane += 4) {
        size_t rows[4];
        for (size_t j = 0; j < 4; j++) rows[j] = place(x, lane + j);
        for (size_t v = 0; v < VECTORS; v++)
            for (size_t j = 0; j < 4; j++) {
                const size_t at = (lane + j) * VK_WHOLE_BINS + 16 * v;
                const lanes16 xr = ROW(x->real, rows[j] + 16 * v), xi = ROW(x->imaginary, rows[j] + 16 * v);
                const lanes16 wr = ROW(w_real, at), wi = ROW(w_imaginary, at);
                re[v] += xr * wr;
                im[v] += xr * wi;
                re[v] -= xi * wi;
                im[v] += xi * wr;
            }
    }
    memcpy(real, re, VK_BINS * sizeof(float));
    memcpy(imaginary, im, VK_BINS * sizeof(float));
}

WIDE void KERNEL(vk_correlate)(
    const vk_history *u, const vk_history *d, size_t blocks, float memory, size_t first, float *sum_real, float *sum_imaginary) {
    enum { VECTORS = VK_SEARCHED_BINS / 16 };
    _Alignas(64) lanes16 dr[2][VECTORS] = {0}, di[2][VECTORS] = {0};
    float kept = 1;
    for (size_t j = 0; j < blocks; j++, kept *= memory)
        for (size_t v = 0; v < VECTORS; v++) {
            dr[j][v] = kept * ROW(d->real, place(d, j) + 16 * v);
            di[j][v] = kept * ROW(d->imaginary, place(d, j) + 16 * v);
        }
    for (size_t lane = 0; lane < VK_SEARCHED; lane++) {
        const size_t rows[] = {place(u, first + lane), place(u, first + lane + 1)};
        for (size_t v = 0; v < VECTORS; v++) {
            lanes16 *const real = (lanes16 *)(sum_real + lane * VK_SEARCHED_BINS) + v;
            lanes16 *const imaginary = (lanes16 *)(sum_imaginary + lane * VK_SEARCHED_BINS) + v;
            lanes16 re = kept * *real, im = kept * *imaginary;
            for (size_t j = 0; j < 2; j++) {
                const lanes16 ur = ROW(u->real, rows[j] + 16 * v), ui = ROW(u->imaginary, rows[j] + 16 * v);
                re += dr[j][v] * ur;
                im += di[j][v] * ur;
                re += di[j][v] * ui;
                im -= dr[j][v] * ui;
            }
            *real = re;
            *imaginary = im;
        }
    }
}
