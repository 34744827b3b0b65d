"""DuplexVoice: a real-time duplex voice engine.

`Engine` is a microphone's way into a room and back, with echo cancelled; or a conversation with an agent in this
process. `Processor` is the echo canceller, noise suppressor and gain control by themselves, and `clean` that for whole
recordings; `Playout` is the jitter buffer; `Graph` runs stages that a JSON description connects. What fails is a
`DuplexVoiceError`, with a `code` that stays the same and a `remedy`.
"""

from ._library import version as __version__
from .conversation import AnswerLatency, Conversation
from .engine import Engine, Listener, Meter
from .enumerations import (
    Backend,
    BargeIn,
    Connection,
    Echo,
    End,
    EnginePreset,
    EventKind,
    Gain,
    InterruptibleBy,
    MemoryLock,
    Noise,
    NoiseMethod,
    Play,
    PlayoutProfile,
    Preset,
    Role,
    Route,
    Sound,
    SoundPoint,
    Status,
    TalkMode,
    Turn,
    VoiceDetection,
)
from .errors import (
    ArgumentError,
    BusyError,
    ClosedError,
    DeviceError,
    DuplexVoiceError,
    ExhaustedError,
    InternalError,
    NetworkError,
    NotPermittedError,
    RoomError,
    UnsupportedError,
    WrongStateError,
)
from .events import Event
from .far_end import FarEnd
from .graph import Graph, GraphEvent, GraphNodeType, GraphPort
from .playout import Playout, PlayoutStatistics
from .processor import Processor, Report, Settings, clean
from .statistics import Levels, Participant, Snapshot, Statistics, TalkerStatistics
from .tokens import Grants, check_token, create_token

__all__ = [
    "ArgumentError",
    "Backend",
    "BargeIn",
    "BusyError",
    "ClosedError",
    "Connection",
    "AnswerLatency",
    "Conversation",
    "DeviceError",
    "DuplexVoiceError",
    "Echo",
    "End",
    "Engine",
    "EnginePreset",
    "Event",
    "EventKind",
    "ExhaustedError",
    "FarEnd",
    "Gain",
    "Grants",
    "Graph",
    "GraphEvent",
    "GraphNodeType",
    "GraphPort",
    "InternalError",
    "InterruptibleBy",
    "Levels",
    "Listener",
    "MemoryLock",
    "Meter",
    "NetworkError",
    "Noise",
    "NoiseMethod",
    "NotPermittedError",
    "Participant",
    "Play",
    "Playout",
    "PlayoutProfile",
    "PlayoutStatistics",
    "Preset",
    "Processor",
    "Report",
    "RoomError",
    "Role",
    "Route",
    "Settings",
    "Snapshot",
    "Sound",
    "SoundPoint",
    "Statistics",
    "Status",
    "TalkMode",
    "TalkerStatistics",
    "Turn",
    "UnsupportedError",
    "VoiceDetection",
    "WrongStateError",
    "__version__",
    "check_token",
    "clean",
    "create_token",
]
