package import VoicePeers
internal import VoiceQueue

/// A server's rooms and the participants in them, as a state machine without clock, socket or random source.
///
/// Its participants are peers, whose paths somebody else keeps: ``RoomHost``. The driver tells which peers come and go
/// (`open`, `close`), has it exchange messages with the ``RoomCarrier`` of each (`exchange`, when something came and
/// for each peer of `pollOutgoing()`), gives the verdicts on the tokens that `pollVerification()` gave out (`answer`),
/// and the time (`handleTimeout(now:)`); then empties `pollClosing()` and `pollEvent()`, and sleeps until
/// `nextTimeout`. For each media packet ask `forward`.
///
/// `now` is the time since any fixed instant, and never goes back. Not thread-safe; one owner. Nothing blocks. The
/// media look-up allocates nothing; the control path does.
///
/// The same inputs give the same outputs: nothing depends on the order of a hash table.
package struct RoomDirectory: Sendable {
    /// Tokens of joins that wait for a verdict, and as many newer ones of participants: strangers hold up nobody who is
    /// in a room. More are not taken, and their clients come with them again.
    static let verificationLimit = 256
    /// A verdict that has not come after this is not awaited any longer.
    static let verificationTime: Duration = .seconds(10)
    /// Whose token waits for its verdict, and what for.
    enum PendingToken: Sendable {
        case join(JoinRequest, from: PeerID)
        case renewal(of: ParticipantID)
    }

    /// What has a deadline.
    enum Timer: Hashable, Sendable {
        /// Its silence, its break, its token, and the timers of its connection.
        case participant(ParticipantID)
        /// A connection that serves nobody: not yet, or not any more.
        case connection(PeerID)
        case verification(VerificationRequest.ID)
    }

    /// What the server allows.
    package let configuration: RoomDirectoryConfiguration
    /// Counters since the start.
    package internal(set) var statistics = RoomDirectoryStatistics()

    var participants: [ParticipantID: RoomParticipant] = [:]
    var rooms: [String: Room] = [:]
    /// Whose each stream is, published or not.
    var streamOwners: [StreamID: ParticipantID] = [:]
    var connections: [PeerID: RoomConnection] = [:]
    var forwarding = ForwardingTable()
    /// Messages that were put into queues so far, the measure of what a request costs.
    var deliveries = 0
    var deadlines = DeadlineQueue<Timer>()

    var pending: [VerificationRequest.ID: PendingToken] = [:]
    /// Those of them that are of joins.
    var pendingJoins = 0
    var verifications = FIFOQueue<VerificationRequest>()
    var events = FIFOQueue<RoomDirectoryEvent>()
    /// Connections with something for their carriers, in the order in which they got it.
    var outgoing = FIFOQueue<PeerID>()
    /// Peers that have become participants.
    var accepted = FIFOQueue<PeerID>()
    /// Peers whose paths are to be closed.
    var closings = FIFOQueue<PeerID>()
    var isShuttingDown = false

    var joins = RateMeter()
    var renewals = RateMeter()
    var joinsOfIdentity: RateMeterTable
    var toldRefusals = RateMeter()
    /// Refusals since the last one that was told.
    var untoldRefusals = 0

    var lastParticipant: UInt32 = 0
    var lastStream: UInt32 = 0
    private var lastVerification: UInt64 = 0

    /// A server without rooms.
    ///
    /// - Parameter key: from a cryptographic source: nobody can choose identities that share a meter with another's.
    package init(key: CookieKey, configuration: RoomDirectoryConfiguration = RoomDirectoryConfiguration()) {
        joinsOfIdentity = RateMeterTable(key: key.derived(for: .identityMeters))
        self.configuration = configuration
    }

    // MARK: Media

    /// Who gets the RTP packet with this SSRC from this peer. Allocates nothing.
    ///
    /// - Parameter repeats: whether it repeats earlier packets: its payload type is
    ///   ``RoomProtocol/redundantPayloadType``.
    package func forward(
        from peer: PeerID, synchronizationSource: UInt32, repeats: Bool = false
    ) -> ForwardingDecision {
        forwarding.decide(from: peer, synchronizationSource: synchronizationSource, repeats: repeats)
    }

    /// Who gets the RTCP packet of this sender from this peer: all whom it hears and who hear it, also while it
    /// publishes nothing or is muted. Allocates nothing.
    ///
    /// - Parameter tellsOfReception: whether it says how streams are received, which a participant does under the first
    ///   of its sources alone.
    package func forwardReport(
        from peer: PeerID, synchronizationSource: UInt32, tellsOfReception: Bool = true
    ) -> ForwardingDecision {
        forwarding.decideReport(
            from: peer, synchronizationSource: synchronizationSource, tellsOfReception: tellsOfReception)
    }

    // MARK: Looking

    /// The names of the rooms, sorted.
    package var roomNames: [String] { rooms.keys.sorted() }

    package var roomCount: Int { rooms.count }

    /// Participants in all rooms, those in a break included.
    package var participantCount: Int { participants.count }

    /// Everyone in a room, those in a break included; empty when there is no such room.
    package func roster(ofRoom room: String) -> RoomRoster {
        RoomRoster(members(of: room).compactMap { participants[$0]?.rosterEntry })
    }

    /// Whether nobody is left and nothing is to be sent: the moment to close the socket after `shutDown(now:)`.
    package var isIdle: Bool { participants.isEmpty && connections.values.allSatisfy { !$0.isClosing } }

    func members(of room: String) -> [ParticipantID] { rooms[room]?.members ?? [] }

    // MARK: What the driver polls

    /// The next peer with whose carrier to exchange messages; call until nil.
    mutating func pollOutgoing() -> PeerID? {
        while let peer = outgoing.popFirst() {
            guard connections[peer] != nil else { continue }
            connections[peer]?.isListed = false
            return peer
        }
        return nil
    }

    /// The next peer that is a participant now; call until nil.
    mutating func pollAccepted() -> PeerID? { accepted.popFirst() }

    /// The next peer whose path is to be closed, after the datagrams to it; call until nil.
    package mutating func pollClosing() -> PeerID? { closings.popFirst() }

    /// The next event; call until nil.
    package mutating func pollEvent() -> RoomDirectoryEvent? { events.popFirst() }

    /// The next token to verify; call until nil, and give the verdict to `answer`.
    package mutating func pollVerification() -> VerificationRequest? { verifications.popFirst() }

    /// When to call `handleTimeout` at the latest; nil when there is nothing to wait for.
    package var nextTimeout: Duration? { deadlines.earliest }

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
