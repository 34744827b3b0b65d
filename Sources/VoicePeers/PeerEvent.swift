/// What became of a datagram that ``PeerTable/receive(_:from:now:)`` was given.
package enum Received: Equatable, Sendable {
    /// Media of a peer: the first `count` bytes are the packet, without protection; of this sender.
    case media(PeerID, count: Int, MediaKind, ssrc: UInt32)
    /// A peer has control to give out: ``PeerTable/pollControl(of:into:)``.
    case control(PeerID)
    /// The first `count` bytes are to be sent back to where it came from. Never longer than it was.
    case answer(count: Int)
    /// It was the table's own.
    case consumed
    /// Nothing is to be done.
    case dropped(DropReason)
}

/// Why a datagram was dropped.
package enum DropReason: Sendable, CaseIterable {
    /// Of no protocol that is spoken here, or too short to tell.
    case unknownKind
    /// From an address that is no peer's, and not the beginning of a conversation.
    case stranger
    /// Not what the peer has sent, or sent before.
    case notGenuine
    /// Too many conversations begin at once, from everywhere or from one network, or the table is full.
    case overloaded
    /// More media than one peer may send.
    case tooMuch
}

/// What happened to a peer, in order.
package enum PeerEvent: Equatable, Sendable {
    /// Control and media pass.
    case opened(PeerID)
    /// It has control to give out that had waited for its turn: ``PeerTable/pollControl(of:into:)``.
    case spoke(PeerID)
    /// Its packets come from another address now, and go there.
    case moved(PeerID, to: EndpointAddress)
    /// Someone at the peer's address says that it does not know this side. Anyone who can forge that address can say
    /// so: ask the peer.
    case doubted(PeerID)
    /// A doubted peer has shown that it knows this path: see ``PeerTable/follow(_:_:now:)``.
    case confirmed(PeerID)
    /// It is over; the identity names nobody any more.
    case closed(PeerID, PeerClosing)
}

/// Counters of a table since its start.
package struct PeerTableStatistics: Equatable, Sendable {
    /// Conversations that began, with a cookie.
    package var admitted = 0
    /// Cookies asked for.
    package var cookies = 0
    /// Conversations that could not begin because of too many.
    package var overloaded = 0
    /// Datagrams that are of nobody, or not genuine.
    package var dropped = 0
}

/// The times of a table.
package enum PeerTimers {
    /// From a peer's first datagram until the caller has accepted it at most: ten seconds of repetitions. A handshake
    /// that takes longer is given up.
    package static let handshake: Duration = .seconds(10)
    /// A handshake repeats what was not answered this often. Not later and later: who comes back has two seconds
    /// between two outages, the records are few, and a handshake gives up after ``handshake``.
    package static let retransmission: Duration = .milliseconds(200)
}

/// How much strangers can have a table do; see ``HandshakeBudget`` too.
package enum PeerLimits {
    /// Questions for a cookie that a client answers at once on one path. A server asks again where it was started anew
    /// in between; whoever asks without end gets no more than this.
    package static let cookieAnswers = 8
    /// Peers that the caller has not accepted yet, at most; each has 42 kB with DTLS. The oldest goes for one more: at
    /// 400 handshakes a second after 2.5 s, which is time for the two round trips of a handshake and a join.
    static let unaccepted = 1024
}
