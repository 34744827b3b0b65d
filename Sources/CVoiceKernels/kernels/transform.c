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

#define UNROLLED _Pragma("clang loop unroll(full)")

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
    float keep, lanes8 *sums) {
    if (sums) return learn16(tables, of, lane, error_real, error_imaginary, gain, keep, sums);
    learn16(tables, of, lane, error_real, error_imaginary, gain, keep, NULL);
}

AT_LEVEL static void learn_narrow(
    const float *tables, const vk_path *of, size_t lane, const float *error_real, const float *error_imaginary, const float *gain,
    float keep, lanes8 *sums) {
    if (sums) return learn8(tables, of, lane, error_real, error_imaginary, gain, keep, sums);
    learn8(tables, of, lane, error_real, error_imaginary, gain, keep, NULL);
}

AT_LEVEL static void weigh(
    const float *e_real, const float *e_imaginary, const float *gain, float keep, float *real, float *imaginary, float *kept) {
    for (int k = 0; k < VK_BINS; k++) {
        real[k] = 0.25f / HALF * e_real[k] * gain[k];
        imaginary[k] = 0.25f / HALF * e_imaginary[k] * gain[k];
        kept[k] = 0.5f * keep * gain[k];
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
    const float keep = memory * memory;
    float weighed_real[VK_BINS], weighed_imaginary[VK_BINS], kept[VK_BINS];
    _Alignas(64) lanes8 sums[2 * VK_BINS];
    const int isEstimated = real != NULL;
    if (isEstimated) memset(sums, 0, sizeof sums);
    weigh(e_real, e_imaginary, gain, keep, weighed_real, weighed_imaginary, kept);
    size_t lane = 0;
    for (; IS_WIDE && lane + 16 <= path->lanes; lane += 16)
        learn_wide(tables, path, lane, weighed_real, weighed_imaginary, kept, keep, isEstimated ? sums : NULL);
    for (; lane < path->lanes; lane += VK_LANES)
        learn_narrow(tables, path, lane, weighed_real, weighed_imaginary, kept, keep, isEstimated ? sums : NULL);
    if (isEstimated) add_up(sums, real, imaginary);
}

WIDE static void lags_wide(const float *tables, const float *real, const float *imaginary, float *time, float *largest, float *row, float *sum) {
    lags16(tables, real, imaginary, time, largest, row, sum);
}

AT_LEVEL static void lags_narrow(
    const float *tables, const float *real, const float *imaginary, float *time, float *largest, float *row, float *sum) {
    lags8(tables, real, imaginary, time, largest, row, sum);
}

// Rows of VK_SEARCHED_BINS become rows of VK_SEARCHED: four bins at a time, in tiles of four rows by four bins.
WIDE static void transpose(const float *spectra, float *lanes) {
#define FOUR(row) (*(const lanes4 *)(spectra + (row) * VK_SEARCHED_BINS + k))
#define TWO_FOURS(row) __builtin_shufflevector(FOUR(row), FOUR((row) + 4), 0, 1, 2, 3, 4, 5, 6, 7)
#define TILES(row) \
    __builtin_shufflevector(TWO_FOURS(row), TWO_FOURS((row) + 8), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define LOWER(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define UPPER(a, b) __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
    for (size_t k = 0; k < VK_SEARCHED_BINS; k += 4) {
        const lanes16 a = TILES(0), b = TILES(1), c = TILES(2), d = TILES(3);
        const lanes16 ac = LOWER(a, c), bd = LOWER(b, d), ac_upper = UPPER(a, c), bd_upper = UPPER(b, d);
        lanes16 *const at = (lanes16 *)(lanes + k * VK_SEARCHED);
        at[0] = LOWER(ac, bd);
        at[1] = UPPER(ac, bd);
        at[2] = LOWER(ac_upper, bd_upper);
        at[3] = UPPER(ac_upper, bd_upper);
    }
#undef FOUR
#undef TWO_FOURS
#undef TILES
#undef LOWER
#undef UPPER
}

void KERNEL(vk_lags)(const float *tables, const float *real, const float *imaginary, float *time, float *largest, float *row, float *sum) {
    _Alignas(64) float re[VK_SEARCHED_BINS * VK_SEARCHED], im[VK_SEARCHED_BINS * VK_SEARCHED];
    transpose(real, re);
    transpose(imaginary, im);
    if (IS_WIDE) return lags_wide(tables, re, im, time, largest, row, sum);
    for (size_t lane = 0; lane < VK_SEARCHED; lane += VK_LANES)
        lags_narrow(tables, re + lane, im + lane, time + lane, largest + lane, row + lane, sum + lane);
}
_Static_assert(VK_SEARCHED == 16 && VK_SEARCHED_BINS % 4 == 0, "a tile is four bins of sixteen lanes");
