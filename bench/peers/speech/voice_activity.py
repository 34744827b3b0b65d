"""Other detectors of speech, for bench/run speech: voice_activity.py [SOUND.wav...]

Without sounds: the names of those that are installed (pip install webrtcvad silero-vad onnxruntime numpy), one a line. With: writes SOUND.wav.NAME beside
each, 32-bit floats, the probability that each 10 ms of it (16 kHz, 16 bits, mono) is speech. A detector that looks at longer frames has
the probability of the last frame that had ended by then, so that nobody hears the future. WebRTC's says yes or no; the number is its mode.
"""

import importlib.util
import pathlib
import sys
import wave

import numpy as np

RATE, BLOCK = 16_000, 160


def webrtc(mode):
    import webrtcvad

    def run(samples):
        detector = webrtcvad.Vad(mode)
        frames = (np.clip(samples, -1, 1) * 32_767).astype("<i2")
        return [float(detector.is_speech(frames[at : at + BLOCK].tobytes(), RATE)) for at in range(0, len(frames) - BLOCK + 1, BLOCK)]

    return run


def silero():
    import onnxruntime

    folder = pathlib.Path(importlib.util.find_spec("silero_vad").submodule_search_locations[0])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(folder / "data/silero_vad.onnx"), options, providers=["CPUExecutionProvider"])
    size, context = 512, 64

    def run(samples):
        state = np.zeros((2, 1, 128), np.float32)
        line = np.concatenate([np.zeros(context, np.float32), samples])
        frames = []
        for at in range(0, len(samples) - size + 1, size):
            told, state = session.run(None, {"input": line[None, at : at + context + size], "state": state, "sr": np.array(RATE, np.int64)})
            frames.append(float(told[0, 0]))
        ended = (np.arange(1, len(samples) // BLOCK + 1) * BLOCK) // size
        return [frames[min(count, len(frames)) - 1] if count else 0.0 for count in ended]

    return run


MAKERS = {"webrtc-2": lambda: webrtc(2), "webrtc-3": lambda: webrtc(3), "silero": silero}
NEEDS = {"webrtc-2": ["webrtcvad"], "webrtc-3": ["webrtcvad"], "silero": ["silero_vad", "onnxruntime"]}


def main():
    names = [name for name in MAKERS if all(importlib.util.find_spec(module) for module in NEEDS[name])]
    if len(sys.argv) == 1:
        print("\n".join(names))
        return
    for name in names:
        run = MAKERS[name]()
        for path in sys.argv[1:]:
            with wave.open(path) as file:
                samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32_768
            np.array(run(samples), "<f4").tofile(f"{path}.{name}")


if __name__ == "__main__":
    main()
