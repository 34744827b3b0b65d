/// A participant as everyone in the room sees it.
package struct RosterEntry: Hashable, Sendable {
    /// The participant.
    package let participant: ParticipantID
    /// The token's `sub`: unique in the room.
    package let identity: String
    /// The token's `name`, for display; may be empty.
    package let name: String
    /// Whether it talks, or only listens.
    package var role: RoomRole
    /// What it tells of itself.
    package var attributes: ParticipantAttributes
    /// What it publishes, by rising ``StreamID``.
    package var streams: [PublishedStream]

    /// Describes a participant.
    package init(
        participant: ParticipantID, identity: String, name: String, role: RoomRole = .talker,
        attributes: ParticipantAttributes = ParticipantAttributes(), streams: [PublishedStream] = []
    ) {
        self.role = role
        self.attributes = attributes
        self.participant = participant
        self.identity = identity
        self.name = name
        self.streams = streams
    }
}

/// Everyone in a room, oneself among them, by order of arrival.
package struct RoomRoster: Equatable, Sendable {
    /// The participants, by rising `ParticipantID`.
    package private(set) var entries: [RosterEntry] = []

    /// An empty room.
    package init() {}

    /// A room with these participants.
    package init(_ entries: [RosterEntry]) {
        self.entries = entries.sorted { $0.participant < $1.participant }
    }

    /// The entry of a participant.
    package subscript(participant: ParticipantID) -> RosterEntry? {
        entries.first { $0.participant == participant }
    }

    /// The participant who publishes a stream, and the stream.
    package func publisher(of stream: StreamID) -> (participant: ParticipantID, stream: PublishedStream)? {
        for entry in entries {
            if let found = entry.streams.first(where: { $0.assignment.stream == stream }) {
                return (entry.participant, found)
            }
        }
        return nil
    }

    mutating func insert(_ entry: RosterEntry) throws(RoomProtocolError) {
        guard entries.count < RoomProtocol.participantLimit else { throw .limitExceeded }
        remove(entry.participant)
        let place = entries.firstIndex { $0.participant > entry.participant } ?? entries.endIndex
        entries.insert(entry, at: place)
    }

    @discardableResult
    mutating func remove(_ participant: ParticipantID) -> RosterEntry? {
        guard let place = entries.firstIndex(where: { $0.participant == participant }) else { return nil }
        return entries.remove(at: place)
    }

    mutating func publish(_ stream: PublishedStream, by participant: ParticipantID) throws(RoomProtocolError) {
        guard let place = entries.firstIndex(where: { $0.participant == participant }) else { throw .invalidValue }
        entries[place].streams.removeAll { $0.assignment.stream == stream.assignment.stream }
        guard entries[place].streams.count < RoomProtocol.streamLimit else { throw .limitExceeded }
        // The same order for everybody, whatever was published first and whoever came later.
        let next = entries[place].streams.firstIndex { $0.assignment.stream > stream.assignment.stream }
        entries[place].streams.insert(stream, at: next ?? entries[place].streams.endIndex)
    }

    mutating func unpublish(_ stream: StreamID, by participant: ParticipantID) {
        guard let place = entries.firstIndex(where: { $0.participant == participant }) else { return }
        entries[place].streams.removeAll { $0.assignment.stream == stream }
    }

    /// Changes the entry of a participant, if there is one.
    mutating func update(_ participant: ParticipantID, _ change: (inout RosterEntry) -> Void) throws(RoomProtocolError)
    {
        guard let place = entries.firstIndex(where: { $0.participant == participant }) else { throw .invalidValue }
        change(&entries[place])
    }

    mutating func setGeneration(_ generation: UInt32, stream: StreamID) {
        for place in entries.indices {
            guard let index = entries[place].streams.firstIndex(where: { $0.assignment.stream == stream }) else {
                continue
            }
            entries[place].streams[index].generation = generation
        }
    }

    mutating func setMute(_ mute: MuteState, stream: StreamID) -> ParticipantID? {
        for place in entries.indices {
            if let index = entries[place].streams.firstIndex(where: { $0.assignment.stream == stream }) {
                entries[place].streams[index].mute = mute
                return entries[place].participant
            }
        }
        return nil
    }
}
