"""What goes wrong: one class for what the caller can do about it, in each a name that stays the same."""

from __future__ import annotations

from .enumerations import Status


class DuplexVoiceError(Exception):
    """A call that failed, and changed nothing.

    `code` stays the same from version to version: `device.notFound` and its like, which docs/errors.md lists, or
    `status.` and a status's name where the library has no more to say. `remedy` is what to do, and `is_retryable`
    whether the same call may succeed later with nothing changed.
    """

    def __init__(self, status: Status, code: str, message: str, remedy: str = "", is_retryable: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.remedy = remedy
        self.is_retryable = is_retryable


class ClosedError(DuplexVoiceError):
    """The object is closed. Make another one."""


class BusyError(DuplexVoiceError):
    """Another thread is in a call of the same side of the object. Call from one thread, or again."""


class ArgumentError(DuplexVoiceError, ValueError):
    """An argument is out of its range, or does not go with the others. Correct the call."""


class UnsupportedError(DuplexVoiceError):
    """This library cannot do what is asked. Ask for less, or take a newer one."""


class WrongStateError(DuplexVoiceError):
    """Not started, not in a room, somebody else's turn. Make the calls in their order."""


class NotPermittedError(DuplexVoiceError):
    """A right is missing, of the process or of the token."""


class DeviceError(DuplexVoiceError):
    """A sound card or a sound file."""


class NetworkError(DuplexVoiceError):
    """The way to the room's server."""


class RoomError(DuplexVoiceError):
    """The room refused, or has ended the stay."""


class ExhaustedError(DuplexVoiceError):
    """There are as many objects as there may be, or the machine has no threads, memory or time to spare."""


class InternalError(DuplexVoiceError):
    """A library below refused. This is worth a report."""


OF_STATUS: dict[Status, type[DuplexVoiceError]] = {
    Status.INVALID_HANDLE: ClosedError,
    Status.BUSY: BusyError,
    Status.INVALID_ARGUMENT: ArgumentError,
    Status.INVALID_SIZE: InternalError,
    Status.UNSUPPORTED: UnsupportedError,
    Status.TOO_MANY: ExhaustedError,
    Status.OUT_OF_MEMORY: ExhaustedError,
    Status.INTERNAL: InternalError,
    Status.WRONG_STATE: WrongStateError,
    Status.NOT_PERMITTED: NotPermittedError,
    Status.DEVICE_FAILED: DeviceError,
    Status.NETWORK_FAILED: NetworkError,
    Status.ROOM_REFUSED: RoomError,
    Status.EXHAUSTED: ExhaustedError,
}
