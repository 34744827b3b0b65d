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
        case .participantUnreachable(let participant): unreachable.insert(participant)
        case .participantReachable(let participant): return unreachable.remove(participant) != nil
        case .streamStalled(let participant, true): stalled.insert(participant)
        case .streamStalled(let participant, false): return stalled.remove(participant) != nil
        case .linkQualityChanged(let participant, .poor): poor.insert(participant)
        case .linkQualityChanged(let participant, .good): return poor.remove(participant) != nil
        case .participantLeft(let participant, _): forget(participant)
        case .left: forgetAll()
        default: break
        }
        return true
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
