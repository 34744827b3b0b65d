/// A server's rooms and the participants in them, as a state machine without clock, socket or random source.
///
/// The driver's loop is that of `RoomSession`: give it what arrived (`handle(datagram:from:now:)`), the verdicts on the
/// tokens that `pollVerification()` gave out (`answer`), and the time (`handleTimeout(now:)`); then empty
/// `pollDatagram(now:)` and `pollEvent()`, and sleep until `nextTimeout`. For each media packet ask
/// `forward(source:synchronizationSource:)`.
///
/// `now` is the time since any fixed instant, and never goes back. Not thread-safe; one owner. Nothing blocks. The
/// media look-up allocates nothing; the control path does.
///
/// The same inputs give the same outputs: nothing depends on the order of a hash table.
public struct RoomDirectory: Sendable {
    /// Joins that wait for a verdict; more are dropped, and their clients will repeat them.
    static let verificationLimit = 256
    /// A verdict that has not come after this is not awaited any longer.
    static let verificationTime: Duration = .seconds(10)
    /// Associations remembered, so that a delayed copy of a join does not bring back who has left.
    static let rememberedAssociations = 1024

    struct PendingJoin: Sendable {
        let source: EndpointAddress
        let association: UInt64
        let request: JoinRequest
        let expires: Duration
    }

    /// What the server allows.
    public let configuration: RoomDirectoryConfiguration
    /// Counters since the start.
    public internal(set) var statistics = RoomDirectoryStatistics()

    var participants: [ParticipantID: RoomParticipant] = [:]
    /// The members of each room, by order of arrival.
    var rooms: [String: [ParticipantID]] = [:]
    var connections: [EndpointAddress: RoomConnection] = [:]
    var forwarding = ForwardingTable()

    var pending: [VerificationRequest.ID: PendingJoin] = [:]
    var verifications: [VerificationRequest] = []
    var usedAssociations: [UInt64] = []
    var usedAssociationSet: Set<UInt64> = []
    var events: [RoomDirectoryEvent] = []
    /// Connections with something to send, in the order in which they got it.
    var outgoing: [EndpointAddress] = []
    /// Answers that belong to no connection.
    var stateless: [(EndpointAddress, [UInt8])] = []
    var isShuttingDown = false
    private var lastParticipant: UInt32 = 0
    private var lastStream: UInt32 = 0
    private var lastVerification: UInt64 = 0

    /// A server without rooms.
    public init(configuration: RoomDirectoryConfiguration = RoomDirectoryConfiguration()) {
        self.configuration = configuration
    }

    // MARK: Media

    /// Who gets the RTP packet with this SSRC from this address. Allocates nothing.
    ///
    /// - Parameter repeats: whether it repeats earlier packets: its payload type is ``RoomProtocol/redundantPayloadType``.
    public func forward(
        source: EndpointAddress, synchronizationSource: UInt32, repeats: Bool = false
    ) -> ForwardingDecision {
        forwarding.decide(source: source, synchronizationSource: synchronizationSource, repeats: repeats)
    }

    /// Who gets the RTCP packet of this sender from this address: all whom it hears and who hear it, also while it publishes nothing or is
    /// muted. Allocates nothing.
    public func forwardReport(source: EndpointAddress, synchronizationSource: UInt32) -> ForwardingDecision {
        forwarding.decideReport(source: source, synchronizationSource: synchronizationSource)
    }

    // MARK: Looking

    /// The names of the rooms, sorted.
    public var roomNames: [String] { rooms.keys.sorted() }

    /// Participants in all rooms, those in a break included.
    public var participantCount: Int { participants.count }

    /// Everyone in a room, those in a break included; empty when there is no such room.
    public func roster(ofRoom room: String) -> RoomRoster {
        RoomRoster((rooms[room] ?? []).compactMap { participants[$0]?.rosterEntry })
    }

    /// Whether nobody is left and nothing is to be sent: the moment to close the socket after `shutDown(now:)`.
    public var isIdle: Bool { participants.isEmpty && connections.isEmpty && stateless.isEmpty }

    // MARK: What the driver polls

    /// The next datagram to send, and where; call until nil.
    public mutating func pollDatagram(now: Duration) -> (destination: EndpointAddress, bytes: [UInt8])? {
        if !stateless.isEmpty {
            let (destination, bytes) = stateless.removeFirst()
            return (destination, bytes)
        }
        while let endpoint = outgoing.first {
            if let bytes = connections[endpoint]?.channel.nextDatagram(now: now) { return (endpoint, bytes) }
            connections[endpoint]?.isListed = false
            outgoing.removeFirst()
        }
        return nil
    }

    /// The next event; call until nil.
    public mutating func pollEvent() -> RoomDirectoryEvent? { events.isEmpty ? nil : events.removeFirst() }

    /// The next token to verify; call until nil, and give the verdict to `answer`.
    public mutating func pollVerification() -> VerificationRequest? {
        verifications.isEmpty ? nil : verifications.removeFirst()
    }

    /// When to call `handleTimeout` at the latest; nil when there is nothing to wait for. Looks at every participant.
    public var nextTimeout: Duration? {
        var next = pending.values.map(\.expires).min()
        for connection in connections.values {
            next = earliest(next, connection.channel.nextTimeout, connection.closesAt)
        }
        for participant in participants.values {
            next = earliest(next, participant.breakEnds ?? participant.lastHeard + configuration.silenceLimit)
        }
        return next
    }

    // MARK: Numbers

    mutating func makeParticipantID() -> ParticipantID {
        lastParticipant += 1
        return ParticipantID(rawValue: lastParticipant)
    }

    mutating func makeStreamID() -> StreamID {
        lastStream += 1
        return StreamID(rawValue: lastStream)
    }

    mutating func makeVerificationID() -> VerificationRequest.ID {
        lastVerification += 1
        return VerificationRequest.ID(rawValue: lastVerification)
    }
}
