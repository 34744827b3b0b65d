/// One published audio stream: unique in its server, never reused, kept across a rejoin.
public struct StreamID: Hashable, Comparable, Sendable, BitwiseCopyable, CustomStringConvertible {
    /// The number on the wire; 0 means no stream.
    public let rawValue: UInt32

    /// Wraps a number from the wire.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Orders streams by their assignment.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// As `stream 7`.
    public var description: String { "stream \(rawValue)" }
}

/// A stream that the server has set aside for a participant, with the SSRC that its RTP packets must carry.
package struct StreamAssignment: Hashable, Sendable, BitwiseCopyable {
    /// The stream.
    package let stream: StreamID
    /// The synchronization source of its RTP packets (RFC 3550 section 3), unique in the room.
    package let synchronizationSource: UInt32

    /// Pairs a stream with its SSRC.
    package init(stream: StreamID, synchronizationSource: UInt32) {
        self.stream = stream
        self.synchronizationSource = synchronizationSource
    }
}

/// Who has muted a stream.
package struct MuteState: OptionSet, Hashable, Sendable, BitwiseCopyable {
    /// The bits on the wire.
    package let rawValue: UInt8

    /// Wraps bits from the wire.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Its publisher: a courtesy to the others, the packets are still forwarded.
    package static let byPublisher = MuteState(rawValue: 1)
    /// The server: packets are not forwarded.
    package static let byServer = MuteState(rawValue: 2)
}

/// Who may interrupt a stream, as its publisher says.
public enum InterruptionPolicy: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// Its publisher alone: as people in a room want it.
    case publisher = 0
    /// Everybody who hears it, also with a token that only listens: as a speaking agent wants it.
    case anyone = 1
}

/// A stream that can be heard in a room.
package struct PublishedStream: Hashable, Sendable {
    /// The stream and its SSRC.
    package let assignment: StreamAssignment
    /// Who has muted it.
    package var mute: MuteState
    /// How often it has been interrupted: what is heard now is of this generation. Never falls (RFC 1982 order).
    package var generation: UInt32
    /// Who may interrupt it.
    package var interruptibleBy: InterruptionPolicy
    /// What its publisher calls it: unique in the room, or empty.
    package var name: String

    /// Describes a published stream.
    package init(
        _ assignment: StreamAssignment, mute: MuteState = [], generation: UInt32 = 0,
        interruptibleBy: InterruptionPolicy = .publisher, name: String = ""
    ) {
        self.name = name
        self.assignment = assignment
        self.mute = mute
        self.generation = generation
        self.interruptibleBy = interruptibleBy
    }
}

/// The first packet of a stream's generation, as its talker tells it.
package struct GenerationStart: Hashable, Sendable, BitwiseCopyable {
    /// The stream.
    package let stream: StreamID
    /// The generation, as the room numbers them.
    package let generation: UInt32
    /// The RTP timestamp of its first packet (RFC 3550 section 5.1).
    package let timestamp: UInt32

    /// Describes the beginning of a generation.
    package init(stream: StreamID, generation: UInt32, timestamp: UInt32) {
        self.stream = stream
        self.generation = generation
        self.timestamp = timestamp
    }
}
