"""The library itself: found, loaded, and called so that a status other than DV_OK is an exception."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ._native import ffi as ffi
from .enumerations import Status
from .errors import OF_STATUS, ArgumentError, DuplexVoiceError, InternalError

_SONAME = "libduplexvoice.so.0"


def _load() -> Any:
    """From DUPLEXVOICE_LIBRARY, beside this file as a wheel has it, or where the system keeps its libraries."""
    given = os.environ.get("DUPLEXVOICE_LIBRARY")
    beside = Path(__file__).resolve().parent / _SONAME
    name = given or (str(beside) if beside.exists() else _SONAME)
    try:
        # Not unloaded at the end: its threads still run.
        library = ffi.dlopen(name, ffi.RTLD_NOW | ffi.RTLD_NODELETE)
    except OSError as problem:
        raise ImportError(
            f"{problem}; install libduplexvoice and what it needs, or set DUPLEXVOICE_LIBRARY to the path of {_SONAME}"
        ) from None
    loaded = int(library.dv_version())
    if loaded >> 8 != _DECLARED >> 8:
        raise ImportError(
            f"{name} is version {_text(loaded)}, and this package is for {_text(_DECLARED)}; install the same of both"
        )
    return library


def _text(version: int) -> str:
    return f"{version >> 16}.{version >> 8 & 255}.{version & 255}"


def _constant(name: str) -> int:
    return int(ffi.integer_const(name))


_DECLARED = _constant("DV_VERSION_MAJOR") << 16 | _constant("DV_VERSION_MINOR") << 8 | _constant("DV_VERSION_PATCH")
lib: Any = _load()
version: str = _text(int(lib.dv_version()))


def string(field: Any) -> str:
    """A text of the library's."""
    return bytes(ffi.string(field)).decode("utf-8", "replace")


def encoded(text: str, name: str, most: int | None = None) -> bytes:
    """A text for the library, which ends it with a zero."""
    if not isinstance(text, str):
        raise TypeError(f"{name} is a {type(text).__name__}; give a str")
    data = text.encode("utf-8", "surrogatepass")
    if b"\0" in data:
        raise argument(f"{name} has a character of value 0; leave it out")
    if most is not None and len(data) > most:
        raise argument(f"{name} is {len(data)} bytes long; take {most} at most")
    return data


def octets(data: Any, name: str) -> bytes:
    """Bytes for the library. Of a number, `bytes` would make as many zeroes."""
    try:
        return bytes(memoryview(data))
    except TypeError:
        raise TypeError(f"{name} is a {type(data).__name__}; give bytes") from None


def argument(message: str) -> ArgumentError:
    """What this package refuses before the library sees it."""
    return ArgumentError(Status.INVALID_ARGUMENT, "status.invalidArgument", message, message.rpartition("; ")[2])


def new_error() -> Any:
    return ffi.new("dv_error *")


def check(status: int, error: Any = None) -> None:
    """Raises what a status says; `error` is the dv_error of the call."""
    if status == 0:
        return
    try:
        known = Status(status)
    except ValueError:
        raise InternalError(Status.INTERNAL, f"status.{status}", f"the library returned {status}") from None
    message = string(error.message) if error is not None else ""
    message = message or string(lib.dv_status_text(status))
    code = string(error.code) if error is not None else ""
    first, *others = known.name.lower().split("_")
    code = code or "status." + first + "".join(part.capitalize() for part in others)
    remedy = (string(error.remedy) if error is not None else "") or message.rpartition("; ")[2]
    retryable = bool(error.is_retryable) if error is not None else False
    failure: type[DuplexVoiceError] = OF_STATUS.get(known, InternalError)
    raise failure(known, code, message, remedy, retryable)


def sized(name: str) -> Any:
    """A structure of zeroes that says how long it is."""
    structure = ffi.new(f"{name} *")
    structure.size = ffi.sizeof(name)
    return structure
