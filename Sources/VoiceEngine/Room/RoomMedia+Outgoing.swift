internal import VoiceRooms

/// A stream that the app publishes beside the microphone, and its place in the room.
struct OutgoingPlace {
    var name: String
    /// What the room has set aside for it; nil outside a room, and where the room has no more.
    var assignment: StreamAssignment?
    /// Whether the room has confirmed it, so that its packets are forwarded.
    var isPublished = false
    /// As the room has numbered it last.
    var generation: UInt32 = 0

    init(name: String) { self.name = name }
}

// Streams that the app feeds. The first stream that a room sets aside is the microphone's, whether that is published or
// not; the others are theirs.

extension RoomMedia {
    /// Those that the room has confirmed.
    var outgoingStreams: [RoomMember.Stream] {
        outgoing.keys.sorted().compactMap { line in
            guard let place = outgoing[line], place.isPublished, let assignment = place.assignment else { return nil }
            return RoomMember.Stream(
                id: assignment.stream, synchronizationSource: assignment.synchronizationSource, isMuted: false,
                name: place.name)
        }
    }

    /// Publishes what a far end of the app's says under this name, now and in the rooms that follow.
    package mutating func publish(line: UInt64, as name: String) -> [Action] {
        outgoing[line] = OutgoingPlace(name: name)
        return grant.map { publishingOutgoing($0) } ?? []
    }

    /// Publishes it no more.
    package mutating func unpublish(line: UInt64) -> [Action] {
        guard let place = outgoing.removeValue(forKey: line), let assignment = place.assignment else { return [] }
        return [.ask(.unpublish(assignment.stream)), .command(.stopStream(line: line))]
    }

    /// Asks for those that have no place yet.
    mutating func publishingOutgoing(_ grant: JoinGrant) -> [Action] {
        guard grant.capabilities.contains(.publish), stay?.own.role == .talker else { return [] }
        var actions: [Action] = []
        for line in outgoing.keys.sorted() where outgoing[line]?.assignment == nil {
            let taken = outgoing.values.compactMap(\.assignment)
            guard let free = grant.streams.dropFirst().first(where: { !taken.contains($0) }) else {
                // As the room would answer.
                actions.append(.post(.requestRefused(.publish, .unknownStream)))
                continue
            }
            outgoing[line]?.assignment = free
            let name = outgoing[line]?.name ?? ""
            actions.append(.ask(.publish(free, interruptibleBy: interruptibleBy, name: name)))
        }
        return actions
    }

    /// The room is left, or it is another stay: nothing of them is there any more.
    mutating func withdrawOutgoing() -> [Action] {
        outgoing.keys.sorted().compactMap { line in
            guard outgoing[line]?.assignment != nil else { return nil }
            outgoing[line]?.assignment = nil
            outgoing[line]?.isPublished = false
            return .command(.stopStream(line: line))
        }
    }

    /// The room has confirmed a stream; nil where it is none of these.
    mutating func beginOutgoing(_ stream: PublishedStream) -> [Action]? {
        guard let line = outgoingLine(of: stream.assignment.stream) else { return nil }
        outgoing[line]?.isPublished = true
        outgoing[line]?.generation = stream.generation
        return [.command(.publish(streamStart(stream.assignment, generation: stream.generation, line: line)))]
    }

    /// The room has withdrawn a stream; nil where it is none of these.
    mutating func endOutgoing(_ stream: StreamID) -> [Action]? {
        guard let line = outgoingLine(of: stream) else {
            // Of one that was withdrawn here.
            return grant?.streams.dropFirst().contains { $0.stream == stream } == true ? [] : nil
        }
        outgoing[line]?.isPublished = false
        return [.command(.stopStream(line: line))]
    }

    /// Goes on with them as the room has them.
    mutating func resumeOutgoing(_ roster: RoomRoster) -> [Action] {
        guard let own = stay?.own.id else { return [] }
        var actions: [Action] = []
        for entry in roster[own]?.streams ?? [] {
            guard let line = outgoingLine(of: entry.assignment.stream) else { continue }
            actions +=
                outgoing[line]?.isPublished == true
                ? beginGeneration(entry.generation, of: line) : beginOutgoing(entry) ?? []
        }
        return actions
    }

    /// A stream was interrupted; nil where it is none of these.
    mutating func interruptOutgoing(_ stream: StreamID, _ generation: UInt32) -> [Action]? {
        outgoingLine(of: stream).map { beginGeneration(generation, of: $0) }
    }

    private mutating func beginGeneration(_ generation: UInt32, of line: UInt64) -> [Action] {
        guard let before = outgoing[line]?.generation, Int32(bitPattern: generation &- before) > 0 else { return [] }
        outgoing[line]?.generation = generation
        return [.command(.beginStreamGeneration(generation, line: line))]
    }

    private func outgoingLine(of stream: StreamID) -> UInt64? {
        outgoing.first { $0.value.assignment?.stream == stream }?.key
    }
}
