internal import VoicePeers

/// The addresses of a client's server: where the path in use leads, and which are tried after it.
///
///     the path has opened ──────────────────────► the next one leads there too
///     it has not, or the name leads elsewhere ──► the next one leads to the next address; this one comes last
struct ServerAddresses: Sendable {
    /// Where the path in use leads.
    private(set) var current: EndpointAddress
    private var others: [EndpointAddress]
    /// Whether the server's name still leads there, as far as is known.
    private var isNamed = true
    /// Where the client was let in last.
    private var home: EndpointAddress?

    init(_ current: EndpointAddress, others: [EndpointAddress]) { (self.current, self.others) = (current, others) }

    /// Whether the client was let in last where the path in use leads.
    var isHome: Bool { current == home }

    /// Whether there is another one to try.
    var hasOthers: Bool { !others.isEmpty }

    /// Where the next path leads; another address where the last path has not opened, or the name does not lead there
    /// any more.
    mutating func next(hasOpened: Bool) -> EndpointAddress {
        guard !hasOpened || !isNamed, !others.isEmpty else { return current }
        others.append(current)
        current = others.removeFirst()
        isNamed = true
        return current
    }

    /// Takes the addresses that the server's name has now, in the order in which to try them: those first that are new.
    mutating func learn(_ servers: [EndpointAddress], isAway: Bool) {
        let known = others.filter { servers.contains($0) }
        others = servers.filter { $0 != current && !known.contains($0) } + known
        // Where it was let in, it comes back to first.
        isNamed = !isAway || servers.contains(current)
    }

    /// The client has been let in.
    mutating func enter() { (isNamed, home) = (true, current) }
}
