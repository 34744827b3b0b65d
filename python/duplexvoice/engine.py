"""The whole engine: sound, rooms, far ends in this process, events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _sound
from ._handle import Handle
from ._library import argument, check, encoded, ffi, lib, new_error, octets, sized
from ._structures import read
from .conversation import Conversation
from .enumerations import (
    Backend,
    BargeIn,
    EnginePreset,
    InterruptibleBy,
    MemoryLock,
    Preset,
    Role,
    Route,
    Sound,
    SoundPoint,
    TalkMode,
)
from .events import Event, EventWaits, next_event
from .far_end import FarEnd, real, whole
from .processor import Settings, settings_of
from .statistics import Levels, Participant, Snapshot, Statistics, TalkerStatistics

_MOST_PARTICIPANTS = 256
_RATES = (16_000, 24_000, 48_000)


class Listener(Handle):
    """A function that hears sound on the engine's media thread; closing it waits for a call that runs."""

    def __init__(self, handle: int, engine: Handle) -> None:
        super().__init__(handle, lib.dv_listener_close)
        self._engine = engine


class Meter(Handle):
    """How loud both ends of an engine are, measured again and again until it is closed or the engine stops."""

    def __init__(self, handle: int, engine: Handle) -> None:
        super().__init__(handle, lib.dv_meter_close)
        self._engine = engine

    def read(self) -> Levels:
        """The levels of the newest interval; after the engine's stop of the last."""
        levels = sized("dv_levels")
        check(lib.dv_meter_read(self._handle, levels))
        return read(Levels, levels)


class Engine(Handle):
    """A voice engine. Any thread; `start`, `join`, `leave`, `stop` and `close` wait: give them to `asyncio.to_thread`.

    Its sound is that of sound cards, or with Sound.CLIENT the program's own: `send_capture` and `pull_playback`, each
    by one thread at a time. It lasts as long as something of it does: a far end, a conversation, a listener, a meter, a
    graph that runs on it, an iterator of its events.
    """

    def __init__(
        self,
        preset: EnginePreset = EnginePreset.VOICE_CHAT,
        *,
        sound: Sound = Sound.CARDS,
        backend: Backend = Backend.NATIVE,
        capture_device: str | None = None,
        playback_device: str | None = None,
        maximum_talkers: int = 0,
        route: Route = Route.AUTOMATIC,
        memory_lock: MemoryLock = MemoryLock.RINGS,
        priority: int = 0,
        bitrate_bps: int = 0,
        packet_ms: float = 0,
        first_capture_channel: int = 0,
        last_capture_channel: int = 0,
    ) -> None:
        """Makes an engine that does nothing yet. 0 is the default; `priority` -1 is the ordinary scheduler's.

        The microphone's channels of its card are counted from 1.
        """
        config = sized("dv_engine_config")
        kept = [_text(capture_device, "capture_device"), _text(playback_device, "playback_device")]
        config.capture_device, config.playback_device = kept
        try:
            config.preset, config.sound = whole(preset, "preset"), whole(sound, "sound")
            config.backend, config.maximum_talkers = whole(backend, "backend"), maximum_talkers
            config.route, config.memory_lock = whole(route, "route"), whole(memory_lock, "memory_lock")
            config.priority, config.bitrate_bps, config.packet_ms = priority, bitrate_bps, packet_ms
            config.first_capture_channel, config.last_capture_channel = first_capture_channel, last_capture_channel
        except OverflowError as problem:
            raise argument(f"a number of the configuration is out of its range: {problem}") from None
        handle, error = ffi.new("dv_engine *"), new_error()
        check(lib.dv_engine_create(config, handle, error), error)
        super().__init__(int(handle[0]), lib.dv_engine_destroy)
        self._waits = EventWaits()

    def close(self) -> None:
        """Stops it, and gives it up: `events` ends. Far ends stay, and take nothing more, until they are closed."""
        super().close()
        self._waits.close()

    async def __aenter__(self) -> Engine:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)

    # Life

    def start(self) -> None:
        """Opens the sound and starts it."""
        error = new_error()
        check(lib.dv_engine_start(self._handle, error), error)

    def stop(self) -> None:
        """Leaves the room, stops the sound and closes every far end. It may be started again."""
        error = new_error()
        check(lib.dv_engine_stop(self._handle, error), error)

    # The program's own sound

    def send_capture(self, samples: npt.NDArray[np.float32], time_ns: int = 0) -> int:
        """Brings sound of the microphone, 48 kHz and mono, and says how many frames were taken.

        `time_ns` is when the first was at the ADC, CLOCK_MONOTONIC. 0: the frames are counted from the start; then
        capture and playback must begin with it and leave nothing out.
        """
        return self._send(lib.dv_send_capture, samples, time_ns)

    def send_reference(self, samples: npt.NDArray[np.float32], time_ns: int = 0) -> int:
        """Brings what the loudspeaker plays, where that is not what `pull_playback` gives as it is."""
        return self._send(lib.dv_send_reference, samples, time_ns)

    def _send(self, call: Any, samples: Any, time_ns: int) -> int:
        sound = _sound.mono(samples, "samples")
        taken = ffi.new("size_t *")
        check(call(self._handle, _sound.pointer(sound), len(sound), whole(time_ns, "time_ns", (1 << 60) - 1), taken))
        return int(taken[0])

    def pull_playback(self, frames: int, time_ns: int = 0) -> npt.NDArray[np.float32]:
        """The next frames to be played, 48 kHz and mono; silence where there is none."""
        sound = np.zeros(_sound.frame_count(frames), np.float32)
        time = whole(time_ns, "time_ns", (1 << 60) - 1)
        check(lib.dv_pull_playback(self._handle, _sound.pointer(sound), len(sound), time, ffi.NULL))
        return sound

    def listen(self, point: SoundPoint, function: int, *, participant: int = 0, context: int = 0) -> Listener:
        """Has a `dv_sound_listener` hear a point of the sound's way, on the media thread, up to 4 at once.

        `function` is the address of machine code, such as a compiled library's or numba's `cfunc(...).address`; see
        duplexvoice.h for what it must not do. A function in Python would make the sound wait for the interpreter.
        """
        handle, error = ffi.new("dv_listener *"), new_error()
        call = ffi.cast("dv_sound_listener", whole(function, "function", (1 << 64) - 1))
        place = whole(context, "context", (1 << 64) - 1)
        kind, who = whole(point, "point"), whole(participant, "participant")
        check(lib.dv_engine_listen(self._handle, kind, who, call, ffi.cast("void *", place), handle, error), error)
        return Listener(int(handle[0]), self)

    def open_meter(self, interval_ms: int = 100) -> Meter:
        """Measures how loud both ends are from now on, up to 4 at once: each so many milliseconds, 10…10000."""
        handle, error = ffi.new("dv_meter *"), new_error()
        check(lib.dv_engine_open_meter(self._handle, whole(interval_ms, "interval_ms"), handle, error), error)
        return Meter(int(handle[0]), self)

    # Events

    def next_event(self, timeout: float | None = 0) -> Event | None:
        """The next event within so many seconds, None for no end; None where there was none."""
        return next_event(self._handle, timeout)

    def events(self) -> AsyncIterator[Event]:
        """The events as they come, until the engine is closed. Each goes to one iterator, where there are several."""
        return self._waits.events(self)

    # While it runs

    def set_muted(self, muted: bool) -> None:
        """Stops or resumes sending the microphone; the room is told."""
        error = new_error()
        check(lib.dv_engine_set_muted(self._handle, int(bool(muted)), error), error)

    def set_output_volume(self, volume: float) -> None:
        """Scales all that is played, 0…1."""
        error = new_error()
        check(lib.dv_engine_set_output_volume(self._handle, real(volume, "volume"), error), error)

    def set_volume(self, participant: int, volume: float) -> None:
        """Scales what is heard of a participant: 0 silences, 1 leaves it, up to 4."""
        error = new_error()
        number = whole(participant, "participant")
        check(lib.dv_engine_set_volume(self._handle, number, real(volume, "volume"), error), error)

    def set_participant_muted(self, participant: int, muted: bool) -> None:
        """Has a participant not be heard here, or heard again by its volume; nobody is told."""
        error = new_error()
        number = whole(participant, "participant")
        check(lib.dv_engine_set_participant_muted(self._handle, number, int(bool(muted)), error), error)

    def set_barge_in(self, participant: int, policy: BargeIn = BargeIn.STAGES) -> None:
        """Has what a participant of the room says, as an agent, give way to speech at the microphone."""
        error = new_error()
        numbers = whole(participant, "participant"), whole(policy, "policy")
        check(lib.dv_engine_set_barge_in(self._handle, *numbers, error), error)

    def follow_noise(self, on: bool = True, *, range: float = 12, quiet: float = -65, loud: float = -40) -> None:
        """Has the loudspeaker follow the noise around the near end: up to `range` dB softer in a quiet room."""
        levels, error = (real(range, "range"), real(quiet, "quiet"), real(loud, "loud")), new_error()
        check(lib.dv_engine_follow_noise(self._handle, int(bool(on)), *levels, error), error)

    def level_talkers(self, on: bool = True, *, target: float = -23, range: float = 9) -> None:
        """Has talkers played at like loudness: `target` LUFS, each changed by `range` dB at most."""
        levels, error = (real(target, "target"), real(range, "range")), new_error()
        check(lib.dv_engine_level_talkers(self._handle, int(bool(on)), *levels, error), error)

    def apply(self, settings: Settings | Preset) -> None:
        """Changes what is done to the microphone."""
        error = new_error()
        check(lib.dv_engine_apply(self._handle, settings_of(settings)._structure(), error), error)

    def apply_preset(self, preset: EnginePreset) -> None:
        """Goes over to another preset as far as what is fixed at the start allows, until the engine stops."""
        error = new_error()
        check(lib.dv_engine_apply_preset(self._handle, whole(preset, "preset"), error), error)

    def set_route(self, route: Route) -> None:
        """Says what kind of loudspeaker is in use, until the engine stops."""
        error = new_error()
        check(lib.dv_engine_set_route(self._handle, whole(route, "route"), error), error)

    def select_devices(self, capture: str | None = None, playback: str | None = None) -> None:
        """Goes over to other sound cards, by the names of their PCMs; None: it stays."""
        error = new_error()
        names = _text(capture, "capture"), _text(playback, "playback")
        check(lib.dv_engine_select_devices(self._handle, *names, error), error)

    # Room

    def join(
        self,
        url: str,
        token: str,
        *,
        room: str | None = None,
        interruptible: InterruptibleBy = InterruptibleBy.ITSELF,
        allow_plaintext: bool = False,
        listen_only: bool = False,
        role: Role = Role.TALKER,
        by_choice: bool = False,
    ) -> None:
        """Joins a room, and waits up to 15 s until it has answered; `leave` ends that.

        The URL is as the server prints it, the token that of `create_token`. By choice, only streams are heard that
        `play_stream` names.
        """
        options = sized("dv_join_options")
        kept = _text(room, "room")
        options.room = kept
        options.interruptible = whole(interruptible, "interruptible")
        options.role, options.by_choice = whole(role, "role"), int(bool(by_choice))
        options.allow_plaintext, options.listen_only = int(bool(allow_plaintext)), int(bool(listen_only))
        error = new_error()
        status = lib.dv_engine_join(self._handle, encoded(url, "url"), encoded(token, "token"), options, error)
        check(status, error)

    def set_token(self, token: str) -> None:
        """The token for the rest of the stay; EventKind.TOKEN_EXPIRING asks for it."""
        error = new_error()
        check(lib.dv_engine_set_token(self._handle, encoded(token, "token"), error), error)

    def leave(self) -> None:
        """Leaves the room; the sound runs on."""
        error = new_error()
        check(lib.dv_engine_leave(self._handle, error), error)

    def send(self, message: bytes, participant: int = 0) -> None:
        """Sends up to 1024 bytes to one participant, or to all others."""
        data, error = octets(message, "message"), new_error()
        check(lib.dv_engine_send(self._handle, whole(participant, "participant"), data, len(data), error), error)

    def set_text(self, stream: str, text: str, *, final: bool = False) -> None:
        """Has a stream's text be this from now on, for everybody in the room: what a recogniser has heard so far, say.

        The first change after a final one begins the next. Others get EventKind.TEXT. Up to 64 KiB, in eight streams.
        """
        self._change_text(lib.dv_engine_set_text, stream, text, final)

    def append_text(self, stream: str, text: str, *, final: bool = False) -> None:
        """Puts text behind a stream's, as a model's words come."""
        self._change_text(lib.dv_engine_append_text, stream, text, final)

    def _change_text(self, call: Any, stream: str, text: str, final: bool) -> None:
        error = new_error()
        check(call(self._handle, encoded(stream, "stream"), encoded(text, "text"), int(bool(final)), error), error)

    def abandon_text(self, stream: str) -> None:
        """Gives up a stream's text where it is, as that of an answer that was interrupted."""
        error = new_error()
        check(lib.dv_engine_abandon_text(self._handle, encoded(stream, "stream"), error), error)

    def add_caption(
        self, utterance: int, text: str, start_ms: int, end_ms: int | None = None, *, final: bool = False
    ) -> None:
        """Says which words an utterance of this engine's has, piece by piece, and where in its sound they lie.

        Others get EventKind.CAPTION as they hear it. Without an end a piece ends where the next begins.
        """
        words, error = encoded(text, "text"), new_error()
        number, start = whole(utterance, "utterance"), whole(start_ms, "start_ms")
        end = -1 if end_ms is None else whole(end_ms, "end_ms", 0x7FFF_FFFF)
        check(lib.dv_engine_add_caption(self._handle, number, words, start, end, int(bool(final)), error), error)

    def play_stream(self, stream: str) -> None:
        """Plays the stream of this name, now or as soon as there is one; EventKind.STREAM_STATE tells how it stands."""
        error = new_error()
        check(lib.dv_engine_play_stream(self._handle, encoded(stream, "stream"), error), error)

    def stop_stream(self, stream: str) -> None:
        """Does not play the stream of this name any more, nor later ones."""
        error = new_error()
        check(lib.dv_engine_stop_stream(self._handle, encoded(stream, "stream"), error), error)

    def set_stream_volume(self, stream: str, volume: float) -> None:
        """Scales what is heard of the stream of this name, 0 to 4."""
        scale, error = real(volume, "volume"), new_error()
        check(lib.dv_engine_set_stream_volume(self._handle, encoded(stream, "stream"), scale, error), error)

    def set_stream_muted(self, stream: str, muted: bool) -> None:
        """Has the stream of this name not be heard here, or heard again by its volume; nobody is told."""
        error = new_error()
        check(lib.dv_engine_set_stream_muted(self._handle, encoded(stream, "stream"), int(bool(muted)), error), error)

    def publish_stream(self, stream: str, *, speech: bool = False, queue_ms: int = 0) -> FarEnd:
        """Publishes a stream that is fed by `offer` or `say`, beside the microphone, until it is closed; 3 at once.

        It is sent and not heard here, and there is nothing to take from it. Its queue holds `queue_ms` (5 s).
        """
        config = sized("dv_far_end_config")
        config.queue_ms = whole(queue_ms, "queue_ms")
        handle, error, name = ffi.new("dv_far_end *"), new_error(), encoded(stream, "stream")
        check(lib.dv_engine_publish_stream(self._handle, name, int(bool(speech)), config, handle, error), error)
        return FarEnd(int(handle[0]), self, near_end_rate=16_000)

    def publish(self, stream: str = "") -> None:
        """Publishes the microphone as the stream of this name, from now on and in the rooms that follow."""
        error = new_error()
        check(lib.dv_engine_publish(self._handle, encoded(stream, "stream"), error), error)

    def unpublish(self) -> None:
        """Withdraws the microphone's stream until publish."""
        error = new_error()
        check(lib.dv_engine_unpublish(self._handle, error), error)

    def set_role(self, role: Role) -> None:
        """Becomes a talker or a listener, as far as the token lets it; EventKind.ROLE follows."""
        error = new_error()
        check(lib.dv_engine_set_role(self._handle, whole(role, "role"), error), error)

    def set_attribute(self, key: str, value: str | None) -> None:
        """Tells something of this engine to everybody in the room, whoever comes later too; None takes it back."""
        error = new_error()
        text = ffi.NULL if value is None else encoded(value, "value")
        check(lib.dv_engine_set_attribute(self._handle, encoded(key, "key"), text, error), error)

    def interrupt(self, participant: int = 0) -> None:
        """Interrupts a participant, or this engine's own speech: nothing more is heard of what was said before."""
        error = new_error()
        check(lib.dv_engine_interrupt(self._handle, whole(participant, "participant"), error), error)

    def begin_utterance(self, utterance: int) -> None:
        """What is captured from now on is this utterance; 0: none. What is interrupted of it is not sent."""
        error = new_error()
        check(lib.dv_engine_begin_utterance(self._handle, whole(utterance, "utterance"), error), error)

    @property
    def participants(self) -> list[int]:
        """The numbers of everybody else in the room, rising."""
        numbers, count = ffi.new("uint32_t[]", _MOST_PARTICIPANTS), ffi.new("size_t *")
        check(lib.dv_engine_get_participants(self._handle, numbers, _MOST_PARTICIPANTS, count))
        return [int(number) for number in numbers[0 : min(count[0], _MOST_PARTICIPANTS)]]

    def participant(self, number: int) -> Participant:
        """What is known of one in the room, this engine's own included."""
        structure, error = sized("dv_participant"), new_error()
        status = lib.dv_engine_get_participant(self._handle, whole(number, "number"), structure, error)
        check(status, error)
        return read(Participant, structure)

    # What it is doing

    @property
    def snapshot(self) -> Snapshot:
        """What the engine is doing."""
        structure = sized("dv_engine_snapshot")
        check(lib.dv_engine_get_snapshot(self._handle, structure))
        return read(Snapshot, structure)

    @property
    def statistics(self) -> Statistics:
        """What is counted and measured since the start."""
        structure = sized("dv_engine_statistics")
        check(lib.dv_engine_get_statistics(self._handle, structure))
        return read(Statistics, structure)

    def talker(self, participant: int) -> TalkerStatistics:
        """What is counted of a talker as it is played."""
        structure, error = sized("dv_talker_statistics"), new_error()
        number = whole(participant, "participant")
        check(lib.dv_engine_get_talker(self._handle, number, structure, error), error)
        return read(TalkerStatistics, structure)

    # Agents in this process

    def open_far_end(self, *, queue_ms: int = 0, near_end_rate: int = 16_000) -> FarEnd:
        """Opens a far end, up to 4 at once, whose queue holds so much (30 s), and that hears at 16, 24 or 48 kHz."""
        config = sized("dv_far_end_config")
        config.queue_ms, config.near_end_rate = whole(queue_ms, "queue_ms"), _rate(near_end_rate)
        handle, error = ffi.new("dv_far_end *"), new_error()
        check(lib.dv_far_end_open(self._handle, config, handle, error), error)
        return FarEnd(int(handle[0]), self, near_end_rate=near_end_rate)

    def open_conversation(
        self,
        mode: TalkMode = TalkMode.DUPLEX,
        *,
        end_of_turn_ms: int = 0,
        queue_ms: int = 0,
        near_end_rate: int = 16_000,
    ) -> Conversation:
        """Begins a conversation, one at a time; `end_of_turn_ms` of silence end a turn (700)."""
        config = sized("dv_conversation_config")
        config.mode, config.end_of_turn_ms = whole(mode, "mode"), whole(end_of_turn_ms, "end_of_turn_ms")
        config.queue_ms, config.near_end_rate = whole(queue_ms, "queue_ms"), _rate(near_end_rate)
        handle, far_end, error = ffi.new("dv_conversation *"), ffi.new("dv_far_end *"), new_error()
        check(lib.dv_conversation_open(self._handle, config, handle, far_end, error), error)
        return Conversation(int(handle[0]), FarEnd(int(far_end[0]), self, near_end_rate=near_end_rate))


def _text(text: str | None, name: str) -> Any:
    """Kept alive by whoever keeps what is returned."""
    return ffi.NULL if text is None else ffi.new("char[]", encoded(text, name))


def _rate(rate: int) -> int:
    if rate not in _RATES:
        raise argument(f"near_end_rate is {rate}; take 16000, 24000 or 48000")
    return int(rate)
