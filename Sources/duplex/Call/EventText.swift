import VoiceEngine

extension EngineEvent {
    /// The event's name in JSON.
    var name: String {
        switch self {
        case .device(.endOfInput): "end_of_input"
        case .device(.xrun): "xrun"
        case .device: "device"
        case .voiceActivityChanged: "voice_activity"
        case .degraded: "degraded"
        case .referenceRetimed: "reference_retimed"
        case .playoutMarginChanged: "playout_margin_changed"
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

    /// Whom the event is about.
    var subject: ParticipantID? {
        switch self {
        case .participantJoined(let participant): participant.id
        case .participantLeft(let participant, _), .participantMuted(let participant, _), .message(let participant, _),
            .interrupted(let participant, _):
            participant
        default: nil
        }
    }

    /// The event for people; `name` says what a participant is called.
    func text(_ name: (ParticipantID) -> String) -> String {
        switch self {
        case .device(let event): event.text
        case .voiceActivityChanged(let speaking): speaking ? "you speak" : "you pause"
        case .degraded(let degradation): degradation.text
        case .referenceRetimed: "echo reference re-timed"
        case .playoutMarginChanged(let margin): "sound is made ready \(margin) before it is played"
        case .joined(let room, _): "in room '\(room)'"
        case .participantJoined(let participant): "\(participant.identity) came in"
        case .participantLeft(let participant, let reason): "\(name(participant)) \(reason?.text ?? "went out")"
        case .participantMuted(let participant, let muted): "\(name(participant)) \(muted ? "muted" : "unmuted")"
        case .message(let sender, let bytes): "\(name(sender)) says: \(String(decoding: bytes, as: UTF8.self))"
        case .interrupted(let participant, let generation): "\(name(participant)) interrupts generation \(generation)"
        case .connectionLost:
            "the room does not answer; trying to come back for up to \(RoomTimers.breakWindow.components.seconds) s"
        case .reconnected: "back in the room"
        case .requestRefused(let refusal): "the room refused a request: \(refusal.explanation)"
        case .requestFailed(let error): "a request to the room failed: \(error)"
        case .left(let end): Failure(end).message
        }
    }
}

extension LeaveReason {
    /// What somebody did, for people.
    fileprivate var text: String {
        switch self {
        case .left: "went out"
        case .timedOut: "was lost"
        case .removed: "was put out"
        }
    }
}

extension DeviceEvent {
    /// The event for people.
    var text: String {
        switch self {
        case .xrun(.capture): "the capture device ran over; some sound is lost"
        case .xrun(.playback): "the playback device ran dry; there was a gap"
        case .suspended(let direction): "the system suspended the \(direction) device; resuming it"
        case .recovered(let direction): "the \(direction) device runs again"
        case .trimmed(let direction, let frames):
            "\(frames / 48) ms of \(direction) were too late to be of use, and were skipped"
        case .fillTargetChanged(let frames): "the playback device now keeps \(frames / 48) ms queued"
        case .disconnected(let direction): "the \(direction) device is gone"
        case .failed(_, let error): "\(error)"
        case .formatChanged: "the device changed its format"
        case .schedulingRefused(let direction, _):
            "no real-time priority for \(direction): expect gaps under load; 'duplex doctor' says how to get it"
        case .endOfInput: "end of the input file"
        case .inputLate(let frames): "\(frames) frames of the input came too late from the disk; silence stood in"
        case .outputLost(let frames): "\(frames) frames of the output were lost: the disk did not keep up"
        }
    }
}

extension EngineDegradation {
    /// What is wrong and what to do.
    var text: String {
        switch self {
        case .noRealtimePriority:
            "no real-time priority: expect gaps under load; 'duplex doctor' says how to get it"
        case .memoryNotLocked:
            "memory is not locked: a page fault may interrupt the sound; raise memlock in /etc/security/limits.conf"
        case .tooManyStreams: "more participants speak than can be heard at once"
        case .commandLost: "the media thread is overloaded; leave and join again"
        case .processingRefused: "the processing backend refused the new settings; the old ones stay"
        }
    }
}
