"""What happens to an engine, as values and as an asynchronous iterator."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from ._handle import Handle
from ._library import check, ffi, lib, sized, string
from .enumerations import EventKind, Status


@dataclass(frozen=True)
class Event:
    """Something that happened: `kind` says what, and duplexvoice.h which of the other fields say more; the rest is 0.

    `kind` is a plain int where the library is newer than this package: leave such an event alone. `text` may hold what
    others chose: escape it before a terminal sees it.
    """

    kind: EventKind | int
    participant: int
    other: int
    value: int
    time_ns: int
    duration_ns: int
    far_end: int
    utterance: int
    turn: int
    code: str
    text: str
    data: bytes
    total_bytes: int
    """Of EventKind.TEXT and CAPTION: how many bytes the text has in all, of which `data` has the first."""


    @property
    def attributes(self) -> dict[str, str]:
        """Of EventKind.ATTRIBUTES and PARTICIPANT_JOINED: what the participant tells of itself."""
        if self.kind not in (EventKind.ATTRIBUTES, EventKind.PARTICIPANT_JOINED):
            return {}
        parts = self.data.decode().split("\0")
        return dict(zip(parts[0:-1:2], parts[1::2], strict=False))


_KINDS = {int(kind): kind for kind in EventKind}


def _event(structure: Any) -> Event:
    number = int(structure.kind)
    return Event(
        kind=_KINDS.get(number, number),
        participant=structure.participant,
        other=structure.other,
        value=structure.value,
        time_ns=structure.time_ns,
        duration_ns=structure.duration_ns,
        far_end=structure.far_end,
        utterance=structure.utterance,
        turn=structure.turn,
        code=string(structure.code),
        text=string(structure.text),
        data=bytes(ffi.buffer(structure.data, structure.data_bytes)),
        total_bytes=structure.reserved,
    )


def next_event(engine: int, timeout: float | None) -> Event | None:
    """The next within so many seconds; None where there was none. Without a time-out it waits, and lets others run."""
    structure = sized("dv_event")
    # In parts, so that Control-C is heard.
    part = 0.2
    while True:
        wait = part if timeout is None else max(0.0, min(part, timeout))
        check(lib.dv_engine_next_event(engine, round(wait * 1000), structure))
        if structure.kind != EventKind.NONE:
            return _event(structure)
        if timeout is not None:
            timeout -= wait
            # Also where it is no number.
            if not timeout > 0:
                return None


class EventWaits:
    """The tasks that wait for an engine's events; it lets them go when it closes. Any thread."""

    def __init__(self) -> None:
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    def close(self) -> None:
        """Everybody looks again, and finds the engine closed."""
        for loop, ready in list(self._waiting):
            try:
                loop.call_soon_threadsafe(ready.set)
            except RuntimeError:
                pass  # the loop is closed, and nobody waits there

    async def events(self, engine: Handle) -> AsyncIterator[Event]:
        """Every event from now on, until the engine is closed."""
        loop = asyncio.get_running_loop()
        number = ffi.new("int32_t *")
        status = lib.dv_engine_event_descriptor(engine._handle, number)
        if status == Status.INVALID_HANDLE:
            return
        check(status)
        # One of its own: the engine's is closed with it, and its number may then be another file's.
        descriptor = os.dup(number[0])
        ready = asyncio.Event()
        self._waiting.add((loop, ready))
        structure = sized("dv_event")
        try:
            while True:
                ready.clear()
                status = lib.dv_engine_next_event(engine._handle, 0, structure)
                if status == Status.INVALID_HANDLE:
                    return
                check(status)
                if structure.kind != EventKind.NONE:
                    yield _event(structure)
                    continue
                loop.add_reader(descriptor, ready.set)
                try:
                    await ready.wait()
                finally:
                    loop.remove_reader(descriptor)
        finally:
            self._waiting.discard((loop, ready))
            os.close(descriptor)
