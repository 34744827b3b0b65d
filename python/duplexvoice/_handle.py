"""What the classes of the library's objects share: a handle that is given back once."""

from __future__ import annotations

import _thread
import time
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from ._library import check
from .enumerations import Status

Self = TypeVar("Self", bound="Handle")


_GONE = (Status.OK, Status.INVALID_HANDLE)


def _give_up(destroy: Callable[[int], int], handle: int) -> None:
    """Destroys what nothing refers to any more, a little later where that is refused now.

    The collector runs wherever Python allocates, also in functions that the library calls, which it waits for. What
    `destroy` keeps, as those functions, lasts until then.
    """
    if destroy(handle) not in _GONE:
        # Without the locks of `threading`: the collector may have come where they are held.
        _thread.start_new_thread(_destroy_soon, (destroy, handle))


def _destroy_soon(destroy: Callable[[int], int], handle: int) -> None:
    while destroy(handle) not in _GONE:
        time.sleep(0.01)


class Handle:
    """An object of the library's. Closed by `close`, at the end of `with`, or when nothing refers to it any more.

    A call after that is a ClosedError: the library gives no number twice.
    """

    def __init__(self, handle: int, destroy: Callable[[int], int]) -> None:
        self._handle = handle
        self._destroy = destroy
        self._last: Any = weakref.finalize(self, _give_up, destroy, handle)

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return not self._last.alive

    def close(self) -> None:
        """Gives it up; does nothing where it was closed before.

        Waits up to a second for calls in other threads that bring or take sound; BusyError after that.
        """
        if not self._last.alive:
            return
        deadline = time.monotonic() + 1
        status = self._destroy(self._handle)
        while status == Status.BUSY and time.monotonic() < deadline:
            time.sleep(0.001)
            status = self._destroy(self._handle)
        # Closed meanwhile by another thread, or with the object that it is of: what was wanted.
        if status != Status.INVALID_HANDLE:
            check(status)
        self._last.detach()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
