public import VoiceRooms

/// How a client meets its room; fixed at its start.
public struct RoomClientConfiguration: Sendable {
    /// Whether token, messages and audio may cross a network in the clear. Needed for `udp://` beyond loopback.
    public var allowPlaintext: Bool
    /// The room that is wanted, empty for the token's.
    public var room: String
    /// What to ask for.
    public var capabilities: RoomCapabilities
    /// Whether it comes to talk, or to listen for now; `VoiceEngine.setRole` changes it.
    public var role: RoomRole
    /// Whether its first stream is published with the join, so that media may follow at once. Otherwise after it, a
    /// round trip later; to publish nothing, take `.publish` out of ``capabilities``.
    public var publishing: Bool
    /// Who may interrupt what this client publishes: nobody else, as people in a room want it, or whoever hears it, as
    /// a speaking agent wants it.
    public var interruptibleBy: InterruptionPolicy
    /// SCHED_FIFO priority of the network thread, 0 for none.
    public var threadPriority: Int
    /// How long a look-up of the host name may take.
    public var resolutionTimeout: Duration
    /// Events that may wait for their reader.
    var eventLimit = RoomClient.eventLimit

    /// Describes a client.
    public init(
        allowPlaintext: Bool = false, room: String = "", capabilities: RoomCapabilities = .conversation,
        role: RoomRole = .talker, publishing: Bool = true, interruptibleBy: InterruptionPolicy = .publisher,
        threadPriority: Int = 0, resolutionTimeout: Duration = .seconds(5)
    ) {
        self.allowPlaintext = allowPlaintext
        self.room = room
        self.capabilities = capabilities
        self.role = role
        self.publishing = publishing
        self.interruptibleBy = interruptibleBy
        self.threadPriority = threadPriority
        self.resolutionTimeout = resolutionTimeout
    }
}

/// Why a client's connection is over.
public enum RoomClientEnd: Error, Equatable, Sendable {
    /// The room session ended, by `leave`, a refusal, a time-out or the server.
    case session(RoomSessionEnd)
    /// No such host. Remedy: check the name.
    case unknownHost(String)
    /// No name server answered within `RoomClientConfiguration.resolutionTimeout`. Remedy: check the network.
    case nameServiceUnavailable(String)
    /// Whom to trust cannot be told. Remedy: that of the reason.
    case noTrust(ServerTrustError)
    /// The host is beyond loopback and plaintext is not allowed. Remedy: a server with a certificate, or
    /// `allowPlaintext` on a network of yours.
    case plaintextRefused(String)
    /// The system refused (`errno`): out of descriptors, threads or memory, or no route to the host.
    case system(errno: Int32)
    /// The endpoint's token provider threw, or gave no usable token, at the join. Remedy: ask whoever makes the tokens.
    case tokenUnavailable
    /// `stop` was called.
    case stopped
}

/// What happens to a client, in order.
package enum RoomClientEvent: Equatable, Sendable {
    /// Something in the room. The session's own end is not told here but by `ended`.
    case room(RoomSessionEvent)
    /// A request could not even be sent; `subject` is the stream or participant that it names, 0 for none.
    case requestFailed(RoomRequest, subject: UInt32, RoomSessionError)
    /// So many events were dropped here, because they were read too slowly: messages and interruptions are gone. This
    /// is the grant in force, and who is there now.
    case eventsDropped(Int, JoinGrant, RoomRoster)
    /// It is over; nothing follows.
    case ended(RoomClientEnd)
}

/// Counters of a client since its start.
public struct RoomClientStatistics: Equatable, Sendable {
    /// Media packets that came in and went to the receive ring; W3C `packetsReceived`.
    public var packetsReceived = 0
    /// Bytes of those.
    public var bytesReceived = 0
    /// Media packets that the receive ring had no room for.
    public var packetsDropped = 0
    /// Media packets that went out; W3C `packetsSent`.
    public var packetsSent = 0
    /// Bytes of those.
    public var bytesSent = 0
    /// Media packets that the system did not take.
    public var packetsNotSent = 0
    /// Media packets from the send ring that were made while there was no room to send them to.
    public var packetsDiscarded = 0
    /// Datagrams that are neither media nor control, or longer than 1500 bytes.
    public var unknownDatagrams = 0
    /// Events that were dropped because nobody took them.
    public var droppedEvents = 0
    /// What the control path has to say; `roundTripTime` among it.
    public var session = RoomSessionStatistics()
    /// Sockets opened after the first.
    var socketsOpened = 0
    /// Allocations on the media path; counted only in processes that are linked with the allocation counter.
    var mediaAllocations = 0
}
