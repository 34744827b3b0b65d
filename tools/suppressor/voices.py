"""Makes the voices that the residual echo's network learns from: voices.py FOLDER

One WAV file for each person: what Debian's prompts, alphabets and games for children say in some 25 languages, and
what its synthesisers of speech read out, in random order with pauses between. None is in asterisk-core-sounds, so those stay for judging
what was learned.
"""

import concurrent.futures
import pathlib
import random
import subprocess
import sys
import tempfile
import wave

import numpy as np

RATE = 48_000
SUFFIXES = {".gsm", ".wav", ".ogg"}
# Active level, dBFS; seconds of one person, and what they must have said at least.
LEVEL, MOST_SECONDS, LEAST_PROMPTS = -18.4, 240, 10
# What the synthesisers read, and who reads it.
TEXT = pathlib.Path("/usr/share/common-licenses/GPL-3")
MACHINES = [("flite", voice) for voice in "awb rms slt".split()] + [
    ("espeak-ng", voice)
    for voice in "ar+m3 cmn+f2 cs+croak de+m7 el+f5 en-us en-gb+klatt4 es+f3 fa+m5 fi+klatt2 fr-fr+f4 hi+m1 hu+whisper it+m2 ko+Andrea nl+m6 "
    "pl+steph pt-br+Gene ru+robosoft3 sv+klatt6 sw+grandma tr+whisperf vi+male4".split()
]
PAUSES = [0.05, 0.1, 0.15, 0.2, 0.3, 0.5]


def people():
    """Each person's folders, by a name."""
    sounds = pathlib.Path("/usr/share/asterisk/sounds")
    found = {"es-co": [sounds / "es"], "fr-armelle": [sounds / "fr"]}
    menardi = sounds / "it_IT_f_Menardi"
    found["it-menardi"] = [menardi, menardi / "phonetic"]
    for folder in sorted(pathlib.Path("/usr/share/ktuberling/sounds").glob("*/")):
        found[f"ktuberling-{folder.name}"] = [folder]
    for folder in sorted(pathlib.Path("/usr/share/klettres").glob("*/")):
        found[f"klettres-{folder.name}"] = [folder / "syllab", folder / "alpha"]
    return found


def decode(path, sound=None):
    """A file, or a sound that was read already, when the path is a dash."""
    command = ["ffmpeg", "-v", "error", "-i", path, "-ac", "1", "-ar", str(RATE), "-f", "f32le", "-"]
    return np.frombuffer(subprocess.run(command, check=True, capture_output=True, input=sound).stdout, np.float32)


def read_out(machine, voice, draw):
    """Sentences, read at random speeds and pitches."""
    sentences = [s for s in " ".join(TEXT.read_text().split()).split(". ") if 20 < len(s) < 300]
    while True:
        sentence = draw.choice(sentences)
        if machine == "flite":
            with tempfile.NamedTemporaryFile(suffix=".wav") as file:
                subprocess.run(["flite", "-voice", voice, "-t", sentence, "-o", file.name], check=True)
                yield decode(file.name)
        else:
            how = ["-v", voice, "-s", str(draw.randint(130, 220)), "-p", str(draw.randint(20, 80))]
            spoken = subprocess.run(["espeak-ng", *how, "--stdout", sentence], check=True, capture_output=True).stdout
            yield decode("-", spoken)


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
    paths = [path for folder in folders if folder.is_dir() for path in sorted(folder.iterdir()) if path.suffix in SUFFIXES]
    draw.shuffle(paths)
    return map(decode, paths)


def record(name, sounds, draw, target):
    said, parts, frames = 0, [], 0
    for sound in map(trimmed, sounds):
        if len(sound):
            said, frames = said + 1, frames + len(sound)
            parts += [sound, np.zeros(int(RATE * draw.choice(PAUSES)), np.float32)]
        if frames > MOST_SECONDS * RATE:
            break
    if said < LEAST_PROMPTS:
        return None
    samples = np.clip(np.concatenate(parts), -0.99, 0.99) * 32_767
    with wave.open(str(target / f"{name}.wav"), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(samples.astype("<i2").tobytes())
    return frames / RATE


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    target = pathlib.Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    jobs = []
    for name, folders in people().items():
        draw = random.Random(name)
        jobs.append((name, recorded(folders, draw), draw, target))
    for machine, voice in MACHINES:
        draw = random.Random(voice)
        jobs.append((f"{machine}-{voice}", read_out(machine, voice, draw), draw, target))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        seconds = list(pool.map(lambda job: record(*job), jobs))
    known = [value for value in seconds if value]
    if not known:
        sys.exit("voices.py: nobody was found; tools/train-suppressor installs them")
    print(f"{len(known)} people, {sum(known) / 60:.0f} min of speech in {target}")


if __name__ == "__main__":
    main()
