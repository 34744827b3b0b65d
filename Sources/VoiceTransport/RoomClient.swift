internal import Glibc
internal import Synchronization
package import VoiceRealtime
package import VoiceRooms

/// A client's connection to a room: a network thread between a UDP socket and the media thread's packet rings.
///
/// Packets that the media thread puts into its send ring (and announces by `PacketLink.wake`) go out while the session
/// is in the room; packets that arrive go into the receive ring, tagged with the kernel's time of arrival. All methods
/// may be called from any thread; those that block say so. Requests take effect on the network thread, and what becomes
/// of them is told by `events`.
///
/// A host name is looked up on a thread of its own, so the network thread never waits for a name server; and again with
/// each attempt to come back.
package final class RoomClient: Sendable {
    /// Requests that wait for the network thread; more are refused.
    static let requestLimit = 256
    /// Events that wait for whoever reads `events`; more are dropped, but never the last.
    static let eventLimit = 1024

    /// What happens, in order, for one reader. Finishes after `ended`. Where it is read too slowly for
    /// ``RoomClientEvent/eventsDropped(_:_:_:)`` stands in for what was dropped.
    package let events: AsyncStream<RoomClientEvent>

    private let interruptibleBy: InterruptionPolicy
    private let shared: RoomClientShared
    private let thread: RealtimeThread
    private let wake: WakeSignal

    /// Starts the network thread and joins the room. Does not wait for either.
    ///
    /// - Parameters:
    ///   - endpoint: the server and the token.
    ///   - configuration: how to meet it.
    ///   - link: the network's ends of the media rings; the network thread uses them until it has ended.
    package init(
        joining endpoint: RoomEndpoint, configuration: RoomClientConfiguration = RoomClientConfiguration(),
        link: PacketLink
    ) throws(RoomClientEnd) {
        let events = EventQueue<RoomClientEvent>(limit: configuration.eventLimit)
        let shared = RoomClientShared(events: events)
        interruptibleBy = configuration.interruptibleBy
        do throws(ThreadError) {
            thread = try RealtimeThread(
                name: "dv-network", priority: configuration.threadPriority, wake: link.wake
            ) { stop in
                shared.end(RoomClientStart.run(endpoint, configuration, link, shared, until: stop))
            }
        } catch {
            throw RoomClientEnd(error)
        }
        self.events = events.stream
        self.shared = shared
        wake = link.wake
    }

    // MARK: Requests

    /// Announces a stream of `JoinGrant.streams`, interruptible as ``RoomClientConfiguration/interruptibleBy`` says.
    ///
    /// - Parameters:
    ///   - assignment: the stream.
    ///   - name: what others play it by, unique in the room and up to 64 bytes of UTF-8; or empty.
    package func publish(_ assignment: StreamAssignment, name: String = "") throws(RoomSessionError) {
        try ask(.publish(assignment, interruptibleBy: interruptibleBy, name: name))
    }

    /// Withdraws a stream.
    package func unpublish(_ stream: StreamID) throws(RoomSessionError) { try ask(.unpublish(stream)) }

    /// Asks for a stream.
    package func subscribe(to stream: StreamID) throws(RoomSessionError) { try ask(.subscribe(stream)) }

    /// Asks not to get a stream.
    package func unsubscribe(from stream: StreamID) throws(RoomSessionError) { try ask(.unsubscribe(stream)) }

    /// Tells the others that a stream of one's own is muted or not.
    package func setMuted(_ muted: Bool, stream: StreamID) throws(RoomSessionError) {
        try ask(.setMuted(stream, muted))
    }

    /// Tells everybody these attributes of this client, and no others.
    package func setAttributes(_ attributes: ParticipantAttributes) throws(RoomSessionError) {
        try ask(.setAttributes(attributes))
    }

    /// Asks to talk, or only to listen.
    package func setRole(_ role: RoomRole) throws(RoomSessionError) { try ask(.setRole(role)) }

    /// Sends bytes, at most 1024, to a participant or to everyone else (`nil`).
    package func send(_ bytes: [UInt8], to destination: ParticipantID? = nil) throws(RoomSessionError) {
        try ask(.send(destination: destination, bytes: bytes))
    }

    /// Has everything that was said on a stream so far dropped, by everyone; the room numbers the generation that
    /// begins.
    package func interrupt(_ stream: StreamID) throws(RoomSessionError) { try ask(.interrupt(stream)) }

    /// Tells those who hear a stream of one's own where its new generation begins.
    package func tellGeneration(_ start: GenerationStart) throws(RoomSessionError) { try ask(.tellGeneration(start)) }

    /// Tells a talker how far an utterance of its was heard here.
    package func tellHeard(_ report: HeardReport) throws(RoomSessionError) { try ask(.tellHeard(report)) }

    /// Leaves the room; `ended` follows within `RoomTimers.closingTime`.
    package func leave() throws(RoomSessionError) { try ask(.leave) }

    /// Asks the room for something, or to leave; takes effect on the network thread, and not in another stay than
    /// `stay`, the secret of its grant.
    package func ask(_ request: RoomMessage, in stay: RejoinSecret? = nil) throws(RoomSessionError) {
        if case .send(_, _, let bytes) = request, bytes.count > RoomProtocol.messageLimit { throw .messageTooLong }
        if case .publish(_, _, let name) = request, name.utf8.count > RoomProtocol.streamNameLimit {
            throw .streamNameTooLong
        }
        let isTaken = shared.requests.withLock { requests in
            guard requests.messages.count < Self.requestLimit else { return false }
            requests.messages.append((request, stay))
            return true
        }
        guard isTaken else { throw .queueFull }
        announceRequests()
    }

    /// Has the next join ask for this.
    package func rejoin(as entrance: RoomEntrance) {
        shared.requests.withLock { $0.entrance = entrance }
        announceRequests()
    }

    private func announceRequests() {
        shared.hasRequests.store(true, ordering: .releasing)
        wake.signal()
    }

    // MARK: Looking and ending

    /// Counters since the start.
    package var statistics: RoomClientStatistics { shared.statistics.withLock { $0 } }

    /// Why it is over, nil while it is not.
    package var end: RoomClientEnd? { shared.ending.withLock { $0 } }

    /// How the network thread is scheduled, as granted.
    package var scheduling: ThreadScheduling { thread.scheduling }

    /// Ends at once, without telling the server; `leave` does that. Blocks until the network thread has ended.
    package func stop() { thread.stop() }

    deinit { thread.stop() }
}

/// What the network thread shares with its callers.
final class RoomClientShared: Sendable {
    /// What is asked of the client.
    struct Requests {
        /// Of the room, and `leave`; and in which stay.
        var messages: [(RoomMessage, stay: RejoinSecret?)] = []
        /// Of the next join, where that has changed.
        var entrance: RoomEntrance?
    }

    let requests = Mutex(Requests())
    let hasRequests = Atomic<Bool>(false)
    let statistics = Mutex(RoomClientStatistics())
    let ending = Mutex<RoomClientEnd?>(nil)
    private let events: EventQueue<RoomClientEvent>

    init(events: EventQueue<RoomClientEvent>) { self.events = events }

    /// False when nobody took the last thousand events, and this one was dropped.
    func tell(_ event: RoomClientEvent) -> Bool { events.offer(event) }

    func end(_ reason: RoomClientEnd) {
        ending.withLock { $0 = reason }
        events.finish(with: .ended(reason))
    }

    /// Whether `leave` waits.
    var isToLeave: Bool { requests.withLock { $0.messages.contains { $0.0 == .leave } } }

    func takeRequests() -> Requests {
        guard hasRequests.exchange(false, ordering: .acquiringAndReleasing) else { return Requests() }
        return requests.withLock { requests in
            defer { requests = Requests() }
            return requests
        }
    }
}
