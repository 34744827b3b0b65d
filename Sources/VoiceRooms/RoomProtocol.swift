/// The constants of the room protocol; docs/protocol.md is normative and names each of them.
package enum RoomProtocol {
    /// The RTP payload type of Opus.
    package static let payloadType: UInt8 = 111

    /// The RTP payload type of Opus that repeats earlier packets (RFC 2198).
    package static let redundantPayloadType: UInt8 = 112

    /// The protocol versions that this build speaks.
    package static let versions: ClosedRange<UInt8> = 7...7

    /// Bytes in a control datagram at most. With the 37 bytes of a DTLS record and 48 of UDP over IPv6 it fits every
    /// IPv6 path: 1280 bytes (RFC 8200 section 5).
    package static let datagramLimit = 1180

    /// Bytes of what is looked at of the network, at most: more fit into no datagram of an Ethernet's.
    static let longestDatagram = 1500

    /// Frames in a control datagram at most: a whole window of sequenced messages, and four that are not sequenced.
    package static let frameLimit = 36

    /// Bytes of an access token at most; leaves room in one datagram for the rest of `join`.
    package static let tokenLimit = 1000

    /// Bytes of UTF-8 in a room name, an identity or a display name, at most.
    package static let textLimit = 128

    /// Bytes of UTF-8 in the name of a stream, at most.
    package static let streamNameLimit = 64

    /// Bytes of an application message at most.
    package static let messageLimit = 1024

    /// Participants of a room at most; a server may set less.
    package static let participantLimit = 256

    /// Streams of a participant at most.
    package static let streamLimit = 4
}

/// The timers of the room protocol that both ends must agree on; docs/protocol.md lists them.
public enum RoomTimers {
    /// A client without an answer to its `join` gives up after this.
    package static let joinTimeout: Duration = .seconds(10)

    /// A client pings this often, unless the server's `joined` names another interval.
    public static let keepaliveInterval: Duration = .seconds(2)

    /// No server names a shorter interval, and a client keeps to this where one does: it would ping, and begin breaks,
    /// without end.
    static let shortestKeepalive: Duration = .milliseconds(100)

    /// A peer not heard for this long is taken for gone, and the break begins. Three keepalives.
    package static let silenceLimit: Duration = .seconds(6)

    /// A break may last this long; after it the participant has left.
    public static let breakWindow: Duration = .seconds(30)

    /// While reconnecting, a client starts afresh, by a path of its own from a fresh socket, when an attempt has not
    /// ended in three keepalives, and not sooner than this: a join that is lost once still has its time.
    package static let shortestAttempt: Duration = .seconds(1)

    /// However often somebody says that the server does not know a client, it doubts a path no more often than this:
    /// whoever can forge the server's address has it use up little of what it may send, and a path is not given up
    /// because all that asked was lost, as would happen once in so many times.
    static let doubtInterval: Duration = .seconds(1)

    /// A path that the server has closed before the client was in is tried again after this, and then later and later.
    static let shortestRetry: Duration = .milliseconds(250)

    /// But never later than this.
    static let longestRetry: Duration = .seconds(2)

    /// Where a client was not let in last, it takes the server's next address, if there is one, when nothing has come
    /// for this long: four of them have their turn before a join gives up, and one that is dead takes little of a break.
    static let addressTime: Duration = .seconds(2)

    /// There it takes another path, too, when nothing has come for this long in a handshake that was answered: a server
    /// that was restarted meanwhile knows nothing of it. A flight is repeated four times by then, and a join has three
    /// tries.
    static let handshakeSilence: Duration = .seconds(3)

    /// A client waits this long for the acknowledgement of its `leave`, a server for that of its `removed`.
    package static let closingTime: Duration = .seconds(2)

    /// First retransmission of an unacknowledged message while no round trip has been measured.
    package static let initialRetransmission: Duration = .milliseconds(200)

    /// Retransmissions are never closer than this.
    package static let minimumRetransmission: Duration = .milliseconds(100)

    /// Doubling stops here: at 30 % loss each way a join then fails its 10 s about once in 100 000.
    package static let maximumRetransmission: Duration = .seconds(1)
}
