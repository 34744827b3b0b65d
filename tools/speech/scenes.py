"""Makes what the speech network learns from: scenes.py VOICES FILE --first SEED --count CLIPS

A clip of 20 s at a microphone: somebody speaks now and then, near or in a reverberant room, among noises, over a line, behind a suppressor; or nobody
does. FILE.npz has each clip's features (features.py), whether each block of 10 ms is speech, and how much that counts.

What speech is, is judged on the voice alone, before room and noise: blocks within 30 dB of the voice's active level, gaps of up to 150 ms (closures and
other gaps inside words and phrases) filled, and what is shorter than 40 ms left out. Blocks in which nothing can be heard of it count less, and
so do those at its edges and in its reverberation, where either answer will do. Babble of five voices or more is noise; so is what a suppressor leaves.
"""

import argparse
import pathlib

import numpy as np
from scipy import signal

import features
import noises

RATE, BLOCK = features.RATE, features.BLOCK
SECONDS = 20
FRAMES = SECONDS * RATE
# Level of the voices' files; how far below it is no speech; dB.
LEVEL, DEPTH = -20, 30
CLOSURE, LEAST = 15, 4


class Voices:
    """The people of voices.py; the last of every twelve is held out."""

    def __init__(self, folder, held_out=False):
        files = sorted(pathlib.Path(folder).glob("*.npz"))
        chosen = [file for index, file in enumerate(files) if (index % 12 == 11) == held_out]
        self.people = [(np.load(file)["samples"], np.load(file)["ends"]) for file in chosen]
        sizes = np.array([len(samples) for samples, _ in self.people])
        # Nobody is heard as much more often as there is more of them.
        self.weights = sizes**0.5 / np.sum(sizes**0.5)

    def prompt(self, draw, person, speed):
        samples, ends = self.people[person]
        index = draw.integers(len(ends))
        piece = samples[ends[index - 1] if index else 0 : ends[index]].astype(np.float32) / 32_768
        if len(piece) > 6 * RATE:
            start = draw.integers(0, len(piece) - 5 * RATE)
            piece = piece[start : start + 5 * RATE]
        return signal.resample(piece, max(64, int(len(piece) / speed))).astype(np.float32)

    def talk(self, draw, frames, pause, first):
        """One person, with pauses of some length; longer ones between turns."""
        person, speed = draw.choice(len(self.people), p=self.weights), np.exp(draw.uniform(-0.2, 0.2))
        sound, at = np.zeros(frames, np.float32), int(first * RATE)
        while at < frames:
            piece = self.prompt(draw, person, speed)
            piece = piece[: frames - at]
            sound[at : at + len(piece)] = piece * 10 ** (draw.normal(0, 1.5) / 20)
            at += len(piece) + int(RATE * (draw.exponential(pause) if draw.random() < 0.7 else draw.uniform(0.3, 4)))
        return sound


def runs(active):
    edges = np.flatnonzero(np.diff(np.concatenate([[0], active.astype(np.int8), [0]])))
    return edges.reshape(-1, 2)


def judge(voice):
    """Which blocks of a voice without noise are speech."""
    power = np.mean(voice[: len(voice) // BLOCK * BLOCK].reshape(-1, BLOCK) ** 2, 1)
    active = 10 * np.log10(power + 1e-12) > LEVEL - DEPTH
    for start, end in runs(~active):
        if start > 0 and end < len(active) and end - start <= CLOSURE:
            active[start:end] = True
    for start, end in runs(active):
        if end - start < LEAST:
            active[start:end] = False
    return active


def babble(draw, voices, frames):
    return sum(voices.talk(draw, frames, 0.15, 0) * 10 ** (draw.uniform(-8, 0) / 20) for _ in range(draw.integers(5, 12)))


def room(draw, near):
    """An impulse response: the direct sound first, then early reflections and a decaying tail."""
    time60 = noises._log_uniform(draw, 0.12, 1.0)
    ratio = draw.uniform(3, 18) if near else draw.uniform(-5, 6)
    frames = int(RATE * min(0.8, time60))
    time = np.arange(frames) / RATE
    tail = draw.standard_normal(frames) * 10 ** (-3 * time / time60)
    tail[: int(RATE * draw.uniform(0.001, 0.006))] = 0
    tail = signal.lfilter([1 - 0.4], [1, -0.4], tail) if draw.random() < 0.5 else tail
    tail *= 10 ** (-ratio / 20) / (np.sqrt(np.sum(tail**2)) + 1e-9)
    tail[0] += 1
    return tail.astype(np.float32)


def reverberate(draw, sound, near):
    return signal.fftconvolve(sound, room(draw, near))[: len(sound)].astype(np.float32)


def colour(draw, sound):
    """A microphone's or a line's frequency response."""
    if draw.random() < 0.4:
        high = min(7_900, noises._log_uniform(draw, 3_000, 9_000))
        if high < 7_800:
            sound = signal.sosfilt(signal.butter(draw.integers(2, 8), high, "low", fs=RATE, output="sos"), sound)
    if draw.random() < 0.5:
        sound = signal.sosfilt(signal.butter(draw.integers(1, 4), noises._log_uniform(draw, 40, 350), "high", fs=RATE, output="sos"), sound)
    if draw.random() < 0.5:
        tilt = draw.uniform(-0.7, 0.5)
        sound = signal.lfilter([1, tilt], [1], sound) / (1 + abs(tilt))
    return np.asarray(sound, np.float32)


def suppress(draw, sound):
    """What a noise suppressor leaves: gains from a noise estimate, with a floor, smooth or musical."""
    size = draw.choice([256, 512])
    _, _, grid = signal.stft(sound, nperseg=size, noverlap=size // 2)
    power = np.abs(grid) ** 2
    smooth = signal.lfilter([0.3], [1, -0.7], power, axis=1)
    noise = np.quantile(smooth, draw.uniform(0.15, 0.4), axis=1, keepdims=True) * draw.uniform(1, 3)
    gain = np.maximum(1 - noise / (smooth + 1e-12), 0) ** draw.uniform(0.5, 1.5)
    gain = np.maximum(gain, 10 ** (draw.uniform(-30, -8) / 20))
    _, cleaned = signal.istft(grid * gain, nperseg=size, noverlap=size // 2)
    return np.resize(cleaned, len(sound)).astype(np.float32)


def residual(draw, voices, frames):
    """What a canceller leaves of somebody else: mostly holes."""
    sound = reverberate(draw, voices.talk(draw, frames, 0.3, draw.uniform(0, 3)), False)
    _, _, grid = signal.stft(sound, nperseg=320, noverlap=160)
    mask = draw.random(grid.shape) < noises._log_uniform(draw, 0.02, 0.15)
    mask = np.minimum(1, signal.convolve(mask.astype(np.float32), np.ones((3, draw.integers(1, 4))), "same"))
    _, left = signal.istft(grid * (mask * draw.random((len(grid), 1)) + 0.003), nperseg=320, noverlap=160)
    return np.resize(left, frames).astype(np.float32)


def companded(sound):
    """8 bits of mu-law."""
    peak = np.sign(sound) * np.log1p(255 * np.minimum(1, np.abs(sound))) / np.log(256)
    peak = np.round(peak * 127) / 127
    return (np.sign(peak) * (256 ** np.abs(peak) - 1) / 255).astype(np.float32)


def rms(sound):
    return np.sqrt(np.mean(sound**2)) + 1e-9


def background(draw, voices):
    """Noise of a mean power of 1."""
    kind = draw.random()
    if kind < 0.1:
        sound = babble(draw, voices, FRAMES)
        sound = reverberate(draw, sound, False) if draw.random() < 0.6 else sound
    elif kind < 0.15:
        sound = residual(draw, voices, FRAMES)
    else:
        sound = noises.noises(draw, FRAMES)
        sound = reverberate(draw, sound, draw.random() < 0.5) if draw.random() < 0.4 else sound
    if draw.random() < 0.25:
        # It begins or ends in the middle.
        at = draw.integers(0, FRAMES)
        edge = np.clip((np.arange(FRAMES) - at) / (RATE * noises._log_uniform(draw, 0.002, 3)), 0, 1).astype(np.float32)
        sound = sound * (edge if draw.random() < 0.6 else 1 - edge)
    return sound / rms(sound)


def clip(seed, voices):
    """Features, targets and weights of a clip."""
    draw = np.random.default_rng(seed)
    noise = background(draw, voices)
    target, weight = np.zeros(FRAMES // BLOCK, bool), np.ones(FRAMES // BLOCK, np.float32)
    level = draw.uniform(-45, -12)
    if draw.random() < 0.3:
        sound = noise * 10 ** (draw.uniform(-70, -15) / 20)
    else:
        dry = voices.talk(draw, FRAMES, noises._log_uniform(draw, 0.1, 1.5), draw.exponential(1.5))
        target = judge(dry)
        speech = colour(draw, dry)
        if draw.random() < 0.6:
            speech = reverberate(draw, speech, draw.random() < 0.65)
        active = np.repeat(target, BLOCK)
        speech = speech / (rms(speech[active]) if active.any() else 1)
        ratio = draw.uniform(25, 50) if draw.random() < 0.12 else draw.uniform(-4, 28)
        noise = noise * 10 ** (-ratio / 20)
        weight = weights(draw, speech, noise, target)
        sound = (speech + noise) * 10 ** (level / 20)
    sound = sound + draw.standard_normal(FRAMES) * 10 ** (draw.uniform(-100, -62) / 20)
    sound = colour(draw, sound) if draw.random() < 0.5 else sound
    if draw.random() < 0.2:
        sound = suppress(draw, sound)
    if draw.random() < 0.1:
        sound = companded(sound)
    if draw.random() < 0.08:
        sound = sound * draw.uniform(2, 20)
    if draw.random() < 0.1:
        sound[: draw.integers(0, 2 * RATE)] = 0
    sound = np.clip(sound, -1, 1)
    if draw.random() < 0.5:
        sound = np.round(sound * 32_768) / 32_768
    looked = features.features(np.asarray(sound, np.float32))
    assert np.isfinite(looked).all(), f"clip {seed} is no sound"
    return looked, target, weight


def weights(draw, speech, noise, target):
    """How much each block's answer counts."""
    weight = np.ones(len(target), np.float32)
    band = signal.butter(2, [250, 4_000], "band", fs=RATE, output="sos")
    loud = [np.mean(signal.sosfilt(band, sound).reshape(-1, BLOCK) ** 2, 1) for sound in (speech, noise)]
    local = [np.convolve(power, np.ones(9) / 9, "same") for power in loud]
    heard = 10 * np.log10((local[0] + 1e-9) / (local[1] + 1e-9))
    # What cannot be heard counts little; but between what can, speech goes on.
    isHeard = heard > -9
    weight[target & ~isHeard] = 0.15
    since, until = (np.convolve(target & isHeard, side, "same") for side in (np.r_[np.zeros(20), np.ones(21)], np.r_[np.ones(21), np.zeros(20)]))
    weight[target & ~isHeard & (since > 0) & (until > 0)] = 0.6
    for start, end in runs(target):
        weight[max(0, start - 2) : start] = 0.3
        # What went before can be told only afterwards.
        weight[start : start + 2] = 0.5
        weight[start + 3 : start + 10] = np.maximum(weight[start + 3 : start + 10], 0.15) * 1.5
        weight[end - 2 : end] = 0.5
        reverberant = (10 * np.log10(loud[0] + 1e-9) > -35)[end : end + 40]
        weight[end : end + 5] = 0.2
        weight[end : end + 40][reverberant] = 0.2
    return weight


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("voices")
    parser.add_argument("file")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--held-out", action="store_true", help="clips of the people that nothing is learned from")
    options = parser.parse_args()
    voices = Voices(options.voices, options.held_out)
    made = []
    for seed in range(options.first, options.first + options.count):
        made.append(clip(seed, voices))
        if (seed - options.first) % 100 == 99:
            print(f"{seed - options.first + 1} of {options.count} clips", flush=True)
    looked, targets, weight = zip(*made)
    np.savez(options.file, features=np.stack(looked).astype(np.float16), targets=np.stack(targets), weights=np.stack(weight).astype(np.float16))


if __name__ == "__main__":
    main()
