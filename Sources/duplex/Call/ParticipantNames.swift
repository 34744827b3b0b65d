import VoiceEngine

/// What the participants of a room are called. The latest who have gone are remembered too: something of theirs may be
/// told after that.
struct ParticipantNames: Sendable {
    /// So many who have gone are remembered: as many as a room holds.
    static let goneLimit = 256

    private var names: [ParticipantID: String] = [:]
    /// Those who have gone, in that order.
    private var gone: [ParticipantID] = []

    /// What a participant is called; its number where that is not known.
    subscript(participant: ParticipantID) -> String { names[participant] ?? "\(participant)" }

    /// Somebody is there. After a server's restart the number may have been another's.
    mutating func remember(_ participant: ParticipantID, as name: String) {
        gone.removeAll { $0 == participant }
        names[participant] = name
    }

    /// Somebody has gone.
    mutating func leave(_ participant: ParticipantID) {
        guard names[participant] != nil, !gone.contains(participant) else { return }
        gone.append(participant)
        if gone.count > Self.goneLimit { names[gone.removeFirst()] = nil }
    }
}
