import Synchronization
import VoiceEngine
import VoicePartner

/// Tells what happens in a talk: NDJSON for scripts, or lines for people, with warnings on stderr.
final class TalkLog: Sendable {
    private struct State {
        var summary = TalkSummary()
        /// The caption of the present answer, for people.
        var caption = ""
    }

    private let json: Bool
    private let clock = RunClock()
    private let state = Mutex(State())

    init(json: Bool) { self.json = json }

    func warn(_ text: String) {
        if json { tell(TalkEvent(type: "warning", detail: text)) } else { Console.complain("warning: \(text)") }
    }

    /// What the engine tells.
    func show(_ event: EngineEvent) {
        switch event {
        case .degraded(let degradation): warn(degradation.text)
        case .deviceLost(let loss): warn(loss.text)
        default: break
        }
    }

    /// What the engine tells that is in a room.
    func showRoom(_ event: EngineEvent) {
        switch event {
        case .joined(let room, _): tellRoom("joined", "in room '\(room)'")
        case .participantJoined(let participant): show(participant)
        case .participantLeft: tellRoom("participant_left", "somebody went out")
        case .connectionLost: warn("the room's server does not answer")
        case .reconnected: tellRoom("reconnected", "the room's server is back")
        default: show(event)
        }
    }

    /// Who is in the room.
    func show(_ participant: Participant) { tellRoom("participant_joined", "\(participant.identity) is in the room") }

    private func tellRoom(_ type: String, _ detail: String) {
        if json { tell(TalkEvent(type: type, detail: detail)) } else { say(detail) }
    }

    func show(_ event: PartnerEvent) {
        state.withLock { $0.summary.count(event) }
        if json { return tell(TalkEvent(event)) }
        switch event {
        case .ready: Console.progress("listening")
        case .recognised(_, let text, isFinal: true):
            say("you: \(text.isEmpty ? "(nothing that was understood)" : text)")
        case .caption(_, let words):
            let caption = state.withLock { state in
                state.caption += state.caption.isEmpty ? words : " " + words
                return state.caption
            }
            // As much as fits a line; the whole of it follows.
            Console.progress("… \(caption.suffix(72))")
        case .answered(_, let text):
            state.withLock { $0.caption = "" }
            say("partner: \(text.heard)\(text.isCut ? " –" : "")")
        case .failed(_, let error): Console.complain("warning: \(error.explanation)")
        case .recognised, .turn: break
        }
    }

    func end(_ ending: RunEnding) {
        var summary = state.withLock { $0.summary }
        summary.ending = ending.text
        summary.timeS = clock.seconds
        if json { return Console.emit(summary) }
        // What went wrong is told as the error that it is.
        guard case .failed = ending else { return say("\(ending.text): \(summary.text)") }
        if summary.turns > 0 { say("failed: \(summary.text)") }
    }

    private func say(_ text: String) {
        Console.endProgress()
        Console.say(text)
    }

    private func tell(_ event: TalkEvent) {
        var event = event
        event.timeS = clock.seconds
        Console.emit(event)
    }
}

/// What a talk came to.
struct TalkSummary: JSONLine {
    let schema = "duplexvoice.talk/1"
    let type = "summary"
    var timeS = 0.0
    var ending = ""
    /// Turns of the near talker that ended.
    var turns = 0
    /// Answers that were heard to their end, and that were cut.
    var answersComplete = 0
    var answersCut = 0
    var failures = 0

    mutating func count(_ event: PartnerEvent) {
        switch event {
        case .turn(.turnEnded): turns += 1
        case .answered(_, let text): if text.isCut { answersCut += 1 } else { answersComplete += 1 }
        case .failed: failures += 1
        default: break
        }
    }

    var text: String {
        "\(turns.counted("turn")), \(answersComplete.counted("answer")) heard whole, \(answersCut) cut, \(failures.counted("failure"))"
    }
}
