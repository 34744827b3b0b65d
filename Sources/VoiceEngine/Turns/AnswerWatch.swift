internal import VoiceRealtime
internal import VoiceSignal
internal import VoiceTurns

/// What the control side tells the media thread about interruptions.
package struct AnswerWatchOrder: BitwiseCopyable, Sendable {
    /// Which far end speaks the answers.
    var farEnd: UInt64
    var policy: BargeInPolicy
}

/// Watches the microphone while a far end answers, and ducks, holds or gives up what it says; see `BargeInStages`.
///
///     processed block ─► SpeechEvidence ─► BargeInJudge ─┬─► SpeechDelivery ─► the far end's queue
///                                                        └─► news of the far end
///
/// On the media thread, so that the decision holds from the next block that is pulled. Allocates nothing.
struct AnswerWatch: BitwiseCopyable {
    /// What a room still sounds, and what the devices still hold, of a far end that has fallen silent: after that, speech is no echo of it.
    private static let echoTail = Duration.milliseconds(500)

    private var judge: BargeInJudge?
    private var stages = BargeInStages()
    private var farEnd: UInt64 = 0
    /// How long the far end has been silent.
    private var silence = AnswerWatch.echoTail

    /// Begins to watch, or ends; what is held or ducked is heard again, but for what was interrupted.
    mutating func follow(_ order: AnswerWatchOrder, farEnds: inout FarEndTable) {
        if let judge, judge.stage == .suspected || judge.stage == .held {
            farEnds.change(farEnd, .whole(rewind: rewindFrames))
        }
        judge = BargeInJudge(order.policy)
        stages = order.policy.stages ?? BargeInStages()
        // What it said a moment ago still sounds, whatever was watched.
        if farEnd != order.farEnd { silence = Self.echoTail }
        farEnd = order.farEnd
    }

    /// Takes what is known of a block whose end was at the ADC at `end`; `isReady` says whether the canceller is to be trusted.
    mutating func take(
        probability: Float, isReady: Bool, end: MonotonicTime, frames: Int, farEnds: inout FarEndTable
    ) {
        let duration = Duration(frames: frames)
        silence = farEnds.isSounding(farEnd) ? .zero : silence + duration
        guard judge != nil else { return }
        let evidence = SpeechEvidence(
            probability: probability, isTrusted: isReady || silence >= Self.echoTail, end: end.sinceEpoch,
            duration: duration)
        if let change = judge?.take(evidence) { carryOut(change, &farEnds) }
    }

    /// A recogniser has heard words.
    mutating func confirm(now: MonotonicTime, farEnds: inout FarEndTable) {
        if let change = judge?.confirm(now: now.sinceEpoch) { carryOut(change, &farEnds) }
    }

    private func carryOut(_ change: BargeInChange, _ farEnds: inout FarEndTable) {
        switch change.stage {
        case .none: farEnds.change(farEnd, .whole(rewind: rewindFrames))
        case .suspected: farEnds.change(farEnd, .ducked(amplitude(decibels: -stages.duckDecibels)))
        case .held: farEnds.change(farEnd, .held)
        case .confirmed: farEnds.change(farEnd, .givenUp)
        }
        farEnds.tell(change, of: farEnd)
    }

    private var rewindFrames: Int { stages.rewind.frames }
}
