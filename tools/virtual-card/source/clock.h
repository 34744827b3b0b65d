// Clocks as whole numbers: a stream's converter counts frames of card time without ever rounding twice.
//
// Card time is in nanoseconds since the card started afresh. A converter's rate is in micro-hertz, so that one part per
// million of 8 kHz is still eight thousand steps; the product of an hour and a rate needs more than 64 bits.
#pragma once

#include <stdint.h>
#include <time.h>

#define VC_NANOSECONDS INT64_C(1000000000)
/// Nanoseconds times micro-hertz to frames.
#define VC_NANOSECOND_MICROHERTZ ((__int128)1000000000000000)

static inline int64_t vc_monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * VC_NANOSECONDS + now.tv_nsec;
}

/// The rate of a converter that runs `ppm` parts per million fast.
static inline int64_t vc_microhertz(long rate, double ppm) {
    double off = (double)rate * ppm;
    return (int64_t)rate * 1000000 + (int64_t)(off < 0 ? off - 0.5 : off + 0.5);
}

/// Frames that a converter has counted by card time `ns`.
static inline int64_t vc_frames_at(int64_t microhertz, int64_t ns) {
    return (int64_t)((__int128)ns * microhertz / VC_NANOSECOND_MICROHERTZ);
}

/// The first nanosecond at which a converter has counted `frames`.
static inline int64_t vc_time_of(int64_t microhertz, int64_t frames) {
    return (int64_t)(((__int128)frames * VC_NANOSECOND_MICROHERTZ + microhertz - 1) / microhertz);
}
