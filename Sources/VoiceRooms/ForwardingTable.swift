package import VoicePeers

/// Who gets an RTP or RTCP packet: by whom it came from and its SSRC.
///
/// A look-up allocates nothing and takes two hashes. Hash seeds are the process's own, so hostile SSRCs do not
/// collide by design. A change touches the lists that it is about, and no others.
struct ForwardingTable: Sendable {
    struct Key: Hashable, Sendable {
        let peer: PeerID
        let synchronizationSource: UInt32
    }

    /// Where a listener is, and whether it takes packets that repeat earlier ones.
    struct Listener: Equatable, Sendable {
        let peer: PeerID
        let takesCopies: Bool
    }

    private struct Route: Sendable {
        let owner: ParticipantID
        /// Whether its publisher may send packets that repeat earlier ones.
        let mayRepeat: Bool
        /// Whether its owner tells under this source what it receives: under one alone, since whoever sends weighs what
        /// each source says.
        let tellsOfReception: Bool
        var isPublished = false
        var isMuted = false
        /// All who get the stream.
        var subscribers: [PeerID] = []
        /// Those of them who take packets that repeat earlier ones, and those who do not.
        var takers: [PeerID] = []
        var others: [PeerID] = []
    }

    /// Changes of lists so far, the measure of what a request costs.
    private(set) var edits = 0
    private var streams: [Key: StreamID] = [:]
    private var routes: [StreamID: Route] = [:]
    /// Who gets a participant's reports: all whom it hears or who hear it.
    private var peers: [ParticipantID: [PeerID]] = [:]

    // MARK: Looking

    func decide(from peer: PeerID, synchronizationSource: UInt32, repeats: Bool) -> ForwardingDecision {
        guard let route = route(peer, synchronizationSource), route.isPublished else { return .drop(.notPublished) }
        guard !route.isMuted else { return .drop(.mutedByServer) }
        guard !repeats || route.mayRepeat else { return .drop(.notPublished) }
        guard repeats, !route.others.isEmpty else { return .forward(route.subscribers) }
        return .split(whole: route.takers, withoutCopies: route.others)
    }

    func decideReport(from peer: PeerID, synchronizationSource: UInt32, tellsOfReception: Bool) -> ForwardingDecision {
        guard let route = route(peer, synchronizationSource), route.tellsOfReception || !tellsOfReception else {
            return .drop(.notPublished)
        }
        return .forward(peers[route.owner] ?? [])
    }

    private func route(_ peer: PeerID, _ synchronizationSource: UInt32) -> Route? {
        streams[Key(peer: peer, synchronizationSource: synchronizationSource)].flatMap { routes[$0] }
    }

    // MARK: Streams

    mutating func add(_ stream: StreamID, of owner: ParticipantID, mayRepeat: Bool, tellsOfReception: Bool) {
        routes[stream] = Route(owner: owner, mayRepeat: mayRepeat, tellsOfReception: tellsOfReception)
    }

    /// Removes a participant's streams, whose packets come from nowhere any more, and its reports.
    mutating func remove(_ owned: [StreamID], of owner: ParticipantID) {
        for stream in owned { routes[stream] = nil }
        peers[owner] = nil
    }

    /// Where a stream's packets come from.
    mutating func connect(_ stream: StreamID, to key: Key) { streams[key] = stream }

    mutating func disconnect(_ key: Key) { streams[key] = nil }

    mutating func setPublished(_ isPublished: Bool, _ stream: StreamID) { routes[stream]?.isPublished = isPublished }

    mutating func setMuted(_ isMuted: Bool, _ stream: StreamID) { routes[stream]?.isMuted = isMuted }

    // MARK: Listeners

    mutating func add(_ listener: Listener, to stream: StreamID) {
        edits += 1
        routes[stream]?.subscribers.append(listener.peer)
        if listener.takesCopies {
            routes[stream]?.takers.append(listener.peer)
        } else {
            routes[stream]?.others.append(listener.peer)
        }
    }

    mutating func remove(_ listener: Listener, from stream: StreamID) {
        edits += 1
        routes[stream]?.subscribers.removeAll { $0 == listener.peer }
        if listener.takesCopies {
            routes[stream]?.takers.removeAll { $0 == listener.peer }
        } else {
            routes[stream]?.others.removeAll { $0 == listener.peer }
        }
    }

    /// Has the reports of `owner` sent to an address.
    mutating func add(_ peer: PeerID, toReportsOf owner: ParticipantID) {
        edits += 1
        peers[owner, default: []].append(peer)
    }

    mutating func remove(_ peer: PeerID, fromReportsOf owner: ParticipantID) {
        edits += 1
        peers[owner]?.removeAll { $0 == peer }
    }
}

/// What to do with a media packet.
package enum ForwardingDecision: Equatable, Sendable {
    /// Send it, as it is, to each of these; possibly to none.
    case forward([PeerID])
    /// Send it as it is to some, and without the earlier packets that it repeats (RFC 2198) to the others.
    case split(whole: [PeerID], withoutCopies: [PeerID])
    /// Drop and count it.
    case drop(ForwardingRefusal)

    /// How many get it.
    var receiverCount: Int {
        switch self {
        case .forward(let all): all.count
        case .split(let whole, let withoutCopies): whole.count + withoutCopies.count
        case .drop: 0
        }
    }
}

/// Why a media packet is not forwarded.
package enum ForwardingRefusal: Equatable, Sendable {
    /// Nobody publishes this SSRC from this address, or not as packets that repeat earlier ones; of a report: the SSRC
    /// is nobody's there, or not the one under which its owner tells what it receives.
    case notPublished
    /// Its publisher is muted by the server.
    case mutedByServer
}
