import VoiceEngine
import VoicePartner

/// A talk in which the microphone is open only while the talker wants it: the space bar begins a turn and ends it, c
/// cancels, q leaves.
///
/// Terminals tell of no key that is let go, hence the second press. The keys are asked for once all runs, so that what
/// fails before leaves the terminal as it is.
func pushToTalk(
    with partner: any Partner, on engine: VoiceEngine, keys: @autoclosure @Sendable () -> AsyncStream<Character>,
    show: @escaping @Sendable (String) -> Void
) async throws {
    try await partner.prepare()
    try await engine.start()
    let conversation = try await engine.converse(.pushToTalk())
    let talk = Task {
        try await partner.converse(in: conversation) { event in
            if let line = line(event) { show(line) }
        }
    }
    for await key in keys().prefix(while: { $0 != "q" }) {
        do throws(TurnRefusal) {
            switch key {
            case " " where conversation.state == .listening: try conversation.stopSpeech()
            // An answer that is under way ends.
            case " ": try conversation.startSpeech()
            case "c": try conversation.cancel()
            default: break
            }
        } catch {
            show("not now: \(error)")
        }
    }
    await engine.stop()
    try await talk.value
}

/// What is shown of an event; nil for nothing.
private func line(_ event: PartnerEvent) -> String? {
    switch event {
    case .ready: "space to speak, space when done; c cancels, q leaves"
    case .turn(.stateChanged(.listening, _)): "● on air"
    case .turn(.stateChanged(.thinking, _)): "○ off air"
    case .turn(.turnDropped(_, let reason)): reason == .nothingSaid ? "○ nothing was said" : "○ cancelled"
    case .recognised(_, let text, isFinal: true): "you: \(text)"
    case .answered(_, let text): "partner: \(text.heard)\(text.isCut ? " –" : "")"
    case .failed(_, let error): "\(error.code): \(error.explanation)"
    default: nil
    }
}
