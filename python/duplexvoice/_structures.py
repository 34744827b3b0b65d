"""Structures of the library's as values of Python's, by the names of their fields."""

from __future__ import annotations

import dataclasses
import functools
import math
import typing
from enum import IntEnum
from typing import Any, TypeVar

from ._library import argument, ffi, string

Value = TypeVar("Value")


@functools.cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def read(kind: type[Value], structure: Any) -> Value:
    """What is not known, a NaN or -1 there, is None here."""
    values = {}
    hints = _hints(typing.cast(typing.Hashable, kind))
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        value = getattr(structure, field.name)
        hint = hints[field.name]
        if isinstance(value, ffi.CData):
            value = string(value)
        elif isinstance(value, float):
            value = None if math.isnan(value) else value
        elif hint == bool | None:
            value = None if value < 0 else bool(value)
        elif hint == int | None:
            value = None if value < 0 else value
        elif hint is bool:
            value = bool(value)
        elif isinstance(hint, type) and issubclass(hint, IntEnum):
            value = hint(value)
        values[field.name] = value
    return kind(**values)


def write(value: Any, structure: Any) -> None:
    """Fills a structure's fields with the value's."""
    for field in dataclasses.fields(value):
        number = getattr(value, field.name)
        try:
            setattr(structure, field.name, int(number) if isinstance(number, (bool, IntEnum)) else number)
        except OverflowError as problem:
            name = f"{type(value).__name__}.{field.name}"
            raise argument(f"{name} is out of its range: {problem}; take a smaller number") from None
        except TypeError as problem:
            raise TypeError(f"{type(value).__name__}.{field.name} is {number!r}: {problem}") from None
