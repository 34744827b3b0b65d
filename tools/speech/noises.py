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


def _peak(hertz, quality):
    """A resonance. One that is wider than the spectrum would not be stable."""
    return signal.iirpeak(hertz, max(quality, 1.1 * hertz / (RATE / 2)), fs=RATE)


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
            puff = 0.2 * puff + signal.lfilter(*_peak(centre, draw.uniform(0.8, 6)), puff)
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


def _repeat(draw, frames, length, pause, piece):
    """What piece() makes, again and again: of some length, with pauses about as long as `pause`, seconds; some come in quick rows."""
    sound, at = np.zeros(frames, np.float32), draw.uniform(0, 1.5)
    row = draw.uniform(0, 0.7)
    while at < frames / RATE:
        made = np.asarray(piece(), np.float32)
        _place(sound, made, int(at * RATE), draw.lognormal(0, 0.35))
        at += max(length, len(made) / RATE * draw.uniform(0.3, 1)) + (0.05 if draw.random() < row else pause * draw.exponential(1))
    return sound


def footsteps(draw, frames):
    """Somebody walks: heel, then toe, on a floor that booms, and a sole that scrapes; nearly as regular as a clock."""
    floor = [(_log_uniform(draw, 35, 600), _log_uniform(draw, 0.008, 0.09), draw.lognormal(0, 0.6)) for _ in range(draw.integers(2, 7))]
    stride, scrape, hard = draw.uniform(0.28, 0.8), draw.uniform(0, 0.5), draw.uniform(0, 0.6)
    sound, at = np.zeros(frames, np.float32), draw.uniform(0, 1)
    time = np.arange(int(0.4 * RATE)) / RATE

    def tread():
        step = sum(g * np.exp(-time / d) * np.sin(2 * np.pi * f * draw.uniform(0.95, 1.05) * time + draw.uniform(0, 6.28)) for f, d, g in floor)
        step *= np.minimum(1, time / draw.uniform(0.0005, 0.006))
        return (step + hard * _white(draw, len(time)) * np.exp(-time / draw.uniform(0.002, 0.012))).astype(np.float32)

    while at < frames / RATE:
        force = draw.lognormal(0, 0.25)
        _place(sound, tread(), int(at * RATE), force)
        _place(sound, tread(), int((at + draw.uniform(0.04, 0.14)) * RATE), force * draw.uniform(0.1, 0.9))
        if scrape > 0.1:
            rub = _white(draw, int(draw.uniform(0.05, 0.25) * RATE))
            rub = signal.lfilter([1, -0.8], [1], rub * np.sin(np.pi * np.linspace(0, 1, len(rub))) ** 2)
            _place(sound, rub.astype(np.float32), int((at + 0.1) * RATE), scrape * 0.3 * draw.random())
        at += stride * draw.normal(1, 0.04)
        if draw.random() < 0.03:
            at += draw.exponential(2)
    return sound


def paper(draw, frames):
    """Paper, bags and cloth: swishes that are crowds of cracks of all sizes."""
    low, high = _log_uniform(draw, 300, 3_000), _log_uniform(draw, 3_500, 7_800)
    band = signal.butter(draw.integers(1, 3), [low, high], "band", fs=RATE)
    density, hiss = _log_uniform(draw, 100, 4_000), draw.uniform(0, 0.3)

    def swish():
        count = int(_log_uniform(draw, 0.08, 1.2) * RATE)
        progress = np.linspace(0, 1, count)
        # It swells and fades, or tears at once and dies away.
        course = np.sin(np.pi * progress ** draw.uniform(0.3, 2)) ** draw.uniform(0.3, 2) if draw.random() < 0.5 else np.exp(-draw.uniform(2, 8) * progress)
        course = course * _sway(draw, count, 0.05, 4)
        cracks = (draw.random(count) < density / RATE * course) * draw.standard_normal(count) * draw.pareto(2, count).clip(0, 30)
        sound = signal.lfilter(*band, cracks + hiss * course * draw.standard_normal(count))
        return sound / (np.sqrt(np.mean(sound**2)) + 1e-9)

    return _repeat(draw, frames, 0.05, _log_uniform(draw, 0.1, 2.5), swish)


def animals(draw, frames):
    """Barks, yelps, caws, chirps, bleats: a short rough tone that rises and falls, through a throat."""
    pitch, length = _log_uniform(draw, 180, 3_500), _log_uniform(draw, 0.04, 0.5)
    rough, breath, wide = draw.uniform(0, 0.15), draw.uniform(0, 1.2), draw.uniform(0.05, 0.6)
    throat = [(min(7_000, pitch * draw.uniform(0.8, 5)), draw.uniform(0.7, 5)) for _ in range(draw.integers(1, 4))]
    peak, slope = draw.uniform(0.05, 0.7), draw.uniform(0.1, 1.6)

    def cry():
        count = max(320, int(RATE * length * draw.lognormal(0, 0.25)))
        progress = np.linspace(0, 1, count)
        course = 1 - wide * np.abs(progress - peak) / max(peak, 1 - peak)
        hertz = pitch * draw.uniform(0.9, 1.1) * course * (1 + rough * signal.lfilter([0.3], [1, -0.7], draw.standard_normal(count)))
        tone = harmonics(draw, progress, np.maximum(60, hertz), 24, slope) + breath * _white(draw, count)
        for centre, quality in throat:
            tone = 0.3 * tone + signal.lfilter(*_peak(centre, quality), tone)
        return tone * np.minimum(1, progress / draw.uniform(0.02, 0.3)) * np.minimum(1, (1 - progress) / draw.uniform(0.1, 0.7))

    return _repeat(draw, frames, 0.05, _log_uniform(draw, 0.1, 3), cry)


def coughs(draw, frames):
    """Coughs, throats that are cleared, sneezes, sniffs: air that bursts out, air that follows, and sometimes a hoarse end."""
    mouth = [(_log_uniform(draw, 350, 1_200), 1.5), (_log_uniform(draw, 1_000, 2_400), 2.5), (_log_uniform(draw, 2_200, 5_000), 3)]
    pitch = _log_uniform(draw, 70, 350)

    def cough():
        lengths = [draw.uniform(0.02, 0.09), draw.uniform(0.05, 0.3), draw.uniform(0.04, 0.15) * (draw.random() < 0.4)]
        gains = [1, draw.uniform(0.1, 0.5), draw.uniform(0.05, 0.3)]
        parts = []
        for phase, (seconds, gain) in enumerate(zip(lengths, gains)):
            count = int(seconds * RATE)
            if count == 0:
                continue
            progress = np.linspace(0, 1, count)
            air = _white(draw, count)
            if phase == 2:
                air = 0.6 * air + harmonics(draw, progress, pitch * (1 - 0.2 * progress) * draw.uniform(0.9, 1.1), 30, 1)
            parts.append(gain * air * np.minimum(1, 25 * progress) * (1 - progress) ** draw.uniform(0.3, 1.5))
        sound = np.concatenate([*parts, np.zeros(RATE // 20)])
        for centre, quality in mouth:
            sound = 0.4 * sound + signal.lfilter(*_peak(centre, quality), sound)
        return sound

    return _repeat(draw, frames, 0.15, _log_uniform(draw, 0.3, 4), cough)


def _note(draw, hertz, seconds, kind):
    """A string that is struck and dies away, or a pipe or bow that goes on; partials a little off, as wire's are."""
    count = max(320, int(seconds * RATE))
    time = np.arange(count) / RATE
    slope, stiff, dying, together = kind
    sound = np.zeros(count)
    sway = 1 + together * 0.006 * np.sin(2 * np.pi * 5.5 * time + draw.uniform(0, 6.28))
    for number in range(1, 16):
        partial = hertz * number * np.sqrt(1 + stiff * number**2)
        if partial > 7_500:
            break
        fade = np.exp(-time * number**0.7 / dying) if dying else 1
        sound += number**-slope * draw.uniform(0.5, 1) * fade * np.sin(2 * np.pi * partial * np.cumsum(sway) / RATE + draw.uniform(0, 6.28))
    rise = 0.004 if dying else draw.uniform(0.02, 0.15)
    return (sound * np.minimum(1, time / rise) * np.minimum(1, (time[-1] - time) / 0.02)).astype(np.float32)


def music(draw, frames):
    """A melody over chords, a bass and drums, any of which may be missing."""
    scale = np.array([0, 2, 4, 5, 7, 9, 11] if draw.random() < 0.6 else [0, 2, 3, 5, 7, 8, 10])
    key, beat = _log_uniform(draw, 55, 130), draw.uniform(0.25, 0.75)
    kinds = [(draw.uniform(0.5, 2), _log_uniform(draw, 1e-6, 1e-3), _log_uniform(draw, 0.1, 2) * (draw.random() < 0.6), draw.random()) for _ in range(3)]
    loud = [draw.uniform(0.2, 1) * (draw.random() < 0.75) for _ in range(4)]
    if not any(loud[:3]):
        loud[0] = 1
    sound, chord, degree = np.zeros(frames, np.float32), 0, 7
    tone = lambda degree: key * 2 ** ((scale[degree % 7] + 12 * (degree // 7)) / 12)
    for count in range(int(frames / RATE / beat) + 1):
        at = int(count * beat * RATE)
        if count % 4 == 0:
            chord = draw.integers(0, 7)
            if loud[1]:
                for third in (7, 9, 11):
                    _place(sound, _note(draw, tone(chord + third), 4 * beat, kinds[1]), at, 0.5 * loud[1])
        if loud[2] and count % 2 == 0:
            _place(sound, _note(draw, tone(chord), 2 * beat, kinds[2]), at, loud[2])
        if loud[0]:
            parts = draw.choice([1, 1, 2, 4])
            for part in range(parts):
                degree = int(np.clip(degree + draw.integers(-2, 3), 4, 24))
                if draw.random() < 0.85:
                    _place(sound, _note(draw, tone(degree + 7), beat / parts * draw.uniform(0.6, 1.1), kinds[0]), at + int(part * beat / parts * RATE), loud[0])
        if loud[3]:
            time = np.arange(int(0.3 * RATE)) / RATE
            if count % 2 == 0:
                _place(sound, (np.exp(-time / 0.08) * np.sin(2 * np.pi * (50 * time + 8 * (1 - np.exp(-time / 0.03))))).astype(np.float32), at, 2 * loud[3])
            else:
                _place(sound, (np.exp(-time / 0.06) * (_white(draw, len(time)) + np.sin(2 * np.pi * 190 * time))).astype(np.float32), at, 0.7 * loud[3])
            hat = signal.lfilter([1, -0.95], [1], _white(draw, len(time)) * np.exp(-time / 0.02)).astype(np.float32)
            for half in (0, 0.5):
                _place(sound, hat, at + int(half * beat * RATE), 0.4 * loud[3] * draw.random())
    return sound + 1e-4 * _white(draw, frames)


def motors(draw, frames):
    """Engines: explosions, not quite even, through a body and an exhaust; idling, revving, passing."""
    time = np.arange(frames) / RATE
    rate = _log_uniform(draw, 8, 160) * 2 ** np.interp(time, np.linspace(0, time[-1], 8), draw.uniform(0, 1.2) * draw.standard_normal(8) * 0.5)
    beats = np.diff(np.floor(np.cumsum(rate) / RATE), prepend=0) > 0
    places = np.flatnonzero(beats) + draw.integers(0, max(1, int(0.06 * RATE / rate.mean())), beats.sum())
    pushes = np.zeros(frames)
    np.add.at(pushes, np.minimum(places, frames - 1), draw.lognormal(0, draw.uniform(0.05, 0.6), len(places)))
    sound = pushes + draw.uniform(0.001, 0.03) * draw.standard_normal(frames)
    for _ in range(draw.integers(2, 6)):
        sound = 0.3 * sound + signal.lfilter(*_peak(_log_uniform(draw, 40, 3_000), _log_uniform(draw, 0.7, 8)), sound)
    return (sound * _sway(draw, frames, draw.uniform(0.5, 3), draw.uniform(0, 6))).astype(np.float32)


def musical(draw, frames):
    """What suppressors leave: short patches of the spectrum, at random."""
    hop = 128
    _, _, grid = signal.stft(_white(draw, frames), nperseg=512, noverlap=512 - hop)
    scattered = draw.random(grid.shape) < _log_uniform(draw, 0.003, 0.2)
    mask = signal.convolve(scattered.astype(np.float32), np.ones((draw.integers(1, 6), draw.integers(1, 12))), "same")
    _, sound = signal.istft(grid * np.minimum(1, mask), nperseg=512, noverlap=512 - hop)
    return np.resize(sound, frames).astype(np.float32) + draw.uniform(0, 0.1) * shaped(draw, frames)


KINDS = [
    (steady, 3), (traffic, 3), (hum, 1.5), (keyboard, 3), (strikes, 2.5), (rain, 1), (wind, 1), (bursts, 2), (tones, 3), (machine, 1.5), (musical, 1),
    (footsteps, 3), (paper, 3.5), (animals, 2.5), (coughs, 1.5), (music, 2.5), (motors, 1.5),
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
