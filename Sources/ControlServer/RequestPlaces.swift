internal import ControlAPI
internal import Synchronization
internal import VoiceWeb

/// How many requests of each client are under way, so that some clients cannot have all connections of the server.
final class RequestPlaces: Sendable {
    /// Of a client: the listeners of all its sessions, and some. Never more than half of what the others leave of the
    /// connections, so that there is always one for a client more.
    static let limit = 24

    /// Of each client that has some.
    private let counts = Mutex<[String: Int]>([:])

    /// Takes a place, which is free again when nothing refers to it any more.
    func take(_ client: String) throws(ControlError) -> RequestPlace {
        let (isTaken, own) = counts.withLock { counts in
            let own = counts[client, default: 0]
            let others = counts.values.reduce(-own, +)
            guard own < min(Self.limit, (StreamServer.connectionLimit - others) / 2) else { return (false, own) }
            counts[client] = own + 1
            return (true, own)
        }
        guard isTaken else {
            throw ControlError(
                .busy, "this client has \(own) requests and WebSockets under way, and may have no more at present")
        }
        return RequestPlace(self, client)
    }

    fileprivate func free(_ client: String) {
        counts.withLock { counts in
            let own = counts[client, default: 1] - 1
            counts[client] = own > 0 ? own : nil
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
