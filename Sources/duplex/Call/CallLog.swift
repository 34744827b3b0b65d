import RealtimePartner
import Synchronization
import VoiceEngine

/// Tells what happens in a call: NDJSON for scripts, or lines for people, with warnings on stderr.
final class CallLog: Sendable {
    private let json: Bool
    private let clock = RunClock()
    /// What the participants are called.
    private let names = Mutex(ParticipantNames())
    /// What talkers say, as far as it was heard here.
    private let captions = Mutex(CaptionFollower())
    /// How long agents are waited for.
    private let answers = Mutex(RoomAnswerWatch())
    /// Who this call is in its room.
    private let own = Mutex<ParticipantID?>(nil)

    init(json: Bool) { self.json = json }

    /// The device runs.
    func start(_ formats: DeviceFormats) {
        let started = CallStarted(formats, timeS: clock.seconds)
        if json { Console.emit(started) } else { started.lines.forEach { Console.say($0) } }
    }

    /// Something that the user should know but the engine has no event for.
    func warn(_ text: String) { warn(text, as: "warning") }

    /// The same of a microphone that seems to be switched off.
    func warn(ofSilence text: String) { warn(text, as: "microphone_silent") }

    private func warn(_ text: String, as type: String) {
        if json { tell(CallEvent(type: type, detail: text)) } else { Console.complain("warning: \(text)") }
    }

    /// What the user did, and what is well again.
    func note(_ text: String) { tell(CallEvent(type: "note", detail: text)) }

    /// Somebody who was in the room before.
    func show(_ participant: Participant) {
        remember(participant)
        tell(
            CallEvent(
                type: "participant_present", detail: "\(participant.identity) is there",
                participant: participant.identity))
    }

    func show(_ event: EngineEvent) {
        if case .participantJoined(let participant) = event { remember(participant) }
        if case .participantLeft(let participant, _) = event { names.withLock { $0.leave(participant) } }
        if case .joined(_, let participant) = event { own.withLock { $0 = participant } }
        if let latency = answers.withLock({ $0.take(event) }), json {
            tell(CallEvent(latency, name: name(latency.agent)))
        }
        if case .message(_, let bytes) = event, AnswerReport(bytes) != nil { return }
        if !json, follow(event) { return }
        let own = own.withLock { $0 }
        let line = names.withLock { names in CallEvent(event, own: own) { names[$0] } }
        switch event {
        case .speechStarted, .speechEnded, .echoReadinessChanged, .referenceRetimed, .playoutMarginChanged,
            .device(.endOfInput):
            if json { tell(line) }
        case .referenceIntegrity(.ended), .referenceIntegrity(.gainChanged), .referenceIntegrity(.shifted):
            if json { tell(line) }
        case .referenceIntegrity(.began), .degraded, .device, .deviceLost, .requestRefused, .requestFailed,
            .connectionLost, .messagesDropped:
            if json { tell(line) } else { Console.complain("warning: \(line.detail)") }
        case .left:
            // For people the error says it.
            if json { tell(line) }
        default: tell(line)
        }
    }

    /// Shows captions as they are heard; whether that is all there is to an event, for people.
    private func follow(_ event: EngineEvent) -> Bool {
        if let caption = captions.withLock({ $0.handle(event) }), caption.caption.isFinal,
            !caption.caption.heard.isEmpty
        {
            tell(CallEvent(type: "caption", detail: "\(name(caption.talker)): \(caption.caption.heard)"))
        }
        switch event {
        case .text(_, let update): return update.stream == CaptionTrack.stream
        case .utteranceHeard, .heard: return true
        default: return false
        }
    }

    func end(_ summary: CallSummary) {
        if json { Console.emit(summary) } else { Console.say(summary.text) }
    }

    func show(_ statistics: CallStatistics) { Console.emit(statistics) }

    /// What a participant is called.
    func name(_ participant: ParticipantID) -> String { names.withLock { $0[participant] } }

    private func remember(_ participant: Participant) {
        names.withLock { $0.remember(participant.id, as: participant.identity) }
    }

    private func tell(_ event: CallEvent) {
        if json {
            var event = event
            event.timeS = clock.seconds
            Console.emit(event)
        } else {
            Console.endProgress()
            Console.say(event.detail)
        }
    }
}
