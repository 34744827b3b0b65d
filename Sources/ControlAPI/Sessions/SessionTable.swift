/// Whose sessions there are, how many there may be, and which of them nobody uses any more. Pure: time comes in as
/// `now`.
package struct SessionTable: Sendable {
    package struct Limits: Sendable {
        package var ofClient = 4
        package var inAll = 8
        /// Without a request or a listener.
        package var idle = Duration.seconds(600)

        package init() {}
    }

    private struct Entry: Sendable {
        var client: String
        var lastUse: Duration
        /// WebSockets that take its events.
        var listeners = 0
    }

    private let limits: Limits
    private var entries: [String: Entry] = [:]

    package init(_ limits: Limits = Limits()) { self.limits = limits }

    package var count: Int { entries.count }

    /// The client's sessions, in the order of their names.
    package func sessions(of client: String) -> [String] {
        entries.filter { $0.value.client == client }.keys.sorted()
    }

    /// Enters a session.
    package mutating func add(_ id: String, of client: String, now: Duration) throws(ControlError) {
        guard entries.count < limits.inAll, sessions(of: client).count < limits.ofClient else {
            throw ControlError(
                .tooManySessions,
                "there are \(limits.ofClient) sessions of a client at most, and \(limits.inAll) in all; end one")
        }
        entries[id] = Entry(client: client, lastUse: now)
    }

    /// Notes that the client uses the session.
    ///
    /// - Throws: ``ControlError/notFound`` where there is none, and where it is somebody else's: nobody learns of
    ///   others' sessions.
    package mutating func use(_ id: String, by client: String, now: Duration) throws(ControlError) {
        guard entries[id]?.client == client else { throw .notFound }
        entries[id]?.lastUse = now
    }

    /// Somebody listens to its events from now on, or does not any more.
    package mutating func listens(_ change: Int, to id: String, now: Duration) {
        entries[id]?.listeners += change
        entries[id]?.lastUse = now
    }

    package mutating func remove(_ id: String) { entries[id] = nil }

    /// Takes out the sessions that nobody has used for long.
    package mutating func removeIdle(now: Duration) -> [String] {
        let idle = entries.filter { $0.value.listeners == 0 && now - $0.value.lastUse >= limits.idle }.keys.sorted()
        idle.forEach { entries[$0] = nil }
        return idle
    }
}
