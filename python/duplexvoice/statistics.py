"""What an engine is doing, and what is counted and measured of it."""

from __future__ import annotations

from dataclasses import dataclass

from .enumerations import Connection


@dataclass(frozen=True)
class Snapshot:
    """What an engine is doing: what its events have told so far, in one value."""

    is_running: bool
    is_muted: bool
    is_speaking: bool
    echo_readiness: int
    """Whether an interruption can be trusted not to be an echo: 2 ready, 1 learning, 0 unknown."""
    connection: Connection
    own_participant: int
    participants: int
    far_ends: int
    room: str
    capture_device: str
    playback_device: str
    end_code: str


@dataclass(frozen=True)
class Participant:
    """Somebody in the room. `identity` and `name` are what others chose: escape them before a terminal sees them."""

    number: int
    is_muted: bool
    is_publishing: bool
    is_reachable: bool
    is_stalled: bool
    is_link_poor: bool
    identity: str
    name: str


@dataclass(frozen=True)
class Statistics:
    """Since the start, 100 ms old at most; None is not known. Frames are of 48 kHz, levels in dBFS."""

    talkers: int
    packets_sent: int
    bytes_sent: int
    packets_send_dropped: int
    packets_receive_dropped: int
    packets_received: int
    bytes_received: int
    capture_gap_frames: int
    capture_overflow_frames: int
    playback_underrun_frames: int
    capture_xruns: int
    playback_xruns: int
    media_runs: int
    media_cpu_ns: int
    media_worst_run_ns: int
    input_level: float | None
    output_level: float | None
    speech_probability: float | None
    noise_level: float | None
    echo_return_loss: float | None
    echo_return_loss_enhancement: float | None
    microphone_to_network_ms: float | None
    jitter_buffer_to_speaker_ms: float | None
    half_round_trip_ms: float | None
    followed_drift_ppm: float | None


@dataclass(frozen=True)
class TalkerStatistics:
    """Of one talker as it is played; None is not known. Frames are of 48 kHz."""

    synchronization_source: int
    packets_received: int
    packets_lost: int
    packets_late: int
    bytes_received: int
    played_frames: int
    concealed_frames: int
    jitter_ms: float | None
    target_delay_ms: float | None
    jitter_buffer_delay_ms: float | None
    level: float | None


@dataclass(frozen=True)
class Levels:
    """How loud both ends were during an interval, in dBFS; None is not known."""

    number: int
    """How many intervals were measured so far; 0: none, and nothing else is known."""
    time_ns: int
    duration_ns: int
    captured_rms: float | None
    captured_peak: float | None
    near_rms: float | None
    near_peak: float | None
    far_rms: float | None
    far_peak: float | None
    near_speaks: bool | None
    far_speaks: bool | None
