internal import VoiceRooms

/// How loud this side plays others: by participant and by name of stream, also of what is yet to come.
struct ListeningVolumes {
    /// Factors other than 1.
    private var participants: [ParticipantID: Float] = [:]
    private var streams: [String: Float] = [:]
    /// Who, and which streams, are not to be heard here.
    private var mutedParticipants: Set<ParticipantID> = []
    private var mutedStreams: Set<String> = []

    /// - Parameter requests: what the app has asked for before there was a room.
    init(_ requests: StreamRequests) {
        streams = requests.volumes
        mutedStreams = requests.muted
    }

    mutating func set(_ volume: Float, for participant: ParticipantID) {
        participants[participant] = volume == 1 ? nil : volume
    }

    mutating func set(_ volume: Float, ofStream name: String) { streams[name] = volume == 1 ? nil : volume }

    mutating func setMuted(_ isMuted: Bool, for participant: ParticipantID) {
        if isMuted { mutedParticipants.insert(participant) } else { mutedParticipants.remove(participant) }
    }

    mutating func setMuted(_ isMuted: Bool, ofStream name: String) {
        if isMuted { mutedStreams.insert(name) } else { mutedStreams.remove(name) }
    }

    /// The factor for a participant's stream of this name.
    func gain(of name: String, from participant: ParticipantID) -> Float {
        guard !mutedParticipants.contains(participant), !mutedStreams.contains(name) else { return 0 }
        return (participants[participant] ?? 1) * (streams[name] ?? 1)
    }

    /// A participant has left: what was asked of it goes with it.
    mutating func forget(_ participant: ParticipantID) {
        participants[participant] = nil
        mutedParticipants.remove(participant)
    }
}
