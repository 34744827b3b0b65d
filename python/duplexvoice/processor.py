"""The echo canceller, noise suppressor and gain control by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _sound
from ._handle import Handle
from ._library import argument, check, ffi, lib, new_error, sized
from ._sound import Samples
from ._structures import read, write
from .enumerations import Backend, Echo, Gain, Noise, NoiseMethod, Preset, VoiceDetection
from .far_end import real, whole


@dataclass
class Settings:
    """What is done to the sound; may change while it runs. `Settings.preset` has those that belong together.

    `target_level` is the adaptive gain's goal for speech in dBFS RMS, -40…-10, 0 for -20. `maximum_gain` is the most
    that it raises speech by, dB, 1…40, 0 for 32. `fixed_gain` is that of Gain.FIXED, dB, -40…40.
    """

    echo: Echo = Echo.OFF
    noise: Noise = Noise.OFF
    noise_method: NoiseMethod = NoiseMethod.SPECTRAL
    gain: Gain = Gain.OFF
    target_level: int = 0
    maximum_gain: int = 0
    fixed_gain: int = 0
    high_pass: bool = False
    voice_detection: VoiceDetection = VoiceDetection.OFF

    @classmethod
    def preset(cls, preset: Preset) -> Settings:
        """The settings of a preset."""
        settings = sized("dv_processor_settings")
        check(lib.dv_processor_preset(whole(preset, "preset"), settings))
        return read(cls, settings)

    def _structure(self) -> Any:
        settings = sized("dv_processor_settings")
        write(self, settings)
        return settings


def settings_of(given: Any) -> Settings:
    """Settings that were given as they are, or by their preset."""
    if isinstance(given, Preset):
        return Settings.preset(given)
    if not isinstance(given, Settings):
        raise TypeError(f"settings is {given!r}; give Settings or a Preset")
    return given


@dataclass(frozen=True)
class Report:
    """What is known after a block of 10 ms; None is not known. Levels in dBFS, from -127 to 0."""

    voice_activity: bool | None
    blocks: int
    failed_blocks: int
    input_level: float | None
    reference_level: float | None
    output_level: float | None
    echo_level: float | None
    echo_return_loss: float | None
    echo_return_loss_enhancement: float | None
    echo_delay_ms: float | None
    echo_drift_ppm: float | None
    echo_presence: float | None
    echo_readiness: float | None
    speech_probability: float | None
    speech_level: float | None
    noise_level: float | None
    gain: float | None
    limiting: float | None
    momentary_loudness: float | None


class Processor(Handle):
    """Takes the echo of what was played out of what was recorded, suppresses noise, levels the voice.

    `process` from one thread at a time, everything else from any. It holds no lock of Python's while it works.
    """

    def __init__(
        self,
        sample_rate: int = 48_000,
        *,
        settings: Settings | Preset = Preset.VOICE_CHAT,
        capture_channels: int = 1,
        reference_channels: int = 1,
        block_frames: int = 0,
        backend: Backend = Backend.NATIVE,
        expected_delay_ms: float = 0,
    ) -> None:
        """Makes one for sound of 8, 11.025, 12, 16, 22.05, 24, 32, 44.1 or 48 kHz.

        With `block_frames`, every call brings a multiple of that; 10 ms spare the delay that making blocks of 10 ms
        takes. `expected_delay_ms` is that of the echo, up to 600, where it is known beforehand.
        """
        config = sized("dv_processor_config")
        try:
            config.sample_rate = sample_rate
            config.capture_channels = capture_channels
            config.reference_channels = reference_channels
            config.block_frames = block_frames
            config.backend = whole(backend, "backend")
            config.expected_delay_ms = real(expected_delay_ms, "expected_delay_ms")
        except OverflowError as problem:
            raise argument(f"a number of the configuration is out of its range: {problem}") from None
        handle, error = ffi.new("dv_processor *"), new_error()
        check(lib.dv_processor_create(config, settings_of(settings)._structure(), handle, error), error)
        super().__init__(int(handle[0]), lib.dv_processor_destroy)
        self._channels = (capture_channels or 1, reference_channels or 1)

    def process(self, capture: Samples, reference: Samples | None = None) -> Samples:
        """The next frames of the microphone against what was played meanwhile; `delay` frames later they come out.

        Both arrays are of one type, float32 of full scale ±1 or int16, and of one length; of shape (frames,), or
        (frames, channels) as configured. Mono comes out, of the same type. Without a reference nothing was played.
        """
        heard = _sound.taken(capture, "capture", self._channels[0])
        frames = len(heard)
        played = ffi.NULL
        if reference is not None:
            given = _sound.taken(reference, "reference", self._channels[1])
            if given.dtype != heard.dtype:
                raise TypeError(f"capture is of {heard.dtype} and reference of {given.dtype}; convert one of them")
            if len(given) != frames:
                raise argument(f"capture has {frames} frames and reference {len(given)}; give as many of each")
            played = _sound.pointer(given)
        output: Samples = np.empty(frames, heard.dtype)
        run = lib.dv_processor_run if heard.dtype == np.float32 else lib.dv_processor_run_int16
        check(run(self._handle, _sound.pointer(heard), played, _sound.pointer(output), frames))
        return output

    @property
    def delay(self) -> int:
        """Frames by which the output lags the capture."""
        frames = ffi.new("uint32_t *")
        check(lib.dv_processor_delay(self._handle, frames))
        return int(frames[0])

    @property
    def report(self) -> Report:
        """What is known after the last block."""
        report = sized("dv_processor_report")
        check(lib.dv_processor_get_report(self._handle, report))
        return read(Report, report)

    @property
    def active(self) -> Settings:
        """What was done to the last block: what was asked for, as far as backend and rate can do it."""
        settings = sized("dv_processor_settings")
        check(lib.dv_processor_get_active(self._handle, settings))
        return read(Settings, settings)

    def apply(self, settings: Settings | Preset) -> None:
        """Changes what is done from the next block on, without a click."""
        error = new_error()
        check(lib.dv_processor_apply(self._handle, settings_of(settings)._structure(), error), error)


def clean(
    microphone: Samples, played: Samples | None, sample_rate: int, *, settings: Settings | Preset = Preset.VOICE_CHAT
) -> Samples:
    """A whole recording without the echo of what was played: mono, as long as the microphone's and not delayed.

    What was played may be shorter, then silence follows, or longer, and is cut off.
    """
    for name, sound in (("microphone", microphone), ("played", played)):
        if not isinstance(sound, np.ndarray) and (sound is not None or name == "microphone"):
            raise TypeError(f"{name} is a {type(sound).__name__}; give a numpy array")
        if sound is not None and sound.ndim not in (1, 2):
            raise argument(f"{name} is of shape {sound.shape}; give one of shape (frames,) or (frames, channels)")
    sample_rate = whole(sample_rate, "sample_rate")
    channels = [sound.shape[1] if sound is not None and sound.ndim == 2 else 1 for sound in (microphone, played)]
    with Processor(
        sample_rate, settings=settings, capture_channels=channels[0], reference_channels=channels[1],
        block_frames=sample_rate // 100 if sample_rate % 100 == 0 else 0,
    ) as processor:  # fmt: skip
        block = sample_rate // 100
        late = processor.delay
        length = len(microphone)
        padded = -(-(length + late) // block) * block
        heard = _padded(microphone, padded)
        reference = None if played is None else _padded(played[:length], padded)
        parts = [
            processor.process(heard[at : at + block], None if reference is None else reference[at : at + block])
            for at in range(0, padded, block)
        ]
        cleaned: Samples = np.concatenate([heard.reshape(-1)[:0], *parts])
        return cleaned[late : late + length]


def _padded(sound: Any, frames: int) -> Any:
    return np.concatenate([sound, np.zeros((frames - len(sound), *sound.shape[1:]), sound.dtype)])
