internal import Synchronization

/// Where a device keeps what runs: nothing, or one session; and meanwhile it is being started.
///
/// A handler of events may stop the device before its start has returned: then what was started is stopped at once.
final class SessionSlot<Session: Sendable>: Sendable {
    private enum State {
        case idle
        case starting(isStopped: Bool)
        case running(Session)
    }

    private let state = Mutex(State.idle)

    /// What runs; nil where nothing does.
    var running: Session? { state.withLock { if case .running(let session) = $0 { session } else { nil } } }

    /// Begins a start. Throws where one is under way, or something runs.
    func begin() throws(DeviceError) {
        try state.withLock { state throws(DeviceError) in
            guard case .idle = state else { throw .alreadyRunning }
            state = .starting(isStopped: false)
        }
    }

    /// The start has failed.
    func giveUp() { state.withLock { $0 = .idle } }

    /// The start has succeeded. False where the device was stopped meanwhile: the session is the caller's to stop.
    func fill(_ session: Session) -> Bool {
        state.withLock { state in
            if case .starting(isStopped: true) = state {
                state = .idle
                return false
            }
            state = .running(session)
            return true
        }
    }

    /// Takes out what runs, to be stopped.
    func take() -> Session? {
        state.withLock { state in
            switch state {
            case .idle: return nil
            case .starting:
                state = .starting(isStopped: true)
                return nil
            case .running(let session):
                state = .idle
                return session
            }
        }
    }
}
