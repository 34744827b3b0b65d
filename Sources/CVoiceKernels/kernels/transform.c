// Real transforms of 320 frames, eight or sixteen at once: a complex one of 160 by Stockham's self-sorting algorithm with radices
// 5, 4, 4, 2 and the usual separation of even and odd frames. The lanes are the vector: there is no shuffle and no bit
// reversal.

#include <math.h>
#include <string.h>

#include "simd.h"

enum { HALF = VK_FRAMES / 2 };

// Where the tables begin: exp(-2 pi i n / 160) and exp(-2 pi i n / 320).
enum { COMPLEX_COS = 0, COMPLEX_SIN = HALF, REAL_COS = VK_FRAMES, REAL_SIN = 2 * VK_FRAMES };

#if VK_LEVEL == 1
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
#endif

// To a vector of 8.
#define FOLD(v) (v)
#define LANES 8
#include "transform-lanes.h"
#define FOLD(v)                                                                \
    (__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) + \
     __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15))
#define LANES 16
#include "transform-lanes.h"

// Sixteen lanes at once only where registers are as wide: else they would be two halves of which neither stays in the nearest cache.
WIDE static void learn_wide(
    const float *tables, const vk_path *of, size_t lane, const float *error_real, const float *error_imaginary, const float *gain,
    float memory, lanes8 *sums) {
    if (sums) return learn16(tables, of, lane, error_real, error_imaginary, gain, memory, sums);
    learn16(tables, of, lane, error_real, error_imaginary, gain, memory, NULL);
}

AT_LEVEL static void learn_narrow(
    const float *tables, const vk_path *of, size_t lane, const float *error_real, const float *error_imaginary, const float *gain,
    float memory, lanes8 *sums) {
    if (sums) return learn8(tables, of, lane, error_real, error_imaginary, gain, memory, sums);
    learn8(tables, of, lane, error_real, error_imaginary, gain, memory, NULL);
}

AT_LEVEL static void weigh(const float *e_real, const float *e_imaginary, const float *gain, float *real, float *imaginary) {
    for (int k = 0; k < VK_BINS; k++) {
        real[k] = 0.25f / HALF * e_real[k] * gain[k];
        imaginary[k] = 0.25f / HALF * e_imaginary[k] * gain[k];
    }
}

AT_LEVEL static void add_up(const lanes8 *sums, float *real, float *imaginary) {
    for (int k = 0; k < VK_BINS - 1; k += VK_LANES) {
        sum_each(sums + 2 * k, 2, real + k);
        sum_each(sums + 2 * k + 1, 2, imaginary + k);
    }
    real[VK_BINS - 1] = SUM(sums[2 * VK_BINS - 2]);
    imaginary[VK_BINS - 1] = SUM(sums[2 * VK_BINS - 1]);
}

void KERNEL(vk_learn)(
    const float *tables, const vk_path *path, const float *e_real, const float *e_imaginary, const float *gain, float memory, float *real,
    float *imaginary) {
    float weighed_real[VK_BINS], weighed_imaginary[VK_BINS];
    _Alignas(64) lanes8 sums[2 * VK_BINS];
    const int isEstimated = real != NULL;
    if (isEstimated) memset(sums, 0, sizeof sums);
    weigh(e_real, e_imaginary, gain, weighed_real, weighed_imaginary);
    size_t lane = 0;
    for (; IS_WIDE && lane + 16 <= path->lanes; lane += 16)
        learn_wide(tables, path, lane, weighed_real, weighed_imaginary, gain, memory, isEstimated ? sums : NULL);
    for (; lane < path->lanes; lane += VK_LANES)
        learn_narrow(tables, path, lane, weighed_real, weighed_imaginary, gain, memory, isEstimated ? sums : NULL);
    if (isEstimated) add_up(sums, real, imaginary);
}

WIDE static void lags_wide(const float *tables, const float *real, const float *imaginary, size_t stride, float *time) {
    lags16(tables, real, imaginary, stride, time, VK_SEARCHED);
}

AT_LEVEL static void lags_narrow(const float *tables, const float *real, const float *imaginary, size_t stride, float *time) {
    lags8(tables, real, imaginary, stride, time, VK_SEARCHED);
}

void KERNEL(vk_lags)(const float *tables, const float *real, const float *imaginary, size_t stride, float *time) {
    if (IS_WIDE) return lags_wide(tables, real, imaginary, stride, time);
    for (size_t lane = 0; lane < VK_SEARCHED; lane += VK_LANES)
        lags_narrow(tables, real + lane, imaginary + lane, stride, time + lane);
}
