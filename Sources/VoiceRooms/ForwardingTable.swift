/// Who gets an RTP packet: by where it came from and its SSRC.
///
/// A look-up allocates nothing and takes one hash. Hash seeds are the process's own, so hostile addresses do not
/// collide by design.
struct ForwardingTable: Sendable {
    struct Key: Hashable, Sendable {
        let source: EndpointAddress
        let synchronizationSource: UInt32
    }

    struct Route: Sendable {
        let stream: StreamID
        let isMuted: Bool
        let subscribers: [EndpointAddress]
    }

    private var routes: [Key: Route] = [:]
    private var keysOfRoom: [String: [Key]] = [:]

    func decide(source: EndpointAddress, synchronizationSource: UInt32) -> ForwardingDecision {
        guard let route = routes[Key(source: source, synchronizationSource: synchronizationSource)] else {
            return .drop(.notPublished)
        }
        guard !route.isMuted else { return .drop(.mutedByServer) }
        return .forward(route.subscribers)
    }

    /// Puts a room's routes in the place of its old ones.
    mutating func replace(room: String, routes new: [(Key, Route)]) {
        for key in keysOfRoom.removeValue(forKey: room) ?? [] { routes.removeValue(forKey: key) }
        guard !new.isEmpty else { return }
        for (key, route) in new { routes[key] = route }
        keysOfRoom[room] = new.map(\.0)
    }
}

/// What to do with a media packet.
public enum ForwardingDecision: Equatable, Sendable {
    /// Send it, as it is, to each of these; possibly to none.
    case forward([EndpointAddress])
    /// Drop and count it.
    case drop(ForwardingRefusal)
}

/// Why a media packet is not forwarded.
public enum ForwardingRefusal: Equatable, Sendable {
    /// Nobody publishes this SSRC from this address.
    case notPublished
    /// Its publisher is muted by the server.
    case mutedByServer
}
