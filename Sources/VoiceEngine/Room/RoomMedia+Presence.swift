package import VoiceRooms

// What this engine is in the room itself.

extension RoomMedia {
    /// What the next join asks for; whoever drives the session hands it on after each call.
    package var entrance: RoomEntrance { presence.requested.entrance }

    /// The microphone's stream; nil where it is not to be published.
    package var ownStream: StreamAssignment? { presence.microphone }

    /// What this engine publishes.
    package var ownStreams: [RoomMember.Stream] { presence.streams }

    /// Becomes a talker, or a listener, who is heard no more from now on.
    package mutating func setRole(_ role: RoomRole) -> [Action] { settle { $0.setRole(role, &$1) } }

    /// Publishes the microphone by this name, or not at all where it is nil.
    package mutating func publish(as name: String?) -> [Action] { settle { $0.publish(as: name, &$1) } }

    /// Publishes what a far end of the app's says under this name, now and in the rooms that follow.
    package mutating func publish(line: UInt64, as name: String) -> [Action] {
        settle { $0.publish(line: line, as: name, &$1) }
    }

    /// Publishes it no more.
    package mutating func unpublish(line: UInt64) -> [Action] { settle { $0.publish(line: line, as: nil, &$1) } }

    /// Mutes or unmutes the microphone's stream, also where it is yet to be published.
    package mutating func setMuted(_ isMuted: Bool) -> [Action] { settle { $0.setMuted(isMuted, &$1) } }

    /// Tells this of the engine, and nothing else.
    package mutating func setAttributes(_ attributes: ParticipantAttributes) -> [Action] {
        settle { $0.setAttributes(attributes, &$1) }
    }

    /// Asks again for what could not be sent or came too often, where that is due; ``nextAsking(now:)`` says when.
    package mutating func askAgain(now: Duration) -> [Action] {
        patience.takeDue(now: now) ? settle { $0.askAgain(&$1) } : []
    }

    /// When ``askAgain(now:)`` has something; to be asked for after whatever has happened.
    package mutating func nextAsking(now: Duration) -> Duration? {
        patience.next(isPostponed: presence.isPostponed, isSettled: presence.isSettled, now: now)
    }

    /// A request could not be sent.
    package mutating func requestFailed(_ request: RoomRequest, subject: UInt32) -> [Action] {
        let stream = StreamID(rawValue: subject)
        switch request {
        // What cannot be interrupted is heard on.
        case .interrupt: return interruptionRefused(stream)
        case .subscribe: return choose { $0.refuse(stream, .receiverBusy, &$1) }
        default: return settle { _ = $0.refused(request, subject, nil, &$1) }
        }
    }

    mutating func settle(_ body: (inout RoomPresence, inout [RoomPresence.Order]) -> Void) -> [Action] {
        var orders: [RoomPresence.Order] = []
        body(&presence, &orders)
        return orders.map { order in
            switch order {
            case .ask(let request): .ask(request)
            case .send(let stream, let line):
                .command(.publish(streamStart(stream.assignment, generation: stream.generation, line: line)))
            case .stop(let line): .command(.stopStream(line: line))
            case .report(let stream): .command(.report(as: streamStart(stream)))
            case .begin(let generation, 0): .command(.beginGeneration(generation))
            case .begin(let generation, let line): .command(.beginStreamGeneration(generation, line: line))
            // As the room would answer.
            case .refuse: .post(.requestRefused(.publish, .unknownStream))
            }
        }
    }
}
