internal import VoiceRealtime
internal import VoiceTurns

/// What the control side tells the media thread about interruptions of a participant.
package struct TalkerWatchOrder: BitwiseCopyable, Sendable {
    /// Who may be interrupted; 0 for nobody.
    var participant: UInt32
    var policy: BargeInPolicy
}

/// What the downlink knows of the participant who is watched.
struct WatchedTalker: BitwiseCopyable {
    /// Whether something of it is being heard.
    var isSounding = false
    /// Whether it is in the middle of something.
    var isUnderWay = false
    /// Whether it is interrupted, and it is not known yet which generation is next.
    var isGivenUp = false
}

/// Watches the microphone while a participant of the room talks, as ``AnswerWatch`` does while a far end answers.
///
///     processed block ─► SpeechEvidence ─► BargeInJudge ─┬─► SpeechDelivery ─► the downlink's StreamHold
///                                                        └─► MediaEvent.talkerSpokenInto ─► RoomMedia: interrupt
///
/// The stream is the downlink's, which runs before the uplink: what is decided here is fetched by ``takeDelivery()``
/// and holds from the next block that is pulled.
struct TalkerWatch: BitwiseCopyable {
    private var watch = BargeInWatch()
    private var participant: UInt32 = 0
    private var talker = WatchedTalker()
    private var delivery: SpeechDelivery?

    /// Begins to watch, or ends; what is held or ducked is heard again. ``takeDelivery()`` has what follows for the one
    /// before.
    mutating func follow(_ order: TalkerWatchOrder) {
        let undoing = watch.follow(order.policy, isAnother: participant != order.participant)
        if let undoing { delivery = undoing }
        participant = order.participant
    }

    /// Takes what has become of the talker.
    mutating func take(_ talker: WatchedTalker) { self.talker = talker }

    /// What is to be done to the stream.
    mutating func takeDelivery() -> SpeechDelivery? {
        defer { delivery = nil }
        return delivery
    }

    /// Takes what is known of a block of the microphone.
    mutating func take(_ block: NearEndBlock, events: inout MediaEventOutlet) {
        watch.pass(block.duration, isSounding: talker.isSounding)
        guard watch.isOn, mayJudge() else { return }
        if let change = watch.take(block) { carryOut(change, &events) }
    }

    /// Whether there is something to interrupt. What was interrupted is over when the next generation is in force.
    private mutating func mayJudge() -> Bool {
        switch watch.stage {
        case .suspected, .held: return true
        case .confirmed where talker.isGivenUp || delivery != nil: return false
        case .confirmed: watch.restart()
        case .none: break
        }
        if !talker.isUnderWay { watch.restart() }
        return talker.isUnderWay
    }

    /// A recogniser has heard words.
    mutating func confirm(now: MonotonicTime, events: inout MediaEventOutlet) {
        if let change = watch.confirm(now: now) { carryOut(change, &events) }
    }

    private mutating func carryOut(_ change: BargeInChange, _ events: inout MediaEventOutlet) {
        delivery = watch.delivery(of: change.stage)
        events.tell(.talkerSpokenInto(participant: participant, change))
    }
}

/// What watches the microphone for interruptions.
struct NearEndWatch: BitwiseCopyable {
    var answers = AnswerWatch()
    var talker = TalkerWatch()

    /// Takes what is known of a block of the microphone.
    mutating func take(_ block: NearEndBlock, farEnds: inout FarEndTable, events: inout MediaEventOutlet) {
        answers.take(block, farEnds: &farEnds)
        talker.take(block, events: &events)
    }
}
