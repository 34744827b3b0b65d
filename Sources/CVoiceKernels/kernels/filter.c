// The partitioned filter's arithmetic: a row of lanes for each bin, a lane for each partition.

#include "simd.h"

AT_LEVEL void KERNEL(vk_push_lane)(float *rows, size_t row_count, size_t stride, size_t first, size_t count, const float *values) {
    for (size_t row = 0; row < row_count; row++) {
        float *const at = rows + row * stride + first;
        for (size_t lane = count - VK_LANES; lane > 0; lane -= VK_LANES) STORE(at + lane, LOAD(at + lane - 1));
        const lanes8 lowest = LOAD(at), new = values[row] - (lanes8){0};
        STORE(at, __builtin_shufflevector(new, lowest, 0, 8, 9, 10, 11, 12, 13, 14));
    }
}

// The products of bin k, and those with the variance where there is one.
VK_INLINE void estimate_bin(const vk_path *path, int hasVariance, size_t k, lanes8 *real, lanes8 *imaginary, lanes8 *uncertainty) {
    const size_t lanes = path->lanes;
    const float *const x_real = path->x_real + k * path->x_stride, *const x_imaginary = path->x_imaginary + k * path->x_stride;
    lanes8 re = {0}, im = {0}, sum = {0};
    for (size_t l = 0; l < lanes; l += VK_LANES) {
        const lanes8 xr = LOAD(x_real + l), xi = LOAD(x_imaginary + l);
        const lanes8 wr = LOAD(path->w_real + k * lanes + l), wi = LOAD(path->w_imaginary + k * lanes + l);
        re += xr * wr - xi * wi;
        im += xr * wi + xi * wr;
        if (hasVariance) sum += LOAD(path->variance + k * lanes + l) * (xr * xr + xi * xi);
    }
    *real = re;
    *imaginary = im;
    *uncertainty = 0.5f * sum;
}

VK_INLINE void estimate(const vk_path *path, int hasVariance, float *real, float *imaginary, float *uncertainty) {
    lanes8 re[VK_LANES], im[VK_LANES], sum[VK_LANES];
    for (size_t k = 0; k + VK_LANES <= VK_BINS; k += VK_LANES) {
        for (size_t j = 0; j < VK_LANES; j++) estimate_bin(path, hasVariance, k + j, re + j, im + j, sum + j);
        sum_each(re, 1, real + k);
        sum_each(im, 1, imaginary + k);
        if (hasVariance) sum_each(sum, 1, uncertainty + k);
    }
    estimate_bin(path, hasVariance, VK_BINS - 1, re, im, sum);
    real[VK_BINS - 1] = SUM(re[0]);
    imaginary[VK_BINS - 1] = SUM(im[0]);
    if (hasVariance) uncertainty[VK_BINS - 1] = SUM(sum[0]);
}

AT_LEVEL void KERNEL(vk_filter)(
    const float *x_real, const float *x_imaginary, size_t x_stride, const float *w_real, const float *w_imaginary, size_t lanes,
    float *real, float *imaginary) {
    const vk_path path = {x_real, x_imaginary, x_stride, (float *)w_real, (float *)w_imaginary, NULL, lanes};
    estimate(&path, 0, real, imaginary, NULL);
}

AT_LEVEL void KERNEL(vk_estimate)(const vk_path *path, float *real, float *imaginary, float *uncertainty) {
    estimate(path, 1, real, imaginary, uncertainty);
}

AT_LEVEL void KERNEL(vk_mean_power)(const float *real, const float *imaginary, size_t reach, float *mean) {
    float power[VK_REACH + VK_BINS + VK_REACH] = {0};
    for (size_t k = 0; k < VK_BINS; k++) power[reach + k] = real[k] * real[k] + imaginary[k] * imaginary[k];
    // Sums of their own rather than one that slides: what is subtracted from a sum takes the quiet bins' last digits
    // with it.
    for (size_t k = 0; k + VK_LANES <= VK_BINS; k += VK_LANES) {
        lanes8 sum = {0};
        for (size_t shift = 0; shift <= 2 * reach; shift++) sum += LOAD(power + k + shift);
        STORE(mean + k, sum);
    }
    float last = 0;
    for (size_t shift = 0; shift <= 2 * reach; shift++) last += power[VK_BINS - 1 + shift];
    mean[VK_BINS - 1] = last;
    const float all = (float)(2 * reach + 1);
    for (size_t k = reach; k < VK_BINS - reach; k++) mean[k] /= all;
    for (size_t k = 0; k < reach; k++) {
        mean[k] /= (float)(reach + 1 + k);
        mean[VK_BINS - 1 - k] /= (float)(reach + 1 + k);
    }
}
_Static_assert(VK_BINS % VK_LANES == 1, "a bin is left behind whole vectors");
