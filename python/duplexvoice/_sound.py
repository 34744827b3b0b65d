"""Arrays that the library reads and writes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._library import argument, ffi

Samples = npt.NDArray[np.float32] | npt.NDArray[np.int16]
MOST_FRAMES = 1 << 20


def taken(samples: Any, name: str, channels: int = 1) -> Any:
    """The array as the library reads it: contiguous float32 or int16, of shape (frames,) or (frames, channels)."""
    if not isinstance(samples, np.ndarray):
        raise TypeError(f"{name} is a {type(samples).__name__}; give a numpy array")
    native = samples.dtype.newbyteorder("=")
    if native not in (np.float32, np.int16):
        raise TypeError(f"{name} is of {samples.dtype}; convert it to float32, full scale ±1, or int16")
    if samples.ndim == 1 and channels == 1 or samples.ndim == 2 and samples.shape[1] == channels:
        return np.ascontiguousarray(samples, native)
    wanted = "(frames,)" if channels == 1 else f"(frames, {channels})"
    raise argument(f"{name} is of shape {samples.shape}; give one of shape {wanted}")


def mono(samples: Any, name: str) -> Any:
    """Of float32 alone."""
    array = taken(samples, name)
    if array.dtype != np.float32:
        raise TypeError(f"{name} is of {array.dtype}; convert it to float32, full scale ±1")
    return array.reshape(-1)


def pointer(array: Any) -> Any:
    """The array's memory, kept alive by what is returned."""
    return ffi.from_buffer("float[]" if array.dtype == np.float32 else "int16_t[]", array)


def frame_count(frames: Any) -> int:
    """So many frames as one call may bring."""
    if not isinstance(frames, (int, np.integer)) or isinstance(frames, bool):
        raise TypeError(f"frames is {frames!r}; give a whole number")
    if not 0 <= frames <= MOST_FRAMES:
        raise argument(f"frames is {frames}; take 0 to {MOST_FRAMES}")
    return int(frames)
