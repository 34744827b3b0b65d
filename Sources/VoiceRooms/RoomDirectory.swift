public import VoicePeers

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
        struct Origin: Hashable, Sendable {
            let source: EndpointAddress
            let association: UInt64
        }

        let origin: Origin
        let request: JoinRequest
    }

    struct Answer: Sendable {
        let destination: EndpointAddress
        let bytes: [UInt8]
    }

    /// What has a deadline.
    enum Timer: Hashable, Sendable {
        /// Its silence, its break, and the timers of its connection.
        case participant(ParticipantID)
        /// A connection that only waits for the acknowledgement of `removed`.
        case closing(EndpointAddress)
        case verification(VerificationRequest.ID)
    }

    /// What the server allows.
    public let configuration: RoomDirectoryConfiguration
    /// Counters since the start.
    public internal(set) var statistics = RoomDirectoryStatistics()

    var participants: [ParticipantID: RoomParticipant] = [:]
    var rooms: [String: Room] = [:]
    /// Whose each stream is, published or not.
    var streamOwners: [StreamID: ParticipantID] = [:]
    var connections: [EndpointAddress: RoomConnection] = [:]
    var forwarding = ForwardingTable()
    /// Messages that were put into queues so far, the measure of what a request costs.
    var deliveries = 0
    var deadlines = DeadlineQueue<Timer>()

    var pending: [VerificationRequest.ID: PendingJoin] = [:]
    var pendingOrigins: Set<PendingJoin.Origin> = []
    var verifications = FirstInFirstOut<VerificationRequest>()
    var usedAssociations = FirstInFirstOut<UInt64>()
    var usedAssociationSet: Set<UInt64> = []
    var events = FirstInFirstOut<RoomDirectoryEvent>()
    /// Connections with something to send, in the order in which they got it.
    var outgoing = FirstInFirstOut<EndpointAddress>()
    /// Answers that belong to no connection.
    var stateless = FirstInFirstOut<Answer>()
    var isShuttingDown = false

    var joins = RateMeter()
    var joinsOfAddress = RateMeterTable()
    var joinsOfIdentity = RateMeterTable()
    var answers = RateMeter()
    var toldRefusals = RateMeter()
    /// Refusals since the last one that was told.
    var untoldRefusals = 0

    var lastParticipant: UInt32 = 0
    var lastStream: UInt32 = 0
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
        RoomRoster(members(of: room).compactMap { participants[$0]?.rosterEntry })
    }

    /// Whether nobody is left and nothing is to be sent: the moment to close the socket after `shutDown(now:)`.
    public var isIdle: Bool { participants.isEmpty && connections.isEmpty && stateless.isEmpty }

    func members(of room: String) -> [ParticipantID] { rooms[room]?.members ?? [] }

    // MARK: What the driver polls

    /// The next datagram to send, and where; call until nil.
    public mutating func pollDatagram(now: Duration) -> (destination: EndpointAddress, bytes: [UInt8])? {
        if let answer = stateless.popFirst() { return (answer.destination, answer.bytes) }
        while let endpoint = outgoing.first {
            if let bytes = connections[endpoint]?.channel.nextDatagram(now: now) {
                schedule(endpoint)
                return (endpoint, bytes)
            }
            connections[endpoint]?.isListed = false
            _ = outgoing.popFirst()
        }
        return nil
    }

    /// The next event; call until nil.
    public mutating func pollEvent() -> RoomDirectoryEvent? { events.popFirst() }

    /// The next token to verify; call until nil, and give the verdict to `answer`.
    public mutating func pollVerification() -> VerificationRequest? { verifications.popFirst() }

    /// When to call `handleTimeout` at the latest; nil when there is nothing to wait for.
    public var nextTimeout: Duration? { deadlines.earliest }

    // MARK: Numbers

    /// A number that nobody has. They begin anew after 2^32.
    mutating func makeParticipantID() -> ParticipantID {
        repeat {
            lastParticipant &+= 1
        } while lastParticipant == 0
            || participants[ParticipantID(rawValue: lastParticipant)] != nil
        return ParticipantID(rawValue: lastParticipant)
    }

    mutating func makeStreamID() -> StreamID {
        repeat { lastStream &+= 1 } while lastStream == 0 || streamOwners[StreamID(rawValue: lastStream)] != nil
        return StreamID(rawValue: lastStream)
    }

    mutating func makeVerificationID() -> VerificationRequest.ID {
        lastVerification &+= 1
        return VerificationRequest.ID(rawValue: lastVerification)
    }
}
