/// How the near talker's turns begin and end.
public enum TalkMode: Equatable, Sendable {
    /// From `Conversation.startSpeech()` to `Conversation.stopSpeech()`, as with a button that is held. Nothing is sent
    /// in between.
    case pushToTalk(PushToTalk = PushToTalk())
    /// From `Conversation.startSpeech()` until the talker falls silent, or to `Conversation.stopSpeech()`. Nothing is
    /// sent in between.
    case tapToTalk(TapToTalk = TapToTalk())
    /// From the beginning of speech until the talker falls silent; the microphone is always open and may interrupt an
    /// answer.
    case duplex(Duplex = Duplex())

    /// Sound from before a turn that is sent too; nil where the microphone is always open.
    var preRoll: Duration? {
        switch self {
        case .pushToTalk(let mode): mode.preRoll
        case .tapToTalk(let mode): mode.preRoll
        case .duplex: nil
        }
    }

    /// What of it is out of range; nil where nothing is.
    public var fault: TalkModeFault? {
        switch self {
        case .pushToTalk(let mode):
            TalkModeFault.of(mode.preRoll, "preRoll", in: .zero...GateTiming.longestPreRoll)
                ?? .of(mode.releaseDelay, "releaseDelay", in: .zero ... .seconds(2))
        case .tapToTalk(let mode):
            TalkModeFault.of(mode.preRoll, "preRoll", in: .zero...GateTiming.longestPreRoll)
                ?? .of(mode.endOfTurn, "endOfTurn", in: .zero ... .seconds(10))
                ?? .of(mode.patience, "patience", in: .milliseconds(500) ... .seconds(60))
        case .duplex(let mode):
            TalkModeFault.of(mode.endOfTurn, "endOfTurn", in: .zero ... .seconds(10)) ?? mode.bargeIn.fault
        }
    }
}

/// A button that is held while somebody talks.
public struct PushToTalk: Equatable, Sendable {
    /// Sound from before the button that is sent too, so that the first word is whole: 0 to 500 ms.
    public var preRoll: Duration
    /// How long the microphone stays open after the button, so that the last word is whole: 0 to 2 s.
    public var releaseDelay: Duration

    /// 300 ms and 250 ms unless given otherwise: people press and let go while they speak.
    public init(preRoll: Duration = .milliseconds(300), releaseDelay: Duration = .milliseconds(250)) {
        self.preRoll = preRoll
        self.releaseDelay = releaseDelay
    }
}

/// A button that is tapped before somebody talks.
public struct TapToTalk: Equatable, Sendable {
    /// Sound from before the tap that is sent too: 0 to 500 ms.
    public var preRoll: Duration
    /// Silence that ends the turn, from the last speech on: 0 to 10 s.
    public var endOfTurn: Duration
    /// How long the talker may take to begin before the turn is dropped: 0.5 to 60 s.
    public var patience: Duration

    /// 300 ms, 700 ms and 8 s unless given otherwise.
    public init(
        preRoll: Duration = .milliseconds(300), endOfTurn: Duration = .milliseconds(700),
        patience: Duration = .seconds(8)
    ) {
        self.preRoll = preRoll
        self.endOfTurn = endOfTurn
        self.patience = patience
    }
}

/// An open microphone.
public struct Duplex: Equatable, Sendable {
    /// Silence that ends the turn, from the last speech on: 0 to 10 s.
    public var endOfTurn: Duration
    /// What speech does to an answer that is under way.
    public var bargeIn: BargeInPolicy

    /// 700 ms and in stages unless given otherwise.
    public init(endOfTurn: Duration = .milliseconds(700), bargeIn: BargeInPolicy = .staged()) {
        self.endOfTurn = endOfTurn
        self.bargeIn = bargeIn
    }
}

/// Bounds of the gate that opens the microphone.
package enum GateTiming {
    /// What is kept of the sound before it opens.
    package static let longestPreRoll = Duration.milliseconds(500)
}

/// A number of a talk mode that is out of its range.
public struct TalkModeFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// Which, by its name.
    public let name: String
    /// What it is, and what it may be.
    public let description: String

    static func of(_ value: Duration, _ name: String, in range: ClosedRange<Duration>) -> TalkModeFault? {
        guard !range.contains(value) else { return nil }
        return TalkModeFault(
            name: name, description: "\(name) is \(value); use \(range.lowerBound) to \(range.upperBound)")
    }
}
