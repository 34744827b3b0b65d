internal import VoiceRealtime
internal import VoiceRooms
public import VoiceTurns

/// How far an utterance of a talker in the room was heard at a loudspeaker.
public struct HeardUtterance: Equatable, Sendable {
    /// The number that its talker has given it.
    public var utterance: UtteranceID
    /// How much of it had left the DAC, from its beginning; what was lost or skipped on the way counts as what lies
    /// behind it does.
    public var heard: Duration
    /// By how much that may be wrong, either way.
    public var bound: Duration

    /// Whether nothing more of it will be heard: it was interrupted, or another has followed. What ends in silence has
    /// no such end.
    public var isFinal: Bool

    /// How far an utterance was heard.
    package init(utterance: UtteranceID, heard: Duration, bound: Duration, isFinal: Bool = false) {
        self.utterance = utterance
        self.heard = heard
        self.bound = bound
        self.isFinal = isFinal
    }

    init(_ news: HeardNews) {
        utterance = UtteranceID(rawValue: news.progress.utterance)
        heard = Duration(frames: news.progress.frames)
        bound = Duration(frames: news.progress.boundFrames)
        isFinal = news.isFinal
    }

    init(_ report: HeardReport) {
        utterance = UtteranceID(rawValue: report.utterance)
        heard = .milliseconds(report.milliseconds)
        bound = .milliseconds(report.boundMilliseconds)
        isFinal = report.isFinal
    }
}

extension HeardReport {
    /// In whole milliseconds; the bound has what is rounded off.
    init(_ heard: HeardUtterance, on stream: StreamID) {
        self.init(
            stream: stream, utterance: heard.utterance.rawValue,
            milliseconds: UInt32(clamping: heard.heard.nanoseconds / 1_000_000),
            boundMilliseconds: UInt16(clamping: heard.bound.nanoseconds / 1_000_000 + 2), isFinal: heard.isFinal)
    }
}

/// What the media thread tells of an utterance.
package struct HeardNews: BitwiseCopyable, Sendable {
    /// The talker.
    var synchronizationSource: UInt32
    var participant: UInt32
    var progress: UtteranceProgress
    var isFinal: Bool
    /// At the DAC.
    var time: MonotonicTime
}

/// When what was heard of a talker's utterances is to be told: at the beginning of one, every quarter of a second while
/// it goes on, when another follows, and when it was cut and the last of it has left the DAC. However often the talker
/// names another, that is forty times a second at most.
struct HeardNewsSchedule: BitwiseCopyable {
    private static let interval: Int64 = 250_000_000
    private static let shortestInterval: Int64 = 50_000_000

    private var last: (utterance: UInt32, frames: Int)?
    private var toldAt = Int64.min / 2
    private var isCut = false
    /// Whether the end of the last was told.
    private var isDone = false

    /// Its talker was interrupted.
    mutating func cut() { isCut = last != nil && !isDone }

    /// What is to be told now.
    mutating func next(of ledger: borrowing UtteranceLedger, now: MonotonicTime)
        -> (progress: UtteranceProgress, isFinal: Bool)?
    {
        let passed = now.nanoseconds - toldAt
        guard ledger.isActive, isCut || passed >= Self.shortestInterval,
            let latest = ledger.progress(at: now.nanoseconds)
        else { return nil }
        if let last, last.utterance != latest.utterance {
            let former = isDone ? nil : ledger.progress(at: now.nanoseconds, of: last.utterance)
            (self.last, isCut, isDone) = (nil, false, false)
            if let former { return (former, true) }
        }
        let isOver = isCut && ledger.isSettled(at: now.nanoseconds)
        let isDue = last.map { passed >= Self.interval && $0.frames != latest.frames } ?? true
        guard isOver || isDue else { return nil }
        (last, toldAt) = ((latest.utterance, latest.frames), now.nanoseconds)
        (isCut, isDone) = (isCut && !isOver, isOver)
        return (latest, isOver)
    }
}
