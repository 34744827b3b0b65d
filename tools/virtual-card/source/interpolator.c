#define _GNU_SOURCE
#include "interpolator.h"

#include <math.h>
#include <pthread.h>

enum {
    REACH = VC_INTERPOLATOR_REACH,
    TAPS = 2 * REACH,
    // Between neighbouring phases the taps are interpolated linearly; the error falls with the square: -112 dB at 512.
    PHASES = 512,
    // Partial sums, so that the compiler may use vectors without changing the order of additions.
    LANES = 8,
};

// Kaiser's parameter: a stop band about 95 dB down.
#define KAISER_BETA 9.5
// Cut-off in cycles per frame: the transition band, 0.05 to either side, ends short of half the rate's mirror image.
#define CUTOFF 0.46

static float table[PHASES + 1][TAPS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/// The modified Bessel function of the first kind and order zero, by its power series.
static double bessel_i0(double x) {
    double sum = 1, term = 1;
    for (int k = 1; term > sum * 1e-17; k++) {
        term *= (x / (2 * k)) * (x / (2 * k));
        sum += term;
    }
    return sum;
}

static double tap(double distance) {
    double edge = distance / REACH;
    if (fabs(edge) >= 1) return 0;
    double window = bessel_i0(KAISER_BETA * sqrt(1 - edge * edge)) / bessel_i0(KAISER_BETA);
    double angle = 2 * M_PI * CUTOFF * distance;
    return 2 * CUTOFF * (fabs(angle) < 1e-9 ? 1 : sin(angle) / angle) * window;
}

static void fill(void) {
    for (int phase = 0; phase <= PHASES; phase++) {
        double sum = 0;
        for (int i = 0; i < TAPS; i++) sum += tap(i - (REACH - 1) - (double)phase / PHASES);
        // Each phase passes a constant unchanged.
        for (int i = 0; i < TAPS; i++)
            table[phase][i] = (float)(tap(i - (REACH - 1) - (double)phase / PHASES) / sum);
    }
}

void vc_interpolator_prepare(void) { pthread_once(&once, fill); }

float vc_interpolate(const float *at, double fraction) {
    double place = fraction * PHASES;
    int phase = (int)place;
    if (phase >= PHASES) phase = PHASES - 1;
    float between = (float)(place - phase);
    const float *before = table[phase], *after = table[phase + 1], *from = at - (REACH - 1);
    float sums[LANES] = {0};
    for (int i = 0; i < TAPS; i += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            float weight = before[i + lane] + between * (after[i + lane] - before[i + lane]);
            sums[lane] += weight * from[i + lane];
        }
    float sum = 0;
    for (int lane = 0; lane < LANES; lane++) sum += sums[lane];
    return sum;
}
