package import VoiceRooms

/// What the room's events mean for the media and for the listeners, without clock, socket or random source.
///
/// The driver feeds it every event of its `RoomSession`, and carries out what it answers.
package struct RoomConversation {
    /// What is to be done.
    package enum Action: Sendable {
        /// Ask the room to publish this stream.
        case publish(StreamAssignment)
        /// Tell the media thread.
        case command(MediaCommand)
        /// Tell the listeners.
        case post(EngineEvent)
    }

    /// Everybody else in the room.
    package private(set) var participants: [ParticipantID: Participant] = [:]
    /// The stream that this engine publishes; nil where the token does not allow it.
    package private(set) var ownStream: StreamAssignment?
    private var own: ParticipantID?
    private var sources: [ParticipantID: [StreamAssignment]] = [:]
    private let start: UInt64

    /// A conversation whose RTP stream begins at numbers taken from `randomStart` (RFC 3550, section 5.1).
    package init(randomStart: UInt64) { start = randomStart }

    /// The synchronization sources of a participant's streams.
    package func synchronizationSources(of participant: ParticipantID) -> [UInt32] {
        sources[participant, default: []].map(\.synchronizationSource)
    }

    /// What follows from `event`.
    package mutating func handle(_ event: RoomSessionEvent) -> [Action] {
        switch event {
        case .joined(let grant, let roster):
            own = grant.participant
            let others = roster.entries.filter { $0.participant != grant.participant }
            return others.flatMap { arrive($0) } + publishing(grant) + [
                .post(.joined(room: grant.room, as: grant.participant))
            ]
        case .reconnecting: return [.post(.connectionLost)]
        case .reconnected(let grant, _):
            own = grant.participant
            return (grant.resumed ? [] : publishing(grant)) + [.post(.reconnected)]
        case .participantJoined(let entry):
            return arrive(entry) + [.post(.participantJoined(Participant(entry)))]
        case .participantLeft(let participant, let reason):
            return depart(participant) + [.post(.participantLeft(participant, reason))]
        case .published(let participant, let stream): return publish(stream.assignment, by: participant)
        case .unpublished(let participant, let stream): return unpublish(stream, by: participant)
        case .muteChanged(let participant, _, let mute):
            return participant == own ? [] : [.post(.participantMuted(participant, !mute.isEmpty))]
        case .message(let sender, _, let bytes): return [.post(.message(from: sender, bytes))]
        case .interrupted(let participant, _, let generation):
            return [.post(.interrupted(by: participant, generation: generation))]
        case .requestRefused(_, _, let refusal): return [.post(.requestRefused(refusal))]
        case .ended: return leave()
        }
    }

    /// Ends all media of the room.
    package mutating func leave() -> [Action] {
        let departures = participants.keys.sorted().flatMap { depart($0) }
        ownStream = nil
        return departures + [.command(.stopPublishing)]
    }

    private mutating func publishing(_ grant: JoinGrant) -> [Action] {
        guard grant.capabilities.contains(.publish), let stream = grant.streams.first else { return [] }
        ownStream = stream
        return [.publish(stream)]
    }

    private mutating func arrive(_ entry: RosterEntry) -> [Action] {
        participants[entry.participant] = Participant(entry)
        return entry.streams.flatMap { publish($0.assignment, by: entry.participant) }
    }

    private mutating func depart(_ participant: ParticipantID) -> [Action] {
        participants[participant] = nil
        return (sources.removeValue(forKey: participant) ?? []).map {
            .command(.removeStream(synchronizationSource: $0.synchronizationSource))
        }
    }

    private mutating func publish(_ stream: StreamAssignment, by participant: ParticipantID) -> [Action] {
        guard participant != own else {
            return [
                .command(
                    .publish(
                        RTPStreamStart(
                            synchronizationSource: stream.synchronizationSource,
                            sequenceNumber: UInt16(truncatingIfNeeded: start),
                            timestamp: UInt32(truncatingIfNeeded: start >> 16))))
            ]
        }
        sources[participant, default: []].append(stream)
        return [.command(.addStream(synchronizationSource: stream.synchronizationSource))]
    }

    private mutating func unpublish(_ stream: StreamID, by participant: ParticipantID) -> [Action] {
        guard participant != own else { return [.command(.stopPublishing)] }
        let gone = sources[participant, default: []].filter { $0.stream == stream }
        sources[participant, default: []].removeAll { $0.stream == stream }
        return gone.map { .command(.removeStream(synchronizationSource: $0.synchronizationSource)) }
    }
}

extension Participant {
    init(_ entry: RosterEntry) {
        id = entry.participant
        identity = entry.identity
        name = entry.name
    }
}
