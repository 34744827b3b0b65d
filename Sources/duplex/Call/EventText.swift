import VoiceEngine

extension EngineEvent {
    /// The event's name in JSON.
    var name: String {
        switch self {
        case .device: "device"
        case .voiceActivityChanged: "voice_activity"
        case .degraded: "degraded"
        case .referenceRetimed: "reference_retimed"
        case .joined: "joined"
        case .participantJoined: "participant_joined"
        case .participantLeft: "participant_left"
        case .participantMuted: "participant_muted"
        case .message: "message"
        case .interrupted: "interrupted"
        case .connectionLost: "connection_lost"
        case .reconnected: "reconnected"
        case .requestRefused: "request_refused"
        case .requestFailed: "request_failed"
        case .left: "left"
        }
    }

    /// The event for people.
    var text: String {
        switch self {
        case .device(let event): "device: \(event)"
        case .voiceActivityChanged(let speaking): speaking ? "you speak" : "you pause"
        case .degraded(let degradation): degradation.text
        case .referenceRetimed: "echo reference re-timed"
        case .joined(let room, let participant): "in room '\(room)' as \(participant)"
        case .participantJoined(let participant): "\(participant.identity) came in"
        case .participantLeft(let participant, let reason): "\(participant) went out (\(reason.map { "\($0)" } ?? "reason unknown"))"
        case .participantMuted(let participant, let muted): "\(participant) \(muted ? "muted" : "unmuted")"
        case .message(let sender, let bytes): "\(sender) says: \(String(decoding: bytes, as: UTF8.self))"
        case .interrupted(let participant, let generation): "\(participant) interrupts generation \(generation)"
        case .connectionLost: "the room does not answer; trying to come back"
        case .reconnected: "back in the room"
        case .requestRefused(let refusal): "the room refused a request: \(refusal)"
        case .requestFailed(let error): "a request to the room failed: \(error)"
        case .left(let end): "out of the room: \(end)"
        }
    }
}

extension EngineDegradation {
    /// What is wrong and what to do.
    var text: String {
        switch self {
        case .noRealtimePriority:
            "no real-time priority: expect gaps under load; 'duplex doctor' says how to get it"
        case .memoryNotLocked: "memory is not locked: a page fault may interrupt the sound; raise memlock in /etc/security/limits.conf"
        case .tooManyStreams: "more participants speak than can be heard at once"
        case .commandLost: "the media thread is overloaded; leave and join again"
        case .processingRefused: "the processing backend refused the new settings; the old ones stay"
        }
    }
}
