// Real transforms of 320 frames, eight or sixteen at once: a complex one of 160 by Stockham's self-sorting algorithm with radices
// 5, 4, 4, 2 and the usual separation of even and odd frames. The lanes are the vector: there is no shuffle and no bit
// reversal.

#include <math.h>
#include <string.h>

#include "include/CVoiceKernels.h"
#include "simd.h"

enum { HALF = VK_FRAMES / 2 };

// Where the tables begin: exp(-2 pi i n / 160) and exp(-2 pi i n / 320).
enum { COMPLEX_COS = 0, COMPLEX_SIN = HALF, REAL_COS = VK_FRAMES, REAL_SIN = 2 * VK_FRAMES };

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

#define LANES 8
#include "transform-lanes.h"
#define LANES 16
#include "transform-lanes.h"

// Sixteen lanes at once only where registers are as wide: else they would be two halves of which neither stays in the nearest cache.
WIDE static void constrain_wide(const float *tables, float *real, float *imaginary, size_t stride) {
    constrain16(tables, real, imaginary, stride);
}

WIDE static void lags_wide(const float *tables, const float *real, const float *imaginary, size_t stride, float *time) {
    lags16(tables, real, imaginary, stride, time, VK_SEARCHED);
}

VK_CLONES static void constrain_narrow(const float *tables, float *real, float *imaginary, size_t stride) {
    constrain8(tables, real, imaginary, stride);
}

VK_CLONES static void lags_narrow(const float *tables, const float *real, const float *imaginary, size_t stride, float *time) {
    lags8(tables, real, imaginary, stride, time, VK_SEARCHED);
}

void vk_constrain(const float *tables, float *real, float *imaginary, size_t lanes) {
    size_t lane = 0;
    for (; IS_WIDE && lane + 16 <= lanes; lane += 16) constrain_wide(tables, real + lane, imaginary + lane, lanes);
    for (; lane < lanes; lane += VK_LANES) constrain_narrow(tables, real + lane, imaginary + lane, lanes);
}

void vk_lags(const float *tables, const float *real, const float *imaginary, size_t stride, float *time) {
    if (IS_WIDE) return lags_wide(tables, real, imaginary, stride, time);
    for (size_t lane = 0; lane < VK_SEARCHED; lane += VK_LANES)
        lags_narrow(tables, real + lane, imaginary + lane, stride, time + lane);
}
