internal import VoiceRealtime
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
    private var watch = BargeInWatch()
    private var farEnd: UInt64 = 0

    /// Begins to watch, or ends; what is held or ducked is heard again, but for what was interrupted.
    mutating func follow(_ order: AnswerWatchOrder, farEnds: inout FarEndTable) {
        if let undoing = watch.follow(order.policy, isAnother: farEnd != order.farEnd) {
            farEnds.change(farEnd, undoing)
        }
        farEnd = order.farEnd
    }

    /// Takes what is known of a block of the microphone.
    mutating func take(_ block: NearEndBlock, farEnds: inout FarEndTable) {
        watch.pass(block.duration, isSounding: farEnds.isSounding(farEnd))
        if let change = watch.take(block) { carryOut(change, &farEnds) }
    }

    /// A recogniser has heard words.
    mutating func confirm(now: MonotonicTime, farEnds: inout FarEndTable) {
        if let change = watch.confirm(now: now) { carryOut(change, &farEnds) }
    }

    private func carryOut(_ change: BargeInChange, _ farEnds: inout FarEndTable) {
        farEnds.change(farEnd, watch.delivery(of: change.stage))
        farEnds.tell(change, of: farEnd)
    }
}
