import VoiceEngine
import VoiceRooms

extension EngineEvent {
    /// The event's name in JSON.
    var name: String {
        switch self {
        case .device(.endOfInput): "end_of_input"
        case .device(.xrun): "xrun"
        case .device: "device"
        case .deviceLost: "device_lost"
        case .routeChanged: "route_changed"
        case .speechStarted: "speech_started"
        case .speechEnded: "speech_ended"
        case .echoReadinessChanged: "echo_readiness"
        case .referenceIntegrity: "reference_integrity"
        case .degraded: "degraded"
        case .referenceRetimed: "reference_retimed"
        case .playoutMarginChanged: "playout_margin_changed"
        case .joined: "joined"
        case .participantJoined: "participant_joined"
        case .participantLeft: "participant_left"
        case .participantMuted: "participant_muted"
        case .participantUnreachable: "participant_unreachable"
        case .participantReachable: "participant_reachable"
        case .streamStalled: "stream_stalled"
        case .linkQualityChanged: "link_quality"
        case .message: "message"
        case .roleChanged: "role_changed"
        case .attributesChanged: "attributes_changed"
        case .streamState: "stream_state"
        case .text: "text"
        case .interrupted: "interrupted"
        case .bargeIn: "barge_in"
        case .generationStarted: "generation_started"
        case .utteranceHeard: "utterance_heard"
        case .heard: "heard"
        case .connectionLost: "connection_lost"
        case .reconnected: "reconnected"
        case .messagesDropped: "messages_dropped"
        case .requestRefused: "request_refused"
        case .requestFailed: "request_failed"
        case .left: "left"
        case .eventsDropped: "events_dropped"
        }
    }

    /// Whom the event is about.
    var subject: ParticipantID? {
        switch self {
        case .participantJoined(let participant): participant.id
        case .participantLeft(let participant, _), .participantMuted(let participant, _), .message(let participant, _),
            .text(let participant, _),
            .interrupted(let participant, _, _), .bargeIn(let participant, _), .generationStarted(let participant, _),
            .utteranceHeard(let participant, _, _), .heard(_, let participant),
            .participantUnreachable(let participant),
            .participantReachable(let participant), .streamStalled(let participant, _),
            .linkQualityChanged(let participant, _), .roleChanged(let participant, _),
            .attributesChanged(let participant, _):
            participant
        default: nil
        }
    }

    /// The event for people; `name` says what a participant is called.
    func text(_ name: (ParticipantID) -> String) -> String {
        switch self {
        case .device(let event): event.text
        case .deviceLost(let loss): loss.text
        case .routeChanged(let route, let change): "\(change.text): \(route.text)"
        case .speechStarted: "you speak"
        case .speechEnded: "you pause"
        case .echoReadinessChanged(let readiness): readiness.text
        case .referenceIntegrity(let change): change.text
        case .degraded(let degradation): degradation.text
        case .referenceRetimed: "echo reference re-timed"
        case .playoutMarginChanged(let margin): "sound is made ready \(margin.text) before it is played"
        case .joined(let room, _): "in room '\(room)'"
        case .participantJoined(let participant): "\(participant.identity) came in"
        case .participantLeft(let participant, let reason): "\(name(participant)) \(reason?.text ?? "went out")"
        case .participantMuted(let participant, let muted): "\(name(participant)) \(muted ? "muted" : "unmuted")"
        case .participantUnreachable(let participant): "nothing comes from \(name(participant)) any more"
        case .participantReachable(let participant): "\(name(participant)) is there again"
        case .streamStalled(let participant, true): "no sound comes from \(name(participant)), who is not muted"
        case .streamStalled(let participant, false): "sound comes from \(name(participant)) again"
        case .linkQualityChanged(let participant, .poor): "a tenth or more of what \(name(participant)) sends is lost"
        case .linkQualityChanged(let participant, .good): "\(name(participant)) comes through well again"
        case .roleChanged(let participant, .talker): "\(name(participant)) may talk"
        case .roleChanged(let participant, .listener): "\(name(participant)) only listens"
        case .attributesChanged(let participant, let attributes): "\(name(participant)): \(attributes.text)"
        case .streamState(let stream, let state): "stream '\(stream)': \(state.text)"
        case .message(let sender, let bytes): "\(name(sender)) says: \(String(decoding: bytes, as: UTF8.self))"
        case .text(let writer, let update):
            "\(name(writer)), \(update.stream): \(update.text)\(update.isFinal ? "" : "…")"
        case .interrupted(let talker, let participant, _):
            "\(name(participant)) interrupted \(talker == participant ? "what was said before" : name(talker))"
        case .bargeIn(let talker, let change): change.stage.text(name(talker))
        case .generationStarted(let talker, _): "\(name(talker)) speaks anew"
        case .utteranceHeard(let talker, let heard, _):
            "utterance \(heard.utterance.rawValue) of \(name(talker)) was heard up to \(heard.heard.text)"
        case .heard(let heard, let listener):
            "\(name(listener)) has heard utterance \(heard.utterance.rawValue) up to \(heard.heard.text)"
        case .connectionLost:
            "the room does not answer; trying to come back for up to \(RoomTimers.breakWindow.components.seconds) s"
        case .reconnected: "back in the room"
        case .messagesDropped(let count): "the room has not confirmed \(count) of your messages, which were dropped"
        case .requestRefused(_, let refusal): "the room refused a request: \(refusal.explanation)"
        case .requestFailed(_, let error): "a request to the room failed: \(error.explanation)"
        case .left(let end): Failure(end).message
        case .eventsDropped(let count): "\(count) events were dropped here"
        }
    }
}

extension Duration {
    /// In milliseconds, for people.
    fileprivate var text: String { "\(milliseconds.rounded(toPlaces: 2)) ms" }
}

extension ParticipantAttributes {
    /// The attributes for people, by their keys.
    var text: String {
        isEmpty ? "nothing" : values.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
}

extension PlayState {
    /// How a stream stands, for people.
    fileprivate var text: String {
        switch self {
        case .requesting: "asked for"
        case .playing: "plays"
        case .waiting(.outsideRoom): "waits for a room"
        case .waiting(.notPublished): "nobody publishes it yet"
        case .waiting(.connectionLost): "waits for the room to answer"
        case .stopped(.asked): "is not played"
        case .stopped(.refused(let refusal)): "refused: \(refusal.explanation)"
        }
    }
}

extension BargeInStage {
    /// What becomes of what a talker says, for people.
    fileprivate func text(_ talker: String) -> String {
        switch self {
        case .none: "\(talker) goes on"
        case .suspected: "you speak into \(talker), who is quieter"
        case .held: "\(talker) waits while you speak"
        case .confirmed: "you interrupt \(talker)"
        }
    }
}

extension EchoReadiness {
    /// What is known, for people.
    fileprivate var text: String {
        switch state {
        case .unknown: "nothing is known of an echo"
        case .learning: "learning the echo's way; do not trust an interruption yet"
        case .ready: "no echo comes through: an interruption can be trusted"
        }
    }
}

extension ReferenceIntegrity.Change {
    /// What has happened, for people.
    fileprivate var text: String {
        switch self {
        case .began(let problem): problem.text
        case .ended(let problem): "no more: \(problem.text)"
        case .gainChanged(let decibels):
            "the echo is \(Double(abs(decibels)).fixed(1)) dB \(decibels < 0 ? "softer" : "louder") than before"
        case .shifted(let shift):
            "the echo comes \((abs(shift.milliseconds)).fixed(1)) ms \(shift < .zero ? "sooner" : "later") than before"
        }
    }
}

extension ReferenceIntegrity.Problem {
    /// What is wrong and what to do.
    fileprivate var text: String {
        switch self {
        case .gaps: "the echo reference has gaps, so some of the echo comes through: does the playback device run dry?"
        case .clipping: "the echo reference clips, so some of the echo comes through: lower the far end's level"
        case .lateness: "the echo reference may come too late to cancel all of the echo"
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
        case .schedulingRefused(let direction, _):
            "no real-time priority for \(direction): expect gaps under load; 'duplex doctor' says how to get it"
        case .endOfInput: "end of the input file"
        case .inputLate(let frames): "\(frames / 48) ms of the input came too late from the disk; silence stood in"
        case .outputLost(let frames):
            "\(frames / 48) ms of the output were lost, since the disk did not keep up; silence stands in"
        }
    }
}

extension DeviceLoss {
    /// What is lost, and what becomes of the call.
    var text: String {
        let what = directions.map(\.description).joined(separator: " and ")
        let outcome =
            switch policy {
            case .fixed: "there is no more \(what)"
            case .pinned: "silence until it is back"
            case .followDefault: "moving to the default device"
            }
        return "lost '\(name)' for \(what): \(reason); \(outcome)"
    }
}

extension RouteChange {
    /// What has happened.
    fileprivate var text: String {
        switch self {
        case .reopened: "the device is back"
        case .movedToDefault: "moved to the default device"
        case .selected: "selected"
        }
    }
}

extension AudioRoute {
    /// Both ends for people.
    fileprivate var text: String {
        let ends = [("capture", capture), ("playback", playback)].compactMap { name, end in
            end.map { "\(name) \($0.name)\($0.format.map { ", \($0.active.text)" } ?? ", lost")" }
        }
        return ends.joined(separator: "; ")
    }
}

extension StreamFormat {
    /// The format for people.
    var text: String {
        "\(sampleRate) Hz, \(channels) ch, \(sampleFormat.rawValue), period \(periodFrames), buffer \(bufferFrames) frames"
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
        case .eventsLost(let count): "\(count) events were lost: the machine is overloaded"
        case .commandLost: "the media thread is overloaded; leave and join again"
        case .processingRefused: "the processing backend refused the new settings; the old ones stay"
        }
    }
}
