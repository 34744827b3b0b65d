internal import CDuplexVoice
internal import Synchronization
internal import VoiceEngine
internal import VoiceQueue
internal import VoiceRealtime

/// The events of an engine and its far ends that C has not fetched yet. Any thread.
///
/// Overflow: the oldest is dropped and counted; ``next(timeout:)`` says so before it gives the next.
final class EventQueue: Sendable {
    /// How many wait.
    static let capacity = 256

    private struct State {
        var events = FIFOQueue<dv_event>()
        var dropped: Int64 = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    /// Raised as long as events wait, and from the closing on.
    private let waiting: WakeSignal

    init() throws(Failure) {
        do throws(ThreadError) { waiting = try WakeSignal() } catch {
            throw Failure(EngineError.resourcesExhausted("no file descriptor for events: \(error)"))
        }
    }

    var descriptor: Int32 { waiting.fileDescriptor }

    func follow(_ events: EventStream) {
        Task { [weak self] in
            var captions = CaptionFollower()
            for await event in events {
                self?.post(dv_event(event))
                if let caption = captions.handle(event) { self?.post(dv_event(caption)) }
            }
        }
    }

    func post(_ event: dv_event) {
        state.withLock { state in
            if state.events.count == Self.capacity {
                _ = state.events.popFirst()
                state.dropped += 1
            }
            state.events.append(event)
            waiting.signal()
        }
    }

    /// Nobody waits any more.
    func close() {
        state.withLock { state in
            state.isClosed = true
            waiting.signal()
        }
    }

    /// The next event, of kind `DV_EVENT_NONE` after the time-out; nil once it is closed. Waits.
    func next(timeout: Duration?) -> dv_event? {
        let clock = ContinuousClock()
        let deadline = timeout.map { clock.now + $0 }
        while true {
            let (event, isClosed) = take()
            if isClosed { return nil }
            if let event { return event }
            let left = deadline.map { $0 - clock.now } ?? .seconds(60)
            if deadline != nil, left <= .zero { return dv_event() }
            waiting.wait(timeout: left)
        }
    }

    private func take() -> (dv_event?, isClosed: Bool) {
        state.withLock { state in
            guard !state.isClosed else {
                // For whoever else waits: the one that woke has taken the signal.
                waiting.signal()
                return (nil, true)
            }
            if state.dropped > 0 {
                var event = dv_event(DV_EVENT_DROPPED)
                event.value = state.dropped
                state.dropped = 0
                waiting.signal()
                return (event, false)
            }
            let event = state.events.popFirst()
            // A wait has taken the signal that the rest still needs, and where there is no rest nobody has.
            if state.events.isEmpty { waiting.wait(timeout: .zero) } else { waiting.signal() }
            return (event, false)
        }
    }
}
