internal import ControlAPI
internal import Synchronization

/// How many requests of each client are under way, so that one cannot have all connections of the server.
final class RequestPlaces: Sendable {
    /// Of a client: the listeners of all its sessions, and some.
    static let limit = 24

    private let counts = Mutex<[String: Int]>([:])

    /// Takes a place, which is free again when nothing refers to it any more.
    func take(_ client: String) throws(ControlError) -> RequestPlace {
        let isTaken = counts.withLock { counts in
            guard counts[client, default: 0] < Self.limit else { return false }
            counts[client, default: 0] += 1
            return true
        }
        guard isTaken else {
            throw ControlError(.busy, "a client has \(Self.limit) requests and WebSockets at most at a time")
        }
        return RequestPlace(self, client)
    }

    fileprivate func free(_ client: String) { counts.withLock { $0[client, default: 1] -= 1 } }
}

/// One of ``RequestPlaces``.
final class RequestPlace: Sendable {
    private let places: RequestPlaces
    private let client: String

    fileprivate init(_ places: RequestPlaces, _ client: String) { (self.places, self.client) = (places, client) }

    deinit { places.free(client) }
}
