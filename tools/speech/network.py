"""The speech network as the engine runs it, from its file: for looking at what it makes of a sound without building anything.

network.py FILE.bin SOUND.wav...: mean and largest probability of each.
"""

import sys

import numpy as np

from features import BANDS, features


class Network:
    def __init__(self, path):
        self._bytes, self._at = np.fromfile(path, np.uint8), 0
        _, inputs, width, units = self._take("<i4", 4)
        self.mean, self.slope = self._take("<f4", inputs), self._take("<f4", inputs)
        self.entry = self._layer(inputs, width)
        self.cells = [(self._layer(n, 3 * units), self._layer(units, 3 * units)) for n in (width, units)]
        self.exit = self._layer(2 * units, 8)
        self.units = units

    def _take(self, kind, count):
        size = np.dtype(kind).itemsize * count
        self._at += size
        return self._bytes[self._at - size : self._at].view(kind)

    def _layer(self, inputs, outputs):
        bias, scale = self._take("<f4", outputs), self._take("<f4", outputs)
        return self._take("i1", inputs * outputs).reshape(inputs, outputs).astype(np.float32) * scale, bias

    def run(self, sounds):
        """Probability of each block; sounds: count x frames at 16 kHz."""
        looked = np.stack([features(sound) for sound in np.atleast_2d(sounds)])
        change = np.concatenate([0 * looked[:, :1, :BANDS], np.diff(looked[..., :BANDS], axis=1)], 1)
        entered = np.tanh((np.concatenate([looked, change], -1) - self.mean) * self.slope @ self.entry[0] + self.entry[1])
        states = [np.zeros((len(looked), self.units), np.float32) for _ in self.cells]
        told = np.empty(looked.shape[:2], np.float32)
        for block in range(looked.shape[1]):
            entry = entered[:, block]
            for index, (of_entry, of_state) in enumerate(self.cells):
                x, own = entry @ of_entry[0] + of_entry[1], states[index] @ of_state[0] + of_state[1]
                n = self.units
                reset, keep = 1 / (1 + np.exp(-(x + own)[:, :n])), 1 / (1 + np.exp(-(x + own)[:, n : 2 * n]))
                candidate = np.tanh(x[:, 2 * n :] + reset * own[:, 2 * n :])
                entry = states[index] = candidate + keep * (states[index] - candidate)
            logit = np.concatenate(states, -1) @ self.exit[0][:, :1] + self.exit[1][:1]
            told[:, block] = 1 / (1 + np.exp(-logit[:, 0]))
        return told


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    from voices import decode

    network = Network(sys.argv[1])
    for path in sys.argv[2:]:
        told = network.run(decode(path))[0]
        print(f"{path}: mean {told.mean():.3f}, largest {told.max():.3f}")


if __name__ == "__main__":
    main()
