internal import VoicePeers

/// Looks a server's name up again while its client tries to come back: the server may have another address by then. One
/// look-up at a time, each on a thread of its own, so that nothing here blocks. One that fails changes nothing.
///
/// The network thread's own.
final class ServerLookUp {
    private let host: String
    private let port: UInt16
    private let mayReach: ([EndpointAddress]) -> Bool
    private var resolution: HostResolution?

    /// Looks nothing up yet; nil of a numeric address, which stays what it is.
    ///
    /// - Parameter mayReach: whether the client may speak to these addresses; others are as good as none.
    init?(of host: String, port: UInt16, mayReach: @escaping ([EndpointAddress]) -> Bool) {
        guard EndpointAddress(numeric: host, port: port) == nil else { return nil }
        (self.host, self.port, self.mayReach) = (host, port, mayReach)
    }

    /// Begins a look-up, of whose end `poll` tells; false where one goes on, or the system refuses.
    @discardableResult
    func begin(_ poll: borrowing NetworkPoll) -> Bool {
        guard resolution == nil, let begun = try? HostResolution(of: host, port: port),
            (try? poll.add(begun.descriptor, as: .lookUp)) != nil
        else { return false }
        resolution = begun
        return true
    }

    /// The addresses that a look-up has found, once; nil while it goes on, and where it has failed.
    func take(_ poll: borrowing NetworkPoll) -> [EndpointAddress]? {
        guard let resolution, let outcome = resolution.outcome else { return nil }
        poll.remove(resolution.descriptor)
        self.resolution = nil
        guard case .success(let servers) = outcome, mayReach(servers) else { return nil }
        return servers
    }
}
