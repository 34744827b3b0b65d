"""The numbers of duplexvoice.h, which says more of each; a test compares the two."""

from enum import IntEnum


class Status(IntEnum):
    """What became of a call: 0, or what the caller can do about it."""

    OK = 0
    INVALID_HANDLE = -1
    BUSY = -2
    INVALID_ARGUMENT = -3
    INVALID_SIZE = -4
    UNSUPPORTED = -5
    TOO_MANY = -6
    OUT_OF_MEMORY = -7
    INTERNAL = -8
    WRONG_STATE = -9
    NOT_PERMITTED = -10
    DEVICE_FAILED = -11
    NETWORK_FAILED = -12
    ROOM_REFUSED = -13
    EXHAUSTED = -14


class Backend(IntEnum):
    """Who cancels the echo."""

    NATIVE = 0
    WEBRTC = 1
    SPEEXDSP = 2
    BYPASS = 3


class Echo(IntEnum):
    """How hard what the echo canceller's filter leaves is suppressed."""

    OFF = 0
    SOFT = 1
    MEDIUM = 2
    AGGRESSIVE = 3
    AUTO = 4


class Noise(IntEnum):
    """How much of a noise is taken away at most: 10, 18, 24 and 30 dB."""

    OFF = 0
    LOW = 1
    MODERATE = 2
    HIGH = 3
    VERY_HIGH = 4


class NoiseMethod(IntEnum):
    """Who takes the noise away: a suppressor of steady noise, or RNNoise where it is installed."""

    SPECTRAL = 0
    NEURAL = 1


class Gain(IntEnum):
    """How the gain is found."""

    OFF = 0
    FIXED = 1
    ADAPTIVE = 2


class VoiceDetection(IntEnum):
    """How readily speech is told to have begun."""

    OFF = 0
    VERY_LOW = 1
    LOW = 2
    MODERATE = 3
    HIGH = 4


class Preset(IntEnum):
    """Settings of a processor that belong together."""

    BYPASS = 0
    VOICE_AGENT = 1
    VOICE_CHAT = 2
    HEADSET = 3


class PlayoutProfile(IntEnum):
    """What a jitter buffer's delay is weighed against."""

    CONVERSATION = 0
    LOW_DELAY = 1
    ROBUST = 2


class EnginePreset(IntEnum):
    """What an engine is for."""

    VOICE_CHAT = 0
    VOICE_AGENT = 1
    HEADSET = 2
    LOW_DELAY = 3
    SPEAKERPHONE = 4
    MUSIC_LESSON = 5
    NARROW_BAND = 6
    CAR = 7


class Sound(IntEnum):
    """Where an engine's sound comes from and goes to: sound cards, or the program."""

    CARDS = 0
    CLIENT = 1


class MemoryLock(IntEnum):
    """What of the process's memory is locked against page faults."""

    RINGS = 0
    PROCESS = 1


class Route(IntEnum):
    """What kind of loudspeaker is in use."""

    AUTOMATIC = 0
    HEADSET = 1
    SPEAKER = 2


class BargeIn(IntEnum):
    """What speech at the microphone does to what a participant says."""

    OFF = 0
    STAGES = 1
    IMMEDIATE = 2


class SoundPoint(IntEnum):
    """Where a listener hears the sound on its way through an engine."""

    CAPTURED = 1
    PROCESSED = 2
    SENT = 3
    MIX = 4
    PARTICIPANT = 5


class EventKind(IntEnum):
    """What happened; duplexvoice.h says which fields of an event say more of it."""

    NONE = 0
    DROPPED = 1
    JOINED = 2
    LEFT = 3
    CONNECTION_LOST = 4
    RECONNECTED = 5
    PARTICIPANT_JOINED = 6
    PARTICIPANT_LEFT = 7
    PARTICIPANT_MUTED = 8
    PARTICIPANT_REACHABLE = 9
    STREAM_STALLED = 10
    LINK_POOR = 11
    MESSAGE = 12
    INTERRUPTED = 13
    GENERATION_STARTED = 14
    REQUEST_FAILED = 15
    SPEECH = 16
    ECHO_READINESS = 17
    REFERENCE = 18
    DEVICE = 19
    DEVICE_LOST = 20
    ROUTE_CHANGED = 21
    DEGRADED = 22
    PLAYOUT_MARGIN = 23
    UTTERANCE_STARTED = 24
    UTTERANCE_PLAYED = 25
    FAR_END_CLOSED = 26
    TEXT = 27
    TURN_STATE = 28
    TURN_SPEECH = 29
    TURN_ENDED = 30
    TURN_DROPPED = 31
    ANSWER_CANCELLED = 32
    BARGE_IN = 33
    ANSWER_STARTED = 34
    ANSWER_ENDED = 35
    UTTERANCE_HEARD = 36
    HEARD = 37
    TOKEN_EXPIRING = 38
    ROLE = 39
    ATTRIBUTES = 40
    STREAM_STATE = 41
    MESSAGES_DROPPED = 42
    CAPTION = 43


class InterruptibleBy(IntEnum):
    """Who may interrupt what an engine says in a room."""

    ITSELF = 0
    ANYONE = 1


class Connection(IntEnum):
    """How an engine stands with its room."""

    OUTSIDE = 0
    CONNECTING = 1
    CONNECTED = 2
    RECONNECTING = 3
    ENDED = 4


class TalkMode(IntEnum):
    """How the near talker's turns begin and end: with speech, a button that is held, or one that is tapped."""

    DUPLEX = 0
    PUSH = 1
    TAP = 2


class Turn(IntEnum):
    """Whose turn it is."""

    NOBODY = 0
    LISTENING = 1
    THINKING = 2
    RESPONDING = 3


class End(IntEnum):
    """Why an answer, or a turn, is over."""

    COMPLETE = 0
    INTERRUPTED = 1
    CONTINUED = 2
    CANCELLED = 3
    NOTHING_SAID = 4


class Play(IntEnum):
    """How a stream stands that is played by its name."""

    REQUESTING = 0
    PLAYING = 1
    WAITING = 2
    STOPPED = 3


class Role(IntEnum):
    """What a participant is in a room."""

    TALKER = 0
    LISTENER = 1
