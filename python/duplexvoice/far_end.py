"""A far end in this process: an agent, a prompt, whatever talks to the near end without being in a room."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _sound
from ._handle import Handle
from ._library import argument, check, ffi, lib
from ._sound import Samples


def whole(value: Any, name: str, most: int = 0xFFFF_FFFF) -> int:
    """A number that fits the library's field."""
    if not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} is {value!r}; give a whole number")
    if not 0 <= value <= most:
        raise argument(f"{name} is {value}; take 0 to {most}")
    return int(value)


def real(value: Any, name: str) -> float:
    """A number that may have a fraction."""
    if not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name} is {value!r}; give a number")
    try:
        return float(value)
    except OverflowError:
        raise argument(f"{name} is out of its range; take a smaller number") from None


class FarEnd(Handle):
    """Is mixed with whoever is in the room, is in the canceller's reference, and hears what a room would hear.

    Made by `Engine.open_far_end` and `Engine.open_conversation`. `offer` by one thread at a time, `take` by one, which
    may be another.
    """

    def __init__(self, handle: int, engine: Handle, *, near_end_rate: int) -> None:
        super().__init__(handle, lib.dv_far_end_close)
        # Lasts as long as this: without references it would be closed.
        self._engine = engine
        self.near_end_rate = near_end_rate

    @property
    def number(self) -> int:
        """That of Event.far_end."""
        return self._handle

    def offer(self, samples: Samples, rate: int, utterance: int, *, last: bool = False) -> int:
        """Queues sound of an utterance, and says how many frames were taken: fewer where the queue is full.

        Mono, float32 or int16, at 16000, 24000 or 48000. Utterances are numbered from 1, rising; one ends with `last`
        or with the first sound of the next. What comes of one that was interrupted is taken and dropped, as all is
        where the engine has stopped.
        """
        sound = _sound.taken(samples, "samples").reshape(-1)
        taken = ffi.new("size_t *")
        offer = lib.dv_far_end_offer if sound.dtype == np.float32 else lib.dv_far_end_offer_int16
        check(
            offer(
                self._handle, _sound.pointer(sound), len(sound), whole(rate, "rate"), whole(utterance, "utterance"),
                int(bool(last)), taken,
            )
        )  # fmt: skip
        return int(taken[0])

    async def say(self, samples: Samples, rate: int, utterance: int, *, last: bool = True) -> None:
        """Queues all of it, and waits where the queue is full."""
        sound = _sound.taken(samples, "samples").reshape(-1)
        offered = 0
        while True:
            part = sound[offered : offered + _sound.MOST_FRAMES]
            offered += self.offer(part, rate, utterance, last=last and offered + len(part) == len(sound))
            if offered == len(sound):
                return
            await asyncio.sleep(0.02)

    def take(self, frames: int) -> tuple[npt.NDArray[np.float32], int]:
        """Up to so many frames of what the microphone heard, and when the first was at the ADC, CLOCK_MONOTONIC in ns.

        What a room would get: echo cancelled, levelled, silence while muted; mono, at `near_end_rate`. Up to 2 s wait.
        """
        sound = np.empty(_sound.frame_count(frames), np.float32)
        taken, time_ns = ffi.new("size_t *"), ffi.new("int64_t *")
        check(lib.dv_far_end_take(self._handle, _sound.pointer(sound), len(sound), taken, time_ns))
        return sound[: taken[0]], int(time_ns[0])

    def interrupt(self, utterance: int = 0) -> None:
        """Gives up every utterance up to this one, also those that have not begun; 0: all that have."""
        check(lib.dv_far_end_interrupt(self._handle, whole(utterance, "utterance")))

    def set_volume(self, volume: float) -> None:
        """Scales what is heard of it: 0 silences, 1 leaves it, up to 4."""
        check(lib.dv_far_end_set_volume(self._handle, real(volume, "volume")))
