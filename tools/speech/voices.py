"""Makes the voices that the speech network learns from: voices.py FOLDER SYNTHETIC

One file for each person, NAME.npz: `samples` (16 bits, 16 kHz), what they say one after the other without the silence around it, and `ends`, where
each prompt ends. They are Debian's recorded prompts, alphabets and games for children in some 25 languages, and what its synthesisers of speech
read out, and the simulation's talkers (WAV files in SYNTHETIC, by tools/SpeechTraining). Nothing is of asterisk-core-sounds: those voices stay for judging what was learned.
"""

import concurrent.futures
import math
import os
import pathlib
import random
import signal as signals
import subprocess
import sys
import tempfile

import numpy as np
import soundfile
from scipy import signal

RATE = 16_000
SUFFIXES = {".gsm", ".wav", ".ogg"}
# Active level, dBFS; seconds of one person at most; prompts they must have said.
LEVEL, MOST_SECONDS, LEAST_PROMPTS = -20, {"recorded": 1500, "machine": 300}, 8
TEXT = pathlib.Path("/usr/share/common-licenses/GPL-3")
MACHINES = [("flite", voice) for voice in "awb kal kal16 rms slt".split()]
MACHINES += [
    ("espeak-ng", voice)
    for voice in "ar+m3 cmn+f2 cs+croak de+m7 el+f5 en-us en-gb+klatt4 es+f3 fa+m5 fi+klatt2 fr-fr+f4 hi+m1 hu+whisper it+m2 ko+Andrea nl+m6 "
    "pl+steph pt-br+Gene ru+robosoft3 sv+klatt6 sw+grandma tr+whisperf vi+male4".split()
]
MACHINES += [
    ("festival", voice)
    for voice in "kal_diphone ked_diphone cmu_us_slt_arctic_hts lp_diphone pc_diphone upc_ca_ona_hts czech_dita czech_krb czech_machac czech_ph "
    "suo_fi_lj_diphone hy_fi_mv_diphone".split()
]


def people():
    """Each person's folders, by a name."""
    sounds = pathlib.Path("/usr/share/asterisk/sounds")
    menardi = sounds / "it_IT_f_Menardi"
    found = {"es-co": [sounds / "es"], "fr-armelle": [sounds / "fr"], "it-menardi": [menardi, menardi / "phonetic"]}
    for folder in sorted(pathlib.Path("/usr/share/ktuberling/sounds").glob("*/")):
        found[f"ktuberling-{folder.name}"] = [folder]
    for folder in sorted(pathlib.Path("/usr/share/klettres").glob("*/")):
        found[f"klettres-{folder.name}"] = [folder / "syllab", folder / "alpha"]
    return found


def decode(path):
    """A file at our rate, one channel. Prompts without a header are full-rate GSM."""
    raw = dict(samplerate=8_000, channels=1, format="RAW", subtype="GSM610") if str(path).endswith(".gsm") else {}
    sound, rate = soundfile.read(path, dtype="float32", always_2d=True, **raw)
    common = math.gcd(rate, RATE)
    return signal.resample_poly(sound.mean(1), RATE // common, rate // common).astype(np.float32)


def read_out(machine, voice, draw):
    """Sentences, read at random speeds and pitches where the synthesiser can."""
    sentences = [s for s in " ".join(TEXT.read_text().split()).split(". ") if 20 < len(s) < 300]
    while True:
        sentence = draw.choice(sentences)
        with tempfile.NamedTemporaryFile(suffix=".wav") as file:
            if machine == "espeak-ng":
                how = ["-v", voice, "-s", str(draw.randint(130, 220)), "-p", str(draw.randint(20, 80))]
                subprocess.run(["espeak-ng", *how, "-w", file.name, sentence], check=True, capture_output=True)
            elif machine == "flite":
                subprocess.run(["flite", "-voice", voice, "-t", sentence, "-o", file.name], check=True)
            else:
                sentence = "".join(c for c in sentence.lower() if c.isalpha() or c == " ")
                command = ["text2wave", "-eval", f"(voice_{voice})", "-o", file.name]
                subprocess.run(command, check=True, input=sentence.encode(), capture_output=True)
            yield decode(file.name)


def trimmed(sound):
    """Without the silence around it, at the level; nothing of what is too short to be a syllable."""
    if len(sound) < 0.15 * RATE or np.abs(sound).max() < 1e-3:
        return sound[:0]
    power = np.convolve(sound**2, np.ones(RATE // 50) * 50 / RATE, "same")
    loud = np.flatnonzero(power > 1e-4 * power.max())
    sound = sound[max(0, loud[0] - RATE // 50) : loud[-1] + RATE // 50]
    active = np.abs(sound) > 0.1 * np.abs(sound).max()
    return sound * 10 ** (LEVEL / 20) / np.sqrt(np.mean(sound[active] ** 2))


def recorded(folders, draw):
    paths = sorted({path for folder in folders if folder.is_dir() for path in folder.rglob("*") if path.suffix in SUFFIXES})
    draw.shuffle(paths)
    for path in paths:
        try:
            yield decode(path)
        except soundfile.LibsndfileError:
            # Some prompts are empty files.
            continue


def phrases(path):
    """A talker who goes on and on, cut at pauses of 150 ms or more."""
    sound = decode(path)
    power = np.convolve(sound**2, np.ones(RATE // 50) * 50 / RATE, "same")
    loud = np.flatnonzero(power > 1e-4 * power.max())
    for piece in np.split(loud, np.flatnonzero(np.diff(loud) > 0.15 * RATE) + 1):
        yield sound[max(0, piece[0] - RATE // 50) : piece[-1] + RATE // 50]


def record(name, kind, sounds, target):
    if (target / f"{name}.npz").exists():
        return None
    parts, frames = [], 0
    try:
        for sound in map(trimmed, sounds):
            if len(sound):
                parts.append(sound)
                frames += len(sound)
            if frames > MOST_SECONDS[kind] * RATE:
                break
    except (subprocess.CalledProcessError, FileNotFoundError, soundfile.LibsndfileError) as error:
        # Interrupted with this program: what was said so far would be taken for all of it the next time.
        if getattr(error, "returncode", 0) in (-signals.SIGINT, -signals.SIGTERM):
            return None
        print(f"{name}: goes no further, {error}", file=sys.stderr)
    if len(parts) < LEAST_PROMPTS:
        return None
    samples = np.clip(np.concatenate(parts), -0.99, 0.99) * 32_767
    # Whole or not at all.
    with open(target / f"{name}.part", "wb") as file:
        np.savez(file, samples=samples.astype("<i2"), ends=np.cumsum([len(part) for part in parts]))
    os.replace(target / f"{name}.part", target / f"{name}.npz")
    return frames / RATE


def main():
    if len(sys.argv) != 3 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    target = pathlib.Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    jobs = [(name, "recorded", recorded(folders, random.Random(name)), target) for name, folders in people().items()]
    jobs += [(f"{machine}-{voice}", "machine", read_out(machine, voice, random.Random(voice)), target) for machine, voice in MACHINES]
    jobs += [(path.stem, "machine", phrases(path), target) for path in sorted(pathlib.Path(sys.argv[2]).glob("*.wav"))]
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        seconds = [value for value in pool.map(lambda job: record(*job), jobs) if value]
    if not any(target.glob("*.npz")):
        sys.exit("voices.py: nobody was found; tools/train-speech installs them")
    print(f"{len(seconds)} more people, {sum(seconds) / 60:.0f} min of their speech in {target}")


if __name__ == "__main__":
    main()
