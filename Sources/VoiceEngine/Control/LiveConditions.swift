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

    mutating func take(_ event: EngineEvent) {
        switch event {
        case .speechStarted: isSpeaking = true
        case .speechEnded: isSpeaking = false
        case .echoReadinessChanged(let readiness): echoReadiness = readiness
        case .participantUnreachable(let participant): unreachable.insert(participant)
        case .participantReachable(let participant): unreachable.remove(participant)
        case .streamStalled(let participant, let isStalled):
            if isStalled { stalled.insert(participant) } else { stalled.remove(participant) }
        case .linkQualityChanged(let participant, let quality):
            if quality == .poor { poor.insert(participant) } else { poor.remove(participant) }
        case .participantLeft(let participant, _): forget(participant)
        case .left: forgetAll()
        default: break
        }
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
