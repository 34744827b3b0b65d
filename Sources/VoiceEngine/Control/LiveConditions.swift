internal import VoiceProcessing
internal import VoiceRooms

/// What the events of the media thread amount to: what it told last of the near end and of each talker.
struct LiveConditions: Equatable, Sendable {
    var isSpeaking = false
    var echoReadiness: EchoReadiness?
    private var unreachable: Set<ParticipantID> = []
    private var stalled: Set<ParticipantID> = []
    private var poor: Set<ParticipantID> = []

    func isReachable(_ participant: ParticipantID) -> Bool { !unreachable.contains(participant) }
    func isStalled(_ participant: ParticipantID) -> Bool { stalled.contains(participant) }
    func linkQuality(_ participant: ParticipantID) -> LinkQuality { poor.contains(participant) ? .poor : .good }

    /// Takes what is told. False where it takes back what was not told, or of somebody who has gone since and whose
    /// number another has.
    mutating func take(_ event: EngineEvent) -> Bool {
        switch event {
        case .speechStarted: isSpeaking = true
        case .speechEnded: isSpeaking = false
        case .echoReadinessChanged(let readiness): echoReadiness = readiness
        case .participantUnreachable(let participant): Self.keep(participant, in: &unreachable)
        case .participantReachable(let participant): return unreachable.remove(participant) != nil
        case .streamStalled(let participant, true): Self.keep(participant, in: &stalled)
        case .streamStalled(let participant, false): return stalled.remove(participant) != nil
        case .linkQualityChanged(let participant, .poor): Self.keep(participant, in: &poor)
        case .linkQualityChanged(let participant, .good): return poor.remove(participant) != nil
        // Something of one who has gone may have been told after that, and another has the number now.
        case .participantJoined(let participant): forget(participant.id)
        case .participantLeft(let participant, _): forget(participant)
        case .left: forgetAll()
        default: break
        }
        return true
    }

    /// Keeps as many as a room holds: of more, who came first has gone.
    private static func keep(_ participant: ParticipantID, in told: inout Set<ParticipantID>) {
        told.insert(participant)
        if told.count > RoomProtocol.participantLimit, let first = told.min() { told.remove(first) }
    }

    private mutating func forget(_ participant: ParticipantID) {
        unreachable.remove(participant)
        stalled.remove(participant)
        poor.remove(participant)
    }

    private mutating func forgetAll() {
        unreachable = []
        stalled = []
        poor = []
    }
}
