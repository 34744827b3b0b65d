internal import CDuplexVoice
internal import Synchronization
internal import VoiceEngine
internal import VoiceRooms

/// The token that a program of C's has given and that was not asked for yet, or whoever waits for one. Any thread.
final class TokenSlot: Sendable {
    private struct NoneGiven: Error {}

    private struct State {
        var given: String?
        var waiting: CheckedContinuation<String?, Never>?
        /// Of the last request: one that is over must not end the next one's waiting.
        var request = 0
    }

    private let state = Mutex(State())

    /// The token that a room is joined with.
    private final class FirstToken: Sendable {
        private let token: Mutex<String?>

        init(_ token: String) { self.token = Mutex(token) }

        func take() -> String? { token.withLock { $0.take() } }
    }

    private static func check(_ token: String) throws(Failure) {
        guard token.utf8.count <= RoomProtocol.tokenLimit else {
            throw Failure(EngineError.requestRefused(.tokenTooLong))
        }
    }

    /// Takes the place of one that was given before.
    func give(_ token: String) throws(Failure) {
        try Self.check(token)
        let waiting = state.withLock { state in
            let waiting = state.waiting.take()
            state.given = waiting == nil ? token : nil
            return waiting
        }
        waiting?.resume(returning: token)
    }

    /// Hands out the first token, and then each that is given, once; where there is none, asks for it and waits.
    /// Whoever is refused entry has changed nothing for a room that the engine is in.
    func provider(first token: String, asking events: EventQueue) throws(Failure) -> TokenProvider {
        try Self.check(token)
        let first = FirstToken(token)
        return { [self] in
            if let token = first.take() {
                // One that is left was for the room before.
                state.withLock { $0.given = nil }
                return token
            }
            if let token = state.withLock({ $0.given.take() }) { return token }
            events.post(dv_event(DV_EVENT_TOKEN_EXPIRING))
            guard let token = await next() else { throw NoneGiven() }
            return token
        }
    }

    /// The next token; nil where the request is cancelled, or another takes its place.
    private func next() async -> String? {
        let request = state.withLock { state in
            state.request += 1
            return state.request
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (over, token) = state.withLock { state -> (CheckedContinuation<String?, Never>?, String?) in
                    let token = state.given.take()
                    guard token == nil, state.request == request, !Task.isCancelled else {
                        return (continuation, token)
                    }
                    defer { state.waiting = continuation }
                    return (state.waiting, nil)
                }
                over?.resume(returning: token)
            }
        } onCancel: {
            state.withLock { $0.request == request ? $0.waiting.take() : nil }?.resume(returning: nil)
        }
    }
}
