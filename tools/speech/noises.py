"""Sounds that are nobody's speech, made from a random source: noises(draw, frames) at 16 kHz, of no particular level."""

import numpy as np
from scipy import signal

RATE = 16_000


def _white(draw, frames):
    return draw.standard_normal(frames).astype(np.float32)


def _log_uniform(draw, low, high):
    return float(np.exp(draw.uniform(np.log(low), np.log(high))))


def shaped(draw, frames, points=None):
    """Noise of a random spectrum: a slope with humps on it."""
    spectrum = np.fft.rfft(_white(draw, frames))
    hertz = np.fft.rfftfreq(frames, 1 / RATE)
    octaves = np.log2(np.maximum(hertz, 20) / 1000)
    decibels = draw.uniform(-9, 3) * octaves
    for _ in range(draw.integers(0, 4)):
        decibels += draw.uniform(-12, 15) * np.exp(-(((octaves - draw.uniform(-4, 3)) / draw.uniform(0.15, 1.2)) ** 2))
    return np.fft.irfft(spectrum * 10 ** (np.clip(decibels, -60, 60) / 20), frames).astype(np.float32)


def _sway(draw, frames, seconds, decibels):
    """A level that wanders slowly, as a factor."""
    count = max(4, int(frames / RATE / seconds) + 4)
    points = draw.standard_normal(count) * decibels
    at = np.linspace(0, count - 1, frames)
    return (10 ** (np.interp(at, np.arange(count), points) / 20)).astype(np.float32)


def steady(draw, frames):
    sound = shaped(draw, frames) if draw.random() < 0.7 else _white(draw, frames)
    return sound * _sway(draw, frames, 1, draw.choice([0, 0, 1, 3]))


def traffic(draw, frames):
    """A road: rumble, and vehicles that pass with tyres' hiss and an engine's harmonics."""
    base = signal.lfilter([1], [1, -draw.uniform(0.9, 0.995)], _white(draw, frames)).astype(np.float32)
    base /= base.std()
    time = np.arange(frames) / RATE
    sound = base * draw.uniform(0.3, 1)
    for _ in range(min(8, draw.poisson(frames / RATE / draw.uniform(2, 8)) + 1)):
        centre, width = draw.uniform(0, frames / RATE), _log_uniform(draw, 0.4, 4)
        envelope = 1 / (1 + ((time - centre) / width) ** 2)
        tyres = signal.lfilter(*signal.butter(1, np.sort([_log_uniform(draw, 60, 700), _log_uniform(draw, 800, 4000)]), "band", fs=RATE), _white(draw, frames))
        engine = harmonics(draw, time, _log_uniform(draw, 25, 130) * (1 + 0.06 * np.tanh((centre - time) / width)), 20, draw.uniform(0.5, 1.4))
        sound += envelope * (draw.uniform(0.2, 2) * tyres / tyres.std() + draw.uniform(0, 1.0) * engine)
        if draw.random() < 0.08:
            horn = harmonics(draw, time, draw.uniform(300, 500), 12, 0.4) + harmonics(draw, time, draw.uniform(350, 600), 12, 0.4)
            sound += 2 * horn * (np.abs(time - centre) < draw.uniform(0.1, 0.5))
    return sound


def harmonics(draw, time, hertz, count, slope):
    """A tone with harmonics of random strengths and phases; its pitch in hertz is one number or one for each frame."""
    phase = 2 * np.pi * np.cumsum(np.broadcast_to(hertz, time.shape)) / RATE
    turn = np.exp(1j * phase).astype(np.complex64)
    count = max(1, min(count, int(7_800 / np.max(hertz))))
    power, sound = np.ones(len(time), np.complex64), np.zeros(len(time), np.float32)
    for number in range(1, count + 1):
        power *= turn
        strength = number**-slope * draw.lognormal(0, 0.7) * np.exp(2j * np.pi * draw.random())
        sound += np.float32(strength.real) * power.real - np.float32(strength.imag) * power.imag
    return sound / (sound.std() + 1e-9)


def hum(draw, frames):
    time = np.arange(frames) / RATE
    hertz = draw.choice([50, 60, 100, 120]) if draw.random() < 0.5 else _log_uniform(draw, 20, 900)
    if draw.random() < 0.3:
        hertz = hertz * (1 + draw.uniform(0, 0.1) * np.sin(2 * np.pi * draw.uniform(0.02, 3) * time))
    return harmonics(draw, time, hertz, draw.integers(1, 30), draw.uniform(0, 1.6)) + draw.uniform(0, 1.5) * steady(draw, frames)


def strike(draw, modes, lowest, highest, shortest, longest, noise):
    """Something that is hit: resonances that ring down, and a burst of noise."""
    length = int(RATE * min(1.2, 6 * longest))
    time = np.arange(length) / RATE
    sound = np.zeros(length)
    for _ in range(modes):
        decay = _log_uniform(draw, shortest, longest)
        sound += draw.lognormal(0, 0.8) * np.exp(-time / decay) * np.sin(2 * np.pi * _log_uniform(draw, lowest, highest) * time + draw.uniform(0, 6.28))
    pole = draw.uniform(-0.5, 0.9)
    hiss = signal.lfilter([1], [1, -pole], draw.standard_normal(length)) * (1 - abs(pole))
    sound += noise * hiss * np.exp(-time / _log_uniform(draw, shortest, (shortest * longest) ** 0.5 + shortest))
    return sound.astype(np.float32)


def _place(sound, piece, at, gain):
    if 0 <= at < len(sound):
        piece = piece[: len(sound) - at]
        sound[at : at + len(piece)] += gain * piece


def keyboard(draw, frames):
    """Somebody types: each key goes down, hits the bottom and comes up again; keys differ, hands rest now and then."""
    sound = np.zeros(frames, np.float32)
    lowest, highest = _log_uniform(draw, 120, 1200), _log_uniform(draw, 2500, 7500)
    longest, noise = _log_uniform(draw, 0.004, 0.04), _log_uniform(draw, 0.3, 5)
    keys = [[strike(draw, draw.integers(1, 7), lowest, highest, 0.0007, longest, noise) for _ in range(3)] for _ in range(12)]
    spread, interval = draw.uniform(0.2, 0.7), _log_uniform(draw, 0.06, 0.4)
    at = draw.uniform(0, 0.5)
    while at < frames / RATE:
        key = keys[draw.integers(len(keys))]
        gain = draw.lognormal(0, 0.35)
        down, up = draw.uniform(0.003, 0.02), draw.uniform(0.04, 0.13)
        _place(sound, key[0], int(at * RATE), 0.4 * gain * draw.random())
        _place(sound, key[1], int((at + down) * RATE), gain)
        _place(sound, key[2], int((at + up) * RATE), gain * draw.uniform(0.1, 0.8))
        at += interval * draw.lognormal(0, spread)
        if draw.random() < 0.06:
            at += draw.exponential(1.0)
    return sound


def strikes(draw, frames):
    """Mouse clicks, knocks, footsteps, dishes, doors, things that are put down."""
    sound = np.zeros(frames, np.float32)
    lowest, highest = sorted([_log_uniform(draw, 50, 6000), _log_uniform(draw, 50, 7000)])
    longest = _log_uniform(draw, 0.003, 0.25)
    interval = _log_uniform(draw, 0.08, 3)
    regular = draw.random() < 0.4
    at = draw.uniform(0, 1)
    while at < frames / RATE:
        piece = strike(draw, draw.integers(1, 10), lowest, highest + 20, longest / 8, longest, _log_uniform(draw, 0.03, 6))
        _place(sound, piece, int(at * RATE), draw.lognormal(0, 0.5))
        at += interval * (draw.uniform(0.9, 1.1) if regular else draw.exponential(1))
    return sound


def rain(draw, frames):
    drops = np.zeros(frames, np.float32)
    count = int(frames / RATE * _log_uniform(draw, 20, 4000))
    drops[draw.integers(0, frames, count)] = draw.lognormal(0, 1, count)
    body = strike(draw, 3, 800, 6000, 0.0005, 0.005, 1)
    return signal.fftconvolve(drops, body)[:frames].astype(np.float32) + draw.uniform(0, 0.3) * shaped(draw, frames)


def wind(draw, frames):
    gusts = _sway(draw, frames, draw.uniform(0.1, 1), draw.uniform(4, 10))
    return signal.lfilter([1], [1, -draw.uniform(0.95, 0.998)], _white(draw, frames)).astype(np.float32) * gusts


def bursts(draw, frames):
    """Breaths, coughs, rustling, hissing: noise through a few formants, in puffs."""
    sound = np.zeros(frames, np.float32)
    length, interval = _log_uniform(draw, 0.02, 0.9), _log_uniform(draw, 0.15, 4)
    sharp = draw.random() < 0.5
    at = draw.uniform(0, 1)
    while at < frames / RATE:
        count = max(80, int(RATE * length * draw.lognormal(0, 0.3)))
        puff = _white(draw, count)
        for _ in range(draw.integers(1, 4)):
            centre = _log_uniform(draw, 250, 6500)
            b, a = signal.iirpeak(centre, draw.uniform(0.8, 6), fs=RATE)
            puff = 0.2 * puff + signal.lfilter(b, a, puff)
        progress = np.linspace(0, 1, count)
        envelope = (np.minimum(1, progress * 40) * np.exp(-4 * progress)) if sharp else np.sin(np.pi * progress) ** draw.uniform(0.5, 2)
        _place(sound, (puff * envelope).astype(np.float32), int(at * RATE), draw.lognormal(0, 0.4))
        at += length + interval * draw.exponential(1)
    return sound


def tones(draw, frames):
    """Notes, beeps, chirps, sirens, barks: tones with harmonics that start, glide and stop."""
    sound = np.zeros(frames, np.float32)
    kind = draw.integers(4)
    lowest, highest = sorted([_log_uniform(draw, 60, 3000), _log_uniform(draw, 100, 5000)])
    length, count, slope = _log_uniform(draw, 0.03, 1.5), draw.integers(1, 20), draw.uniform(0.2, 2)
    steps = 2 ** (np.arange(-24, 25) / 12)
    base = _log_uniform(draw, 80, 800)
    at = draw.uniform(0, 0.5)
    while at < frames / RATE:
        size = max(160, int(RATE * length * draw.lognormal(0, 0.3 if kind else 0.05)))
        time = np.arange(size) / RATE
        progress = time / time[-1]
        hertz = base * draw.choice(steps) if kind == 0 else _log_uniform(draw, lowest, highest + 1)
        if kind >= 2:
            hertz = hertz * (1 + draw.uniform(-0.6, 1.0) * progress + (draw.uniform(0, 0.1) * np.sin(2 * np.pi * draw.uniform(2, 30) * time)))
        piece = harmonics(draw, time, hertz, count, slope)
        if kind == 3:
            piece += draw.uniform(0, 0.6) * _white(draw, size)
        rise, fall = draw.uniform(0.005, 0.3), draw.uniform(0.02, 0.9)
        envelope = np.minimum(1, progress / rise) * np.minimum(1, (1 - progress) / fall)
        for _ in range(draw.integers(1, 4) if kind == 0 else 1):
            _place(sound, (piece * envelope).astype(np.float32), int(at * RATE), draw.lognormal(0, 0.4))
        at += length * draw.uniform(0.3, 1.5) if kind == 0 else length + draw.exponential(_log_uniform(draw, 0.05, 2))
    if kind == 0 and draw.random() < 0.5:
        sound += draw.uniform(0.2, 1.5) * strikes(draw, frames)
    return sound


def machine(draw, frames):
    """Vacuum cleaners, drills, printers: noise and tones that are switched and modulated."""
    time = np.arange(frames) / RATE
    sound = hum(draw, frames)
    rate = _log_uniform(draw, 0.3, 30)
    depth = draw.uniform(0, 1)
    pulse = 0.5 + 0.5 * (np.sin(2 * np.pi * rate * time) if draw.random() < 0.5 else signal.square(2 * np.pi * rate * time, draw.uniform(0.1, 0.9)))
    return (sound * (1 - depth + depth * pulse)).astype(np.float32)


def musical(draw, frames):
    """What suppressors leave: short patches of the spectrum, at random."""
    hop = 128
    _, _, grid = signal.stft(_white(draw, frames), nperseg=512, noverlap=512 - hop)
    scattered = draw.random(grid.shape) < _log_uniform(draw, 0.003, 0.2)
    mask = signal.convolve(scattered.astype(np.float32), np.ones((draw.integers(1, 6), draw.integers(1, 12))), "same")
    _, sound = signal.istft(grid * np.minimum(1, mask), nperseg=512, noverlap=512 - hop)
    return np.resize(sound, frames).astype(np.float32) + draw.uniform(0, 0.1) * shaped(draw, frames)


KINDS = [
    (steady, 3), (traffic, 3), (hum, 1.5), (keyboard, 4), (strikes, 3), (rain, 1), (wind, 1), (bursts, 2.5), (tones, 3), (machine, 1.5), (musical, 1),
]


def noises(draw, frames):
    """One kind, or two at once."""
    weights = np.array([weight for _, weight in KINDS])

    def one():
        sound = KINDS[draw.choice(len(KINDS), p=weights / weights.sum())][0](draw, frames).astype(np.float32)
        return sound / (np.sqrt(np.mean(sound**2)) + 1e-9)

    sound = one()
    if draw.random() < 0.35:
        sound = sound + 10 ** (draw.uniform(-20, 3) / 20) * one()
    return sound
