"""A graph of stages that a JSON description connects; docs/graph.md has its shape and the types of nodes."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _sound
from ._handle import Handle
from ._library import argument, check, encoded, ffi, lib, new_error, sized, string
from .engine import Engine
from .enumerations import Status
from .far_end import FarEnd, real, whole

Sound = npt.NDArray[np.float32]
_TEXT_BYTES = int(ffi.integer_const("DV_GRAPH_TEXT_BYTES"))


@dataclass(frozen=True)
class GraphEvent:
    """What a node tells. Times are seconds since the start of the sound; `sound` is a chunk's, mono at 16 kHz."""

    node: str
    name: str
    values: dict[str, str | float]
    sound: Sound = field(repr=False, compare=False)


@dataclass(frozen=True)
class GraphPort:
    """Where sound enters or leaves nodes of the program's.

    `channels` is 1 to 8; 0 for an input means any number, for an output as many as the first input that is connected.
    """

    name: str
    channels: int = 1
    is_optional: bool = False


@dataclass(frozen=True)
class GraphNodeType:
    """A type of nodes of the program's with ports of any number and channels; one side may have none.

    `process` gets the node's name and what each connected input hears, by the port's name, and returns what each output
    gives; an output that is left out is silence. Arrays are of shape (frames,), or (frames, channels) of several.
    """

    process: Callable[[str, Mapping[str, Sound]], Mapping[str, Sound]]
    inputs: Sequence[GraphPort] = ()
    outputs: Sequence[GraphPort] = ()


class Graph(Handle):
    """Runs once: over a file, over the program's sound, or on an engine's sound; then it has finished.

    Listeners, a recogniser and nodes of the program's are called on threads of the library's. They must return soon, a
    recogniser excepted, and may call `call_action`, `add_listener` and `remove_listener`; what would wait for the graph
    is a WrongStateError there.
    """

    def __init__(
        self,
        description: str | Mapping[str, Any],
        *,
        grammar: str | None = None,
        dictation: bool = False,
        recogniser: Callable[[Sound], str] | None = None,
        node_types: Mapping[str, Callable[[str, Sound], Sound] | GraphNodeType] | None = None,
        far_ends: Mapping[str, FarEnd] | None = None,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        """Makes a graph of a description, JSON or what json.dumps takes. ArgumentError names node and field.

        Pocketsphinx is the recogniser with a JSGF `grammar` or `dictation`; `recogniser` is one of the program's, from
        mono at 16 kHz to text. A node of `node_types` gets its name and a mono block, and returns one of the same length;
        a GraphNodeType has other ports.
        """
        text = description if isinstance(description, str) else json.dumps(description)
        config = sized("dv_graph_config")
        kept: list[Any] = []

        def c_string(value: str, name: str) -> Any:
            kept.append(ffi.new("char[]", encoded(value, name)))
            return kept[-1]

        if grammar is not None:
            config.grammar = c_string(grammar, "grammar")
        config.dictation = int(bool(dictation))
        if recogniser is not None:
            # A field gives back a pointer that keeps nothing alive.
            kept.append(_recognition(recogniser))
            config.recogniser = kept[-1]
        if folder is not None:
            config.folder = c_string(os.fspath(folder), "folder")
        given = dict(node_types or {})
        mono = {name: kind for name, kind in given.items() if not isinstance(kind, GraphNodeType)}
        ported = {name: kind for name, kind in given.items() if isinstance(kind, GraphNodeType)}
        types = ffi.new("dv_graph_node_type[]", len(mono))
        for index, (name, process) in enumerate(mono.items()):
            types[index].name = c_string(name, "node_types")
            kept.append(_process(process))
            types[index].process = kept[-1]
        config.node_types, config.node_type_count = types, len(types)
        stages = ffi.new("dv_graph_stage_type[]", len(ported))
        for index, (name, kind) in enumerate(ported.items()):
            stages[index].name = c_string(name, "node_types")
            for side, ports in (("input", kind.inputs), ("output", kind.outputs)):
                array = ffi.new("dv_graph_port[]", len(ports))
                for place, port in enumerate(ports):
                    array[place].name = c_string(port.name, f"{side}s.name")
                    array[place].channels = whole(port.channels, f"{side}s.channels", (1 << 32) - 1)
                    array[place].is_optional = int(bool(port.is_optional))
                kept.append(array)
                setattr(stages[index], f"{side}s", array)
                setattr(stages[index], f"{side}_count", len(array))
            kept.append(_stage(kind))
            stages[index].process = kept[-1]
        config.stage_types, config.stage_type_count = stages, len(stages)
        ends = ffi.new("dv_graph_far_end[]", len(far_ends or {}))
        for index, (name, far_end) in enumerate((far_ends or {}).items()):
            ends[index].name = c_string(name, "far_ends")
            if not isinstance(far_end, FarEnd):
                raise TypeError(f"far_ends[{name!r}] is a {type(far_end).__name__}; give a FarEnd")
            ends[index].far_end = far_end.number
        config.far_ends, config.far_end_count = ends, len(ends)

        handle, error = ffi.new("dv_graph *"), new_error()
        check(lib.dv_graph_create(encoded(text, "description"), config, handle, error), error)
        self._listeners: dict[int, Callable[[GraphEvent], None]] = {}
        self._places: dict[int, int] = {}
        self._next_place = itertools.count(1)
        self._tell = _telling(self._listeners)
        kept.append(self._tell)
        # What the library calls lasts until the graph is destroyed, also where nothing refers to it before.
        self._kept = kept
        # Without references they would be closed while the graph has them.
        self._far_ends = dict(far_ends or {})
        self._engine: Engine | None = None
        super().__init__(int(handle[0]), lambda number, kept=kept: int(lib.dv_graph_destroy(number)))
        info = sized("dv_graph_info")
        check(lib.dv_graph_get_info(self._handle, info))
        self.sample_rate = int(info.sample_rate)
        self.block_frames = int(info.block_frames)
        self.input_channels = int(info.input_channels)
        self.output_channels = int(info.output_channels)

    def add_listener(self, node: str, event: str, listener: Callable[[GraphEvent], None]) -> int:
        """Has `listener` called with each event of this name of a node; `*` for every one. Returns its number.

        It is kept until it is removed, and keeps the graph where it refers to it: close such a graph.
        """
        _callable(listener, "listener")
        place = next(self._next_place)
        number, error = ffi.new("uint64_t *"), new_error()
        names = encoded(node, "node"), encoded(event, "event")
        self._listeners[place] = listener
        status = lib.dv_graph_add_listener(
            self._handle, *names, self._tell, ffi.cast("void *", place), number, error
        )
        if status != Status.OK:
            del self._listeners[place]
        check(status, error)
        self._places[int(number[0])] = place
        return int(number[0])

    def remove_listener(self, number: int) -> None:
        """Ends it and lets go of it: no call of it begins any more."""
        number = whole(number, "number", (1 << 64) - 1)
        check(lib.dv_graph_remove_listener(self._handle, number))
        self._listeners.pop(self._places.pop(number, 0), None)

    def call_action(self, node: str, action: str, **arguments: float) -> None:
        """Has a node carry out an action before its next block."""
        values = ffi.new("dv_graph_value[]", len(arguments))
        names = [ffi.new("char[]", encoded(name, "arguments")) for name in arguments]
        for value, name, number in zip(values, names, arguments.values(), strict=True):
            value.name, value.number = name, real(number, "an argument")
        error = new_error()
        status = lib.dv_graph_call_action(
            self._handle, encoded(node, "node"), encoded(action, "action"), values, len(values), error
        )
        check(status, error)

    def push(self, samples: Sound) -> Sound:
        """Runs over sound, of shape (frames,) or (frames, input_channels), and returns what goes out meanwhile."""
        channels = self.input_channels
        sound = _sound.taken(samples, "samples", channels)
        if sound.dtype != np.float32:
            raise TypeError(f"samples is of {sound.dtype}; convert it to float32, full scale ±1")
        error = new_error()

        def call(output: Any, room: int, given: Any) -> int:
            return int(lib.dv_graph_push(
                self._handle, _sound.pointer(sound.reshape(-1)), len(sound), output, room, given, error
            ))  # fmt: skip

        return self._output(len(sound) + self.block_frames, call, error)

    def finish(self) -> Sound:
        """Says that no sound follows, completes what nodes have begun, and returns the rest of what goes out."""
        error = new_error()

        def call(output: Any, room: int, given: Any) -> int:
            return int(lib.dv_graph_finish(self._handle, output, room, given, error))

        return self._output(self.block_frames, call, error)

    def _output(self, room: int, call: Callable[[Any, int, Any], int], error: Any) -> Sound:
        channels = self.output_channels
        output, given = np.empty((room, max(1, channels)), np.float32), ffi.new("size_t *")
        check(call(_sound.pointer(output.reshape(-1)), room, given), error)
        written = output[: given[0]]
        return written.reshape(-1) if channels <= 1 else written

    def run_file(self, input: str | os.PathLike[str], output: str | os.PathLike[str] | None = None) -> int:
        """Runs over a sound file and finishes; `output` is another, WAV. Returns the frames that were in it."""
        target = ffi.NULL if output is None else encoded(os.fspath(output), "output")
        frames, error = ffi.new("uint64_t *"), new_error()
        check(lib.dv_graph_run_file(self._handle, encoded(os.fspath(input), "input"), target, frames, error), error)
        return int(frames[0])

    def start(self, engine: Engine) -> None:
        """Runs on an engine's sound until `stop`."""
        if not isinstance(engine, Engine):
            raise TypeError(f"engine is a {type(engine).__name__}; give an Engine")
        error = new_error()
        check(lib.dv_graph_start(self._handle, engine._handle, error), error)
        self._engine = engine

    def stop(self) -> None:
        """Ends what `start` began, and finishes."""
        error = new_error()
        check(lib.dv_graph_stop(self._handle, error), error)
        self._engine = None


def _callable(function: Any, name: str) -> None:
    if not callable(function):
        raise TypeError(f"{name} is a {type(function).__name__}; give a function")


def _event(given: Any) -> GraphEvent:
    values: dict[str, str | float] = {}
    for index in range(given.value_count):
        value = given.values[index]
        values[string(value.name)] = string(value.text) if value.text else float(value.number)
    sound = np.frombuffer(ffi.buffer(given.sound, 4 * given.frames), np.float32).copy() if given.frames else _nothing()
    return GraphEvent(string(given.node), string(given.event), values, sound)


def _nothing() -> Sound:
    return np.empty(0, np.float32)


def _telling(listeners: dict[int, Callable[[GraphEvent], None]]) -> Any:
    """What the library calls for all listeners of a graph, each by its place: they may come and go while it does."""

    @ffi.callback("dv_graph_listener")
    def call(place: Any, given: Any) -> None:
        listener = listeners.get(int(ffi.cast("uintptr_t", place)))
        if listener is not None:
            listener(_event(given))

    return call


def _recognition(recogniser: Callable[[Sound], str]) -> Any:
    _callable(recogniser, "recogniser")

    @ffi.callback("dv_graph_recogniser", error=-1)
    def call(_context: Any, samples: Any, frames: int, text: Any) -> int:
        sound = np.frombuffer(ffi.buffer(samples, 4 * frames), np.float32).copy()
        data = recogniser(sound).encode("utf-8", "replace")[: _TEXT_BYTES - 1]
        # A character that the cut goes through is left out.
        data = data.decode("utf-8", "ignore").encode("utf-8")
        ffi.memmove(text, data + b"\0", len(data) + 1)
        return 0

    return call


def _process(process: Callable[[str, Sound], Sound]) -> Any:
    _callable(process, "a node type")

    @ffi.callback("dv_graph_process")
    def call(_context: Any, node: Any, samples: Any, output: Any, frames: int) -> None:
        made = np.frombuffer(ffi.buffer(output, 4 * frames), np.float32)
        made[:] = 0
        made[:] = process(string(node), np.frombuffer(ffi.buffer(samples, 4 * frames), np.float32).copy())

    return call


def _stage(kind: GraphNodeType) -> Any:
    _callable(kind.process, "a node type's process")

    @ffi.callback("dv_graph_stage")
    def call(_context: Any, block: Any) -> None:
        frames = block.frames

        def sound(port: Any) -> Sound:
            planes = np.frombuffer(ffi.buffer(port.samples, 4 * port.channels * frames), np.float32)
            return planes if port.channels == 1 else planes.reshape(port.channels, frames).T

        heard = {
            port.name: sound(block.inputs[place]).copy()
            for place, port in enumerate(kind.inputs)
            if block.inputs[place].channels
        }
        made = kind.process(string(block.node), heard)
        unknown = set(made) - {port.name for port in kind.outputs}
        if unknown:
            raise argument(f"there is no output {', '.join(sorted(unknown))}")
        for place, port in enumerate(kind.outputs):
            if port.name in made:
                sound(block.outputs[place])[:] = made[port.name]

    return call
