"""A conversation with an agent in this process: turns, interruptions, and how much of each answer was heard."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import _sound, _structures
from ._handle import Handle
from ._library import argument, check, encoded, ffi, lib, new_error
from .enumerations import TalkMode
from .far_end import FarEnd, real, whole


@dataclass(frozen=True)
class AnswerLatency:
    """How long the near talker waited for an answer, in nanoseconds, by where the time went; None: not known."""

    turn: int
    end_of_turn_ns: int
    agent_ns: int
    playback_ns: int
    recognition_ns: int | None
    response_ns: int | None
    synthesis_ns: int | None
    transfer_ns: int | None


class Conversation(Handle):
    """Made by `Engine.open_conversation`. Its events are the engine's. Any thread but an audio callback.

    `far_end` is for hearing the near talker (`FarEnd.take`) and for its volume; what is said belongs to answers. It is
    closed with the conversation.
    """

    def __init__(self, handle: int, far_end: FarEnd) -> None:
        super().__init__(handle, lib.dv_conversation_close)
        self.far_end = far_end

    def close(self) -> None:
        """Ends it; the microphone is open."""
        super().close()
        self.far_end.close()

    def answer(self, turn: int = 0) -> int:
        """Takes the agent's turn, and names the utterance that answers it. 0: the agent begins by itself."""
        utterance, error = ffi.new("uint32_t *"), new_error()
        check(lib.dv_conversation_answer(self._handle, whole(turn, "turn"), utterance, error), error)
        return int(utterance[0])

    def offer(self, samples: npt.NDArray[np.float32], rate: int, utterance: int) -> int:
        """Queues sound of an answer, and says how many frames were taken: fewer where the queue is full."""
        sound = _sound.mono(samples, "samples")
        taken = ffi.new("size_t *")
        check(
            lib.dv_conversation_say(
                self._handle,
                _sound.pointer(sound),
                len(sound),
                whole(rate, "rate"),
                whole(utterance, "utterance"),
                taken,
            )
        )
        return int(taken[0])

    async def say(self, samples: npt.NDArray[np.float32], rate: int, utterance: int) -> None:
        """Queues all of it, and waits where the queue is full; an answer that is over takes all and drops it."""
        sound = _sound.mono(samples, "samples")
        offered = 0
        while offered < len(sound):
            taken = self.offer(sound[offered : offered + _sound.MOST_FRAMES], rate, utterance)
            offered += taken
            if taken == 0:
                await asyncio.sleep(0.02)

    def finish(self, utterance: int) -> None:
        """Nothing more comes of an answer: what is queued is heard, and then the agent's turn is over."""
        check(lib.dv_conversation_finish(self._handle, whole(utterance, "utterance")))

    def start_speech(self) -> None:
        """The near talker takes the turn with a button; an answer ends at once."""
        error = new_error()
        check(lib.dv_conversation_start_speech(self._handle, error), error)

    def stop_speech(self) -> None:
        """The near talker lets go of the button."""
        error = new_error()
        check(lib.dv_conversation_stop_speech(self._handle, error), error)

    def put_off_end(self, delay_ms: int) -> None:
        """The near talker has fallen silent, and not finished: the turn ends so much later, at most 10 s from now."""
        error = new_error()
        check(lib.dv_conversation_put_off_end(self._handle, whole(delay_ms, "delay_ms"), error), error)

    def end_turn(self) -> None:
        """The near talker has finished: the turn ends now."""
        error = new_error()
        check(lib.dv_conversation_end_turn(self._handle, error), error)

    def set_mode(self, mode: TalkMode, *, end_of_turn_ms: int = 0) -> None:
        """Changes how turns begin and end; a turn that is under way is dropped, an answer goes on."""
        silence, error = whole(end_of_turn_ms, "end_of_turn_ms"), new_error()
        check(lib.dv_conversation_set_mode(self._handle, whole(mode, "mode"), silence, error), error)

    def confirm(self) -> None:
        """A recogniser has heard words: what is suspected to be an interruption is one."""
        check(lib.dv_conversation_confirm(self._handle))

    def cancel(self) -> None:
        """Cancels whatever turn it is."""
        error = new_error()
        check(lib.dv_conversation_cancel(self._handle, error), error)

    def heard(self, utterance: int) -> float:
        """How much of an answer has left the DAC by now, seconds, to a period and the buffer of the device."""
        heard = ffi.new("int64_t *")
        check(lib.dv_conversation_heard(self._handle, whole(utterance, "utterance"), heard))
        return int(heard[0]) * 1e-9

    def add_caption(self, utterance: int, text: str) -> None:
        """Says which words the sound of an answer has that is queued from here on, to the next call or the end."""
        check(lib.dv_conversation_caption(self._handle, whole(utterance, "utterance"), encoded(text, "text")))

    def caption(self, utterance: int) -> tuple[str, str]:
        """The words of an answer that were heard by now, to the last whole one; and all of them."""
        number, room = whole(utterance, "utterance"), 1024
        count, heard = ffi.new("size_t *"), ffi.new("size_t *")
        while True:
            text = ffi.new("char[]", room)
            check(lib.dv_conversation_get_caption(self._handle, number, text, room, count, heard))
            if count[0] < room:
                break
            room = int(count[0]) + 1
        data = bytes(ffi.buffer(text, count[0]))
        return data[: heard[0]].decode(), data.decode()

    async def positions(self, utterance: int, every: float = 0.1) -> AsyncIterator[float]:
        """`heard` each time that more was, looked at every so many seconds; leave it at the answer's end."""
        told = 0.0
        while True:
            heard = self.heard(utterance)
            if heard > told:
                told = heard
                yield heard
            await asyncio.sleep(max(every, 0.005))

    def report_stages(
        self,
        utterance: int,
        *,
        recognised: float | None = None,
        first_token: float | None = None,
        first_sound: float | None = None,
    ) -> None:
        """Tells when the agent's own stages of an answer were done: seconds since it had the turn, by its own clock."""
        stages, error = ffi.new("dv_agent_stages *"), new_error()
        stages.size = ffi.sizeof("dv_agent_stages")
        times = {"recognised_ns": recognised, "first_token_ns": first_token, "first_sound_ns": first_sound}
        for name, seconds in times.items():
            nanoseconds = -1 if seconds is None else real(seconds, name) * 1e9
            if seconds is not None and not 0 <= nanoseconds < 1 << 63:
                raise argument(f"{name.removesuffix('_ns')} is {seconds} s; take 0 or more")
            setattr(stages, name, round(nanoseconds))
        check(lib.dv_conversation_report_stages(self._handle, whole(utterance, "utterance"), stages, error), error)

    def latency(self, turn: int) -> AnswerLatency:
        """Where the time went that `EventKind.ANSWER_STARTED` told of for a turn, one of the last 16."""
        latency = ffi.new("dv_answer_latency *")
        latency.size = ffi.sizeof("dv_answer_latency")
        check(lib.dv_conversation_latency(self._handle, whole(turn, "turn"), latency))
        return _structures.read(AnswerLatency, latency)
