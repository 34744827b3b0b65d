internal import VoiceRealtime
public import VoiceTurns

/// How far an utterance of a talker in the room was heard at a loudspeaker.
public struct HeardUtterance: Equatable, Sendable {
    /// The number that its talker has given it.
    public var utterance: UtteranceID
    /// How much of it had left the DAC, from its beginning; what was lost or skipped on the way counts as what lies behind it does.
    public var heard: Duration
    /// By how much that may be wrong, either way.
    public var bound: Duration

    /// How far an utterance was heard.
    public init(utterance: UtteranceID, heard: Duration, bound: Duration) {
        self.utterance = utterance
        self.heard = heard
        self.bound = bound
    }

    init(_ progress: UtteranceProgress) {
        utterance = UtteranceID(rawValue: progress.utterance)
        heard = Duration(frames: progress.frames)
        bound = Duration(frames: progress.boundFrames)
    }
}

/// What the media thread tells of an utterance.
package struct HeardNews: BitwiseCopyable, Sendable {
    /// The talker.
    var synchronizationSource: UInt32
    var participant: UInt32
    var progress: UtteranceProgress
    /// At the DAC.
    var time: MonotonicTime
}

/// When what was heard of a talker's utterances is to be told: at the beginning of one, every quarter of a second while it goes on, when another follows, and
/// when it was cut and the last of it has left the DAC.
struct HeardNewsSchedule: BitwiseCopyable {
    private static let interval: Int64 = 250_000_000

    private var last: (utterance: UInt32, frames: Int, time: MonotonicTime)?
    private var isCut = false

    /// Its talker was interrupted.
    mutating func cut() { isCut = last != nil }

    /// What is to be told now.
    mutating func next(of ledger: borrowing UtteranceLedger, now: MonotonicTime) -> UtteranceProgress? {
        guard ledger.isActive, let latest = ledger.progress(at: now.nanoseconds) else { return nil }
        guard let last, last.utterance == latest.utterance else {
            let former = self.last.flatMap { ledger.progress(at: now.nanoseconds, of: $0.utterance) }
            self.last = (latest.utterance, -1, now.advanced(byFrames: -48_000, sampleRate: 48_000))
            isCut = false
            return former
        }
        let isOver = isCut && ledger.isSettled(at: now.nanoseconds)
        let isDue = now.nanoseconds - last.time.nanoseconds >= Self.interval && latest.frames != last.frames
        guard isOver || isDue else { return nil }
        if isOver { isCut = false }
        self.last = (latest.utterance, latest.frames, now)
        return latest
    }
}
