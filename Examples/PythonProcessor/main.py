"""Takes the echo of one WAV file of 16 bits out of another: python3 main.py mic.wav ref.wav out.wav"""

import sys
import wave

import duplexvoice
import numpy as np


def read(path: str) -> tuple[int, np.ndarray]:
    with wave.open(path) as file:
        if file.getsampwidth() != 2:
            sys.exit(f"{path} has samples of {8 * file.getsampwidth()} bits; convert it to 16")
        return file.getframerate(), np.frombuffer(file.readframes(-1), "<i2").reshape(-1, file.getnchannels())


if len(sys.argv) != 4:
    sys.exit(f"usage: {sys.argv[0]} mic.wav ref.wav out.wav")
rate, microphone = read(sys.argv[1])
played_rate, played = read(sys.argv[2])
if played_rate != rate:
    sys.exit(f"{sys.argv[1]} has {rate} Hz and {sys.argv[2]} {played_rate}; convert one of them")
with wave.open(sys.argv[3], "wb") as output:
    output.setparams((1, 2, rate, 0, "NONE", ""))
    output.writeframes(duplexvoice.clean(microphone, played, rate).tobytes())
