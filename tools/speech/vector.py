"""Writes what the network makes of a sound that is made by a formula, for the test that compares the engine's arithmetic with this one's:
vector.py FILE.bin VECTOR.swift
"""

import sys

import numpy as np

from network import Network

SECONDS, RATE, EVERY = 3, 16_000, 10


def sound():
    """A gliding tone with harmonics that comes and goes, in noise of a linear congruential generator."""
    state, noise = 1, np.empty(SECONDS * RATE)
    for index in range(len(noise)):
        state = (state * 1_664_525 + 1_013_904_223) % 2**32
        noise[index] = (state >> 8) / 2**24 - 0.5
    time = np.arange(len(noise)) / RATE
    phase = 2 * np.pi * (120 * time + 20 * time**2)
    tone = sum(np.sin(number * phase) / number for number in range(1, 13))
    envelope = np.maximum(0, np.sin(2 * np.pi * 1.7 * time))
    return (0.1 * envelope * tone + 0.004 * noise).astype(np.float32)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    told = Network(sys.argv[1]).run(sound())[0][::EVERY]
    rows = [", ".join(f"{value:.4f}" for value in told[start : start + 10]) for start in range(0, len(told), 10)]
    with open(sys.argv[2], "w") as file:
        file.write("// Written by tools/speech/vector.py, which see.\n\n")
        file.write("/// Probability of every tenth block of `SpeechNetworkTests`' sound, as NumPy finds it from the same weights.\n")
        file.write("let speechNetworkVector: [Float] = [\n" + "".join(f"    {row},\n" for row in rows) + "]\n")


if __name__ == "__main__":
    main()
