public import VoiceRooms

/// How a room server is set up; fixed at its start.
public struct RoomServerConfiguration: Sendable {
    /// The numeric address to bind to.
    public var host: String
    /// The UDP port; 0 has the system pick one.
    public var port: UInt16
    /// How the ways of the clients are protected.
    public var security: RoomServerSecurity
    /// Whether tokens, messages and audio may cross a network in the clear. Needed for any address beyond loopback.
    public var allowPlaintext: Bool
    /// What the rooms allow.
    public var directory: RoomDirectoryConfiguration
    /// SCHED_FIFO priority of the server's thread, 0 for none.
    public var threadPriority: Int

    /// Describes a server.
    public init(
        host: String = "127.0.0.1", port: UInt16 = 0, security: RoomServerSecurity = .plaintext,
        allowPlaintext: Bool = false,
        directory: RoomDirectoryConfiguration = RoomDirectoryConfiguration(), threadPriority: Int = 0
    ) {
        self.host = host
        self.port = port
        self.security = security
        self.allowPlaintext = allowPlaintext
        self.directory = directory
        self.threadPriority = threadPriority
    }
}

/// How the ways to a room server are protected.
public enum RoomServerSecurity: Equatable, Sendable {
    /// Not at all: loopback, or a network of one's own.
    case plaintext
    /// By DTLS and SRTP, with the certificate from there.
    case protected(ServerIdentitySource)
}

/// Why a room server did not start.
public enum RoomServerError: Error, Equatable, Sendable {
    /// The host is not a numeric address. Remedy: `127.0.0.1`, `::1`, `0.0.0.0` or an address of this machine.
    case invalidAddress(String)
    /// The certificate or its key cannot be had. Remedy: that of the reason.
    case identity(ServerIdentityError)
    /// The address is beyond loopback and plaintext is not allowed. Remedy: protection, or `allowPlaintext` on a
    /// network of yours.
    case plaintextRefused(String)
    /// Another socket has the port. Remedy: another port, or end the other process.
    case portInUse(UInt16)
    /// The process may not bind there. Remedy: a port from 1024 up, or the capability.
    case permissionDenied(UInt16)
    /// The address is not this machine's. Remedy: one that it has.
    case addressNotAvailable(String)
    /// `start` was called before. Remedy: a new server.
    case alreadyStarted
    /// The system refused (`errno`): out of descriptors, threads or memory. Remedy: raise the limits of the process.
    case system(errno: Int32)
}

/// Counters of a room server since its start.
public struct RoomServerStatistics: Equatable, Sendable {
    /// Media packets that came in.
    public var packetsReceived = 0
    /// Copies of media packets that went out.
    public var packetsForwarded = 0
    /// Copies that the system did not take.
    public var packetsNotSent = 0
    /// Media packets dropped because nobody publishes their SSRC from their address.
    public var packetsNotPublished = 0
    /// Media packets dropped because the server has muted their publisher.
    public var packetsMuted = 0
    /// Media packets dropped because their sender sent more than a participant may, and copies of them because all
    /// together sent more than one receives.
    public var packetsOverloaded = 0
    /// Control datagrams dropped as broken or foreign.
    public var rejectedControlDatagrams = 0
    /// Control datagrams of participants dropped unread because too many came from one of them.
    public var controlDatagramsOverloaded = 0
    /// Joins that were refused, each copy counted.
    public var joinsRefused = 0
    /// Joins dropped without a word because too many came: from all, or of one identity; or a
    /// participant came back too often.
    public var joinsOverloaded = 0
    /// Datagrams that are neither media nor control, or longer than 1500 bytes.
    public var unknownDatagrams = 0
    /// The most messages that have waited for one participant: of one who is slow, or has much written to it.
    public var longestQueue = 0
    /// Rooms at present.
    public var rooms = 0
    /// Participants at present, those in a break included.
    public var participants = 0
    /// Allocations on the media path; counted only in processes that are linked with the allocation counter.
    package var mediaAllocations = 0
}
