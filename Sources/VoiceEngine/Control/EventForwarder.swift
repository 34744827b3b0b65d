internal import Synchronization
internal import VoiceRealtime
internal import VoiceRooms

/// Carries the media thread's events to the listeners, on an ordinary thread of its own.
final class EventForwarder: Sendable {
    private let signal: WakeSignal
    private let thread = Mutex<RealtimeThread?>(nil)

    init() throws(EngineError) {
        do throws(ThreadError) { signal = try WakeSignal() } catch {
            throw .resourcesExhausted("no file descriptor for waking a thread: \(error)")
        }
    }

    var wake: WakeHandle { signal.handle }

    /// Starts the thread; `tellRoom` gets what the room is to be told.
    func start(
        _ core: EngineCore, _ broadcast: EventBroadcast, tellRoom: @escaping @Sendable (MediaEvent) -> Void
    ) throws(EngineError) {
        let signal = signal
        do throws(ThreadError) {
            let started = try RealtimeThread(name: "voice-events", priority: 0, wake: signal) { stop in
                Self.forward(
                    isStopped: { stop.isRaised }, wait: { signal.wait(timeout: .seconds(1)) }, next: core.nextEvent,
                    post: { event in
                        if event.isForRoom { tellRoom(event) }
                        if let event = EngineEvent(event) { broadcast.post(event) }
                    })
            }
            thread.withLock { $0 = started }
        } catch {
            throw .resourcesExhausted("the event thread could not be started: \(error)")
        }
    }

    /// Forwards until it is stopped, and then what is still there: whoever stops has stopped the media thread before.
    static func forward(
        isStopped: () -> Bool, wait: () -> Void, next: () -> MediaEvent?, post: (MediaEvent) -> Void
    ) {
        var isLast = false
        while !isLast {
            isLast = isStopped()
            if !isLast { wait() }
            while let event = next() { post(event) }
        }
    }

    func stop() {
        let running = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        running?.stop()
    }
}

extension EngineEvent {
    /// What listeners learn of it; nil where it is for the room, or for turns.
    package init?(_ event: MediaEvent) {
        switch event {
        case .generationStarted, .speechBelieved: return nil
        case .speechStarted(let moment): self = .speechStarted(moment)
        case .speechEnded(let moment): self = .speechEnded(moment)
        case .echoReadinessChanged(let readiness): self = .echoReadinessChanged(readiness)
        case .referenceIntegrity(let change): self = .referenceIntegrity(change)
        case .processingRefused: self = .degraded(.processingRefused)
        case .tooManyStreams: self = .degraded(.tooManyStreams)
        case .streamCondition(let number, let condition):
            let participant = ParticipantID(rawValue: number)
            switch condition {
            case .unreachable: self = .participantUnreachable(participant)
            case .reachable: self = .participantReachable(participant)
            case .stalled: self = .streamStalled(participant, true)
            case .flowing: self = .streamStalled(participant, false)
            case .poorLink: self = .linkQualityChanged(participant, .poor)
            case .goodLink: self = .linkQualityChanged(participant, .good)
            }
        case .talkerSpokenInto(let number, let change): self = .bargeIn(ParticipantID(rawValue: number), change)
        case .utteranceHeard(let news):
            self = .utteranceHeard(
                ParticipantID(rawValue: news.participant), HeardUtterance(news), at: news.time.sinceEpoch)
        case .referenceRetimed: self = .referenceRetimed
        case .eventsLost(let count): self = .degraded(.eventsLost(count))
        case .playoutMarginChanged(let nanoseconds): self = .playoutMarginChanged(.nanoseconds(nanoseconds))
        }
    }
}
