internal import ControlAPI
internal import Synchronization
internal import VoiceWeb

/// How many requests of each client are under way, so that some clients cannot have all connections of the server.
final class RequestPlaces: Sendable {
    private struct State {
        var counts: [String: Int] = [:]
        var total = 0
    }

    /// Of a client: the listeners of all its sessions, and some. Never more than half of what the others leave of the
    /// connections, so that there is always one for a client more.
    static let limit = 24

    private let state = Mutex(State())

    /// Takes a place, which is free again when nothing refers to it any more.
    func take(_ client: String) throws(ControlError) -> RequestPlace {
        let (isTaken, limit) = state.withLock { state in
            let own = state.counts[client, default: 0]
            let limit = min(Self.limit, (StreamServer.connectionLimit - (state.total - own)) / 2)
            guard own < limit else { return (false, limit) }
            state.counts[client] = own + 1
            state.total += 1
            return (true, limit)
        }
        guard isTaken else {
            throw ControlError(.busy, "a client has \(limit) requests and WebSockets at most while others have as many")
        }
        return RequestPlace(self, client)
    }

    fileprivate func free(_ client: String) {
        state.withLock { state in
            let own = state.counts[client, default: 1] - 1
            state.counts[client] = own > 0 ? own : nil
            state.total -= 1
        }
    }
}

/// One of ``RequestPlaces``.
final class RequestPlace: Sendable {
    private let places: RequestPlaces
    private let client: String

    fileprivate init(_ places: RequestPlaces, _ client: String) { (self.places, self.client) = (places, client) }

    deinit { places.free(client) }
}
