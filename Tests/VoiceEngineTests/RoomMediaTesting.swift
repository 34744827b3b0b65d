import VoiceRooms

@testable import VoiceEngine

/// The media of a room in which this engine is participant 5, and what follows from events in words.
protocol RoomMediaTesting {}

extension RoomMediaTesting {
    static var own: ParticipantID { ParticipantID(rawValue: 5) }
    static var ownStream: StreamAssignment {
        StreamAssignment(stream: StreamID(rawValue: 50), synchronizationSource: 500)
    }

    func grant(
        as participant: ParticipantID = own, resumed: Bool = false, stream: StreamAssignment = ownStream,
        others: [StreamAssignment] = [], capabilities: RoomCapabilities = .conversation
    ) -> JoinGrant {
        JoinGrant(
            version: 1, participant: participant, capabilities: capabilities, resumed: resumed, handledCount: 0,
            secret: RejoinSecret(high: 1, low: 2), keepaliveInterval: .seconds(2), room: "kitchen",
            streams: [stream] + others,
            rosterCount: 1)
    }

    /// Participant `number`, who publishes a stream of ten times that number, whose source is a hundred times that
    /// number.
    func entry(
        _ number: UInt32, _ identity: String, isMuted: Bool = false, publishes: Bool = true, generation: UInt32 = 0
    ) -> RosterEntry {
        let stream = StreamAssignment(
            stream: StreamID(rawValue: number * 10), synchronizationSource: number * 100)
        return RosterEntry(
            participant: ParticipantID(rawValue: number), identity: identity, name: "",
            streams: publishes
                ? [PublishedStream(stream, mute: isMuted ? .byPublisher : [], generation: generation)] : [])
    }

    var me: RosterEntry { entry(5, "me", publishes: false) }

    /// Media that have joined a room with `others`.
    func joined(_ others: [RosterEntry] = []) -> RoomMedia {
        var media = RoomMedia(randomStart: 7)
        _ = media.handle(.joined(grant(), RoomRoster(others + [me])))
        return media
    }

    /// An action in a form that can be compared and read.
    func text(_ action: RoomMedia.Action) -> String {
        switch action {
        case .ask(.publish(let stream, _, let name)):
            "publish \(stream.synchronizationSource)\(name.isEmpty ? "" : " as \(name)")"
        case .post(.streamState(let name, let state)): "\(name) \(state)"
        case .ask(.setMuted(let stream, let muted)): "tell mute \(stream.rawValue) \(muted)"
        case .command(.publish(let start)): "send \(start.synchronizationSource)"
        case .command(.report(let start)): "report as \(start.synchronizationSource)"
        case .command(.flush(let generation, let source)): "flush \(source) before \(generation)"
        case .command(.watchTalker(let order)): "watch \(order.participant)"
        case .command(.stopPublishing): "stop sending"
        case .command(.beginGeneration(let generation)): "begin \(generation)"
        case .command(.beginUtterance(let utterance)): "say \(utterance.map { "\($0)" } ?? "nothing more")"
        case .command(.addStream(let source, _, _, _)): "play \(source)"
        case .command(.setStreamMuted(let muted, let source)): "expect \(source) \(muted ? "silent" : "sounding")"
        case .command(.removeStream(let source)): "drop \(source)"
        case .command(let command): "\(command)"
        case .post(.joined(let room, let own)): "joined \(room) as \(own.rawValue)"
        case .post(.participantJoined(let participant)): "came \(participant.identity)"
        case .post(.participantLeft(let participant, let reason)):
            "went \(participant.rawValue) \(reason.map { "\($0)" } ?? "-")"
        case .post(.participantMuted(let participant, let muted)): "mute \(participant.rawValue) \(muted)"
        case .post(.interrupted(let talker, let participant, let generation)):
            "\(participant.rawValue) interrupted \(talker.rawValue) before \(generation)"
        case .ask(.tellHeard(let report)):
            "tell \(report.stream.rawValue) heard \(report.utterance) to \(report.milliseconds)"
        case .ask(.tellGeneration(let start)): "tell \(start.generation) begins at \(start.timestamp)"
        case .post(.generationStarted(let talker, let generation)): "\(talker.rawValue) begins \(generation)"
        case .ask(.interrupt(let stream)): "tell interrupted \(stream.rawValue)"
        case .ask(let request): "ask \(request)"
        case .post(.connectionLost): "lost"
        case .post(.reconnected): "back"
        case .post(.requestRefused(let request, let refusal)): "refused \(request): \(refusal)"
        case .post(let event): "\(event)"
        }
    }
}
