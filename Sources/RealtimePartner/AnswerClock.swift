internal import VoiceEngine

/// When a server was done with the stages of an answer, by when its events came; on this machine's clock.
///
/// The protocol's events carry no times of their own, so the network's delay is part of each stage.
struct AnswerClock {
    private var firstToken: Duration?
    private var firstSound: Duration?

    /// Text of the answer has come.
    mutating func text(now: Duration) { firstToken = firstToken ?? now }

    /// Sound of the answer has come; true for the first.
    mutating func sound(now: Duration) -> Bool {
        guard firstSound == nil else { return false }
        firstSound = now
        return true
    }

    var hasSound: Bool { firstSound != nil }

    /// The stages since the turn was received; what came before that counts as zero.
    ///
    /// The answer did not wait for what came after the next stage: transcriptions are often made by a second model, and
    /// text may follow its sound.
    func times(received: Duration, recognised: Duration?) -> AgentStageTimes {
        func passed(_ time: Duration) -> Duration { max(.zero, time - received) }
        let sound = firstSound.map(passed)
        let token = firstToken.map(passed).flatMap { $0 <= sound ?? $0 ? $0 : nil }
        let text = recognised.map(passed).flatMap { $0 <= token ?? sound ?? $0 ? $0 : nil }
        return AgentStageTimes(recognised: text, firstToken: token, firstSound: sound)
    }
}
