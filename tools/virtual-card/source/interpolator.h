// Band-limited interpolation: the sound between two frames, for clocks that run apart.
//
// A Kaiser-windowed sinc of 64 taps: flat within 0.1 dB to 0.41 of the rate (19.8 kHz at 48 kHz), images 95 dB down.
#pragma once

/// Taps on each side of the frame asked for; also the frames that must be known ahead of it.
#define VC_INTERPOLATOR_REACH 32

/// Fills the table, once for the process. Not real-time safe; call before the first interpolation.
void vc_interpolator_prepare(void);

/// The sound `fraction` (0 to 1) of a frame after `at[0]`; reads at[1 - REACH] to at[REACH]. Real-time safe.
float vc_interpolate(const float *at, double fraction);
