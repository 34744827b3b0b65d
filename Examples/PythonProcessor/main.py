"""Takes the echo of one WAV file of 16 bits out of another: python3 main.py mic.wav ref.wav out.wav"""

import sys
import wave

import duplexvoice
import numpy as np


def read(path: str) -> tuple[int, np.ndarray]:
    with wave.open(path) as file:
        return file.getframerate(), np.frombuffer(file.readframes(-1), "<i2").reshape(-1, file.getnchannels())


if len(sys.argv) != 4:
    sys.exit(f"usage: {sys.argv[0]} mic.wav ref.wav out.wav")
rate, microphone = read(sys.argv[1])
_, played = read(sys.argv[2])
with wave.open(sys.argv[3], "wb") as output:
    output.setparams((1, 2, rate, 0, "NONE", ""))
    output.writeframes(duplexvoice.clean(microphone, played, rate).tobytes())
