import Synchronization
import VoiceEngine

/// Tells what happens in a call: NDJSON for scripts, or lines for people, with warnings on stderr.
final class CallLog: Sendable {
    private let json: Bool
    private let start = ContinuousClock.now
    /// What the participants are called, also those who have gone.
    private let names = Mutex<[ParticipantID: String]>([:])

    init(json: Bool) { self.json = json }

    /// The device runs.
    func start(_ formats: DeviceFormats) {
        let started = CallStarted(formats, timeS: seconds)
        if json { Console.emit(started) } else { started.lines.forEach { Console.say($0) } }
    }

    /// Something that the user should know but the engine has no event for.
    func warn(_ text: String) {
        if json { tell(CallEvent(type: "warning", detail: text)) } else { Console.complain("warning: \(text)") }
    }

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
        let line = names.withLock { names in CallEvent(event) { names[$0] ?? "\($0)" } }
        switch event {
        case .voiceActivityChanged, .referenceRetimed, .device(.endOfInput):
            if json { tell(line) }
        case .degraded, .device, .requestRefused, .requestFailed, .connectionLost:
            if json { tell(line) } else { Console.complain("warning: \(line.detail)") }
        case .left:
            // For people the error says it.
            if json { tell(line) }
        default: tell(line)
        }
    }

    func end(_ summary: CallSummary) {
        if json { Console.emit(summary) } else { Console.say(summary.text) }
    }

    private func remember(_ participant: Participant) {
        names.withLock { $0[participant.id] = participant.identity }
    }

    private func tell(_ event: CallEvent) {
        if json {
            var event = event
            event.timeS = seconds
            Console.emit(event)
        } else {
            Console.endProgress()
            Console.say(event.detail)
        }
    }

    private var seconds: Double { (start.duration(to: .now).milliseconds / 1_000).rounded(toPlaces: 3) }
}

/// What the device granted.
struct CallStarted: JSONLine {
    /// One direction as it runs.
    struct Direction: Encodable {
        var sampleRate: Int
        var channels: Int
        var sampleFormat: String
        var periodFrames: Int
        var bufferFrames: Int

        init(_ format: StreamFormat) {
            sampleRate = format.sampleRate
            channels = format.channels
            sampleFormat = format.sampleFormat.rawValue
            periodFrames = format.periodFrames
            bufferFrames = format.bufferFrames
        }
    }

    let schema = "duplexvoice.call/1"
    let type = "started"
    var timeS: Double
    var capture: Direction?
    var playback: Direction?

    init(_ formats: DeviceFormats, timeS: Double) {
        self.timeS = timeS
        capture = formats.capture.map { Direction($0.active) }
        playback = formats.playback.map { Direction($0.active) }
    }

    /// The formats for people.
    var lines: [String] {
        [("capture", capture), ("playback", playback)].compactMap { name, format in
            format.map {
                "\(name): \($0.sampleRate) Hz, \($0.channels) ch, \($0.sampleFormat), period \($0.periodFrames), "
                    + "buffer \($0.bufferFrames) frames"
            }
        }
    }
}

/// An event of a call.
struct CallEvent: JSONLine {
    let schema = "duplexvoice.call/1"
    let type: String
    /// For people.
    var detail: String
    /// Seconds since the command began.
    var timeS = 0.0
    /// Whom it is about, by the identity of their token.
    var participant: String?
    /// What was sent, as text.
    var message: String?

    init(type: String, detail: String, participant: String? = nil) {
        self.type = type
        self.detail = detail
        self.participant = participant
    }

    /// - Parameter name: what a participant is called.
    init(_ event: EngineEvent, name: (ParticipantID) -> String) {
        self.init(type: event.name, detail: event.text(name), participant: event.subject.map(name))
        if case .message(_, let bytes) = event { message = String(decoding: bytes, as: UTF8.self) }
    }
}
