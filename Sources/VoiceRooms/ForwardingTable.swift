/// Who gets an RTP or RTCP packet: by where it came from and its SSRC.
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
        let isPublished: Bool
        let isMuted: Bool
        /// Whether its publisher may send packets that repeat earlier ones.
        let mayRepeat: Bool
        /// All who get the stream.
        let subscribers: [EndpointAddress]
        /// Those of them who take packets that repeat earlier ones, and those who do not.
        let takers: [EndpointAddress]
        let others: [EndpointAddress]
        /// Who gets the reports that are sent under this SSRC: all who hear its owner or are heard by it.
        let peers: [EndpointAddress]
    }

    private var routes: [Key: Route] = [:]
    private var keysOfRoom: [String: [Key]] = [:]

    func decide(source: EndpointAddress, synchronizationSource: UInt32, repeats: Bool) -> ForwardingDecision {
        guard let route = routes[Key(source: source, synchronizationSource: synchronizationSource)], route.isPublished
        else { return .drop(.notPublished) }
        guard !route.isMuted else { return .drop(.mutedByServer) }
        guard !repeats || route.mayRepeat else { return .drop(.notPublished) }
        guard repeats, !route.others.isEmpty else { return .forward(route.subscribers) }
        return .split(whole: route.takers, withoutCopies: route.others)
    }

    func decideReport(source: EndpointAddress, synchronizationSource: UInt32) -> ForwardingDecision {
        guard let route = routes[Key(source: source, synchronizationSource: synchronizationSource)] else {
            return .drop(.notPublished)
        }
        return .forward(route.peers)
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
    /// Send it as it is to some, and without the earlier packets that it repeats (RFC 2198) to the others.
    case split(whole: [EndpointAddress], withoutCopies: [EndpointAddress])
    /// Drop and count it.
    case drop(ForwardingRefusal)
}

/// Why a media packet is not forwarded.
public enum ForwardingRefusal: Equatable, Sendable {
    /// Nobody publishes this SSRC from this address, or not as packets that repeat earlier ones; of a report: the SSRC is nobody's there.
    case notPublished
    /// Its publisher is muted by the server.
    case mutedByServer
}
