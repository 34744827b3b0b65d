"""What the speech network looks at: the same numbers as SpeechFeatures.swift, for whole recordings at 16 kHz.

Of each 10 ms, from the newest 32 ms: levels in bands, how periodic it is in ranges of pitch (twice), and how the level moves inside the block.
"""

import numpy as np

RATE, BLOCK, FRAMES = 16_000, 160, 512
FALL = 80
EDGES = [2, 4, 6, 8, 10, 12, 14, 16, 19, 22, 25, 28, 32, 36, 40, 45, 50, 56, 62, 69, 77, 86, 96, 107, 120, 134, 150, 168, 188, 224]
BANDS = len(EDGES) - 1
# Bounds of the ranges of pitch periods, frames: 444 Hz down to 67 Hz.
LAGS = [36, 48, 64, 86, 114, 152, 202, 240]
# Bins whose powers, and whose roots of amplitudes, are looked at for periods.
STRONG, WIDE = (2, 33), (3, 129)
PARTS = 4
LEAST_POWER = 1e-9
COUNT = BANDS + 2 * (len(LAGS) - 1) + PARTS + 1

_rise = FRAMES - FALL
WINDOW = np.concatenate([
    np.sin(np.pi / 2 * (np.arange(_rise) + 0.5) / _rise), np.cos(np.pi / 2 * (np.arange(FALL) + 0.5) / FALL)
]).astype(np.float32)
ENERGY = float(np.sum(WINDOW.astype(np.float64) ** 2))
# Over the wide range: a raised cosine, so that its ends do not ring.
TAPER = (0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(WIDE[1] - WIDE[0]) + 0.5) / (WIDE[1] - WIDE[0]))).astype(np.float32)


def _periods(weights, first):
    """Autocorrelation of a spectrum, its largest value in each range of lags relative to lag 0; `weights` begin at a bin."""
    spectrum = np.zeros((len(weights), FRAMES // 2 + 1), np.float32)
    spectrum[:, first : first + weights.shape[1]] = weights
    likeness = np.fft.irfft(spectrum, axis=1).astype(np.float32)
    scale = 1 / (likeness[:, :1] + 1e-20)
    return np.stack([likeness[:, a:b].max(1) for a, b in zip(LAGS[:-1], LAGS[1:])], 1) * scale


def features(samples):
    """blocks x COUNT; what does not fill a block is left out."""
    blocks = len(samples) // BLOCK
    samples = samples[: blocks * BLOCK].astype(np.float32)
    line = np.concatenate([np.zeros(FRAMES - BLOCK, np.float32), samples])
    frames = np.lib.stride_tricks.sliding_window_view(line, FRAMES)[::BLOCK] * WINDOW
    spectrum = np.fft.rfft(frames, axis=1)
    power = (spectrum.real**2 + spectrum.imag**2).astype(np.float32) / ENERGY
    sums = np.add.reduceat(power[:, : EDGES[-1]], EDGES[:-1], axis=1) / np.diff(EDGES)
    bands = np.log10(sums + LEAST_POWER)
    strong = _periods(power[:, STRONG[0] : STRONG[1]] + 1e-12, STRONG[0])
    wide = _periods((power[:, WIDE[0] : WIDE[1]] + 1e-12) ** 0.25 * TAPER, WIDE[0])
    parts = np.log10(np.mean(samples.reshape(blocks, PARTS, -1) ** 2, 2) + LEAST_POWER)
    whole = np.log10(np.mean(samples.reshape(blocks, -1) ** 2, 1, keepdims=True) + LEAST_POWER)
    return np.concatenate([bands, strong, wide, parts - whole, whole], 1).astype(np.float32)
