"""The jitter buffer by itself, with its Opus decoder."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import _sound
from ._handle import Handle
from ._library import check, ffi, lib, new_error, octets, sized
from ._structures import read
from .enumerations import PlayoutProfile
from .far_end import whole

_LAST_TIME = (1 << 60) - 1


@dataclass(frozen=True)
class PlayoutStatistics:
    """What is counted since it was made, or reset. Frames are of 48 kHz; duplexvoice.h says more of each."""

    waiting_packets: int
    packets_received: int
    packets_lost: int
    packets_discarded: int
    packets_late: int
    packets_malformed: int
    packets_duplicated: int
    packets_unknown: int
    packets_dropped: int
    redundancy_received: int
    redundancy_discarded: int
    pulled_frames: int
    played_frames: int
    concealed_frames: int
    concealments: int
    pause_frames: int
    inserted_frames: int
    removed_frames: int
    skipped_frames: int
    stream_restarts: int
    held_s: float
    target_delay_ms: float
    waiting_ms: float

    @property
    def delay_ms(self) -> float | None:
        """How long a frame was held on average; None where none was played."""
        return self.held_s * 1_000 / self.played_frames if self.played_frames else None


class Playout(Handle):
    """One talker's packets go in as they come, sound comes out as it is played: mono, at 48 kHz.

    `insert` by one thread at a time and `pull` by one, which may be another: neither waits for the other. Times are
    nanoseconds since any beginning, the same for both.
    """

    def __init__(
        self,
        profile: PlayoutProfile = PlayoutProfile.CONVERSATION,
        *,
        minimum_delay_ms: int = 0,
        maximum_delay_ms: int = 0,
        packets: int = 0,
        payload_type: int = 0,
        redundant_payload_type: int = 0,
    ) -> None:
        """Makes one in which so many packets may wait, 0 for 256. Payload type 0: every packet is Opus."""
        config = sized("dv_playout_config")
        config.profile = whole(profile, "profile")
        config.minimum_delay_ms = whole(minimum_delay_ms, "minimum_delay_ms")
        config.maximum_delay_ms = whole(maximum_delay_ms, "maximum_delay_ms")
        config.packets = whole(packets, "packets")
        config.payload_type = whole(payload_type, "payload_type")
        config.redundant_payload_type = whole(redundant_payload_type, "redundant_payload_type")
        handle, error = ffi.new("dv_playout *"), new_error()
        check(lib.dv_playout_create(config, handle, error), error)
        super().__init__(int(handle[0]), lib.dv_playout_destroy)

    def insert(self, packet: bytes, arrival_ns: int) -> None:
        """Brings an RTP packet of Opus, as it came. ExhaustedError: as many wait as may, since nobody pulls."""
        data = octets(packet, "packet")
        check(lib.dv_playout_insert(self._handle, data, len(data), whole(arrival_ns, "arrival_ns", _LAST_TIME)))

    def insert_opus(self, payload: bytes, sequence_number: int, timestamp: int, arrival_ns: int) -> None:
        """The same of an Opus packet without an RTP header; its number and its place in frames of 48 kHz wrap."""
        data = octets(payload, "payload")
        number = whole(sequence_number, "sequence_number", 0xFFFF)
        place = whole(timestamp, "timestamp")
        time = whole(arrival_ns, "arrival_ns", _LAST_TIME)
        check(lib.dv_playout_insert_opus(self._handle, data, len(data), number, place, time))

    def pull(self, frames: int, now_ns: int) -> npt.NDArray[np.float32]:
        """What is to be played next; silence where there is no sound."""
        sound = np.empty(_sound.frame_count(frames), np.float32)
        check(lib.dv_playout_pull(self._handle, _sound.pointer(sound), len(sound), whole(now_ns, "now_ns", _LAST_TIME)))
        return sound

    def reset(self) -> None:
        """Makes it as new, for another talker."""
        check(lib.dv_playout_reset(self._handle))

    @property
    def statistics(self) -> PlayoutStatistics:
        """What is known after the last pull."""
        structure = sized("dv_playout_statistics")
        check(lib.dv_playout_get_statistics(self._handle, structure))
        return read(PlayoutStatistics, structure)
