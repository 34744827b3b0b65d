/// Brings the messages of one association over a channel that loses, doubles and reorders: once each and in order.
///
/// Sliding window, cumulative acknowledgement, one retransmission timer with doubling, Karn's rule for its samples
/// (RFC 6298). Bounded everywhere: `queueLimit` messages wait, `windowMessages` of them are in flight, and as many may
/// be held that came too early.
struct ReliableChannel: Sendable {
    /// Messages waiting for their acknowledgement or their turn: a full room's roster, as many durable messages, and
    /// some room for what changes meanwhile.
    static let queueLimit = 2 * RoomProtocol.participantLimit + 64
    /// Messages in flight.
    static let windowMessages = 32
    /// Bytes in flight: what a path is sure to take in one burst (ten datagrams, RFC 6928).
    static let windowBytes = 10 * RoomProtocol.datagramLimit
    /// Unsequenced messages that wait for the next datagram; more are dropped, oldest first.
    static let unsequencedLimit = 4

    private struct Outgoing {
        let sequence: UInt32
        let message: RoomMessage
        let frame: [UInt8]
        let durableIndex: UInt32?
        var sentAt: Duration?
        var sentTwice = false
        var isDue = true
    }

    let association: UInt64
    private(set) var estimator: RoundTripEstimator
    private(set) var retransmissions = 0
    private var queue: [Outgoing] = []
    private var unsequenced: [[UInt8]] = []
    private var nextSequence: UInt32 = 1
    private var awaited: UInt32 = 1
    private var early: [UInt32: RoomMessage] = [:]
    private var acknowledgementIsDue = false
    private var retransmitAt: Duration?
    private var backoff = 0

    init(association: UInt64, estimator: RoundTripEstimator = RoundTripEstimator()) {
        self.association = association
        self.estimator = estimator
    }

    /// Messages that wait for their acknowledgement or their turn.
    var pendingCount: Int { queue.count }

    /// When `handleTimeout` has something to do.
    var nextTimeout: Duration? { retransmitAt }

    /// Whether `nextDatagram` would return one.
    var hasOutput: Bool {
        acknowledgementIsDue || !unsequenced.isEmpty || window.contains { queue[$0].isDue }
    }

    // MARK: Sending

    /// Takes a message for delivery; false when `queueLimit` is reached. `durableIndex` is what a rejoin resumes by.
    mutating func enqueue(_ message: RoomMessage, durableIndex: UInt32? = nil) -> Bool {
        guard queue.count < Self.queueLimit, nextSequence < .max else { return false }
        let frame = ControlDatagram.Frame(sequence: nextSequence, message: message).encoded()
        queue.append(
            Outgoing(sequence: nextSequence, message: message, frame: frame, durableIndex: durableIndex))
        nextSequence += 1
        return true
    }

    /// Takes an unsequenced message, which goes out once.
    mutating func enqueueUnsequenced(_ message: RoomMessage) {
        if unsequenced.count == Self.unsequencedLimit { unsequenced.removeFirst() }
        unsequenced.append(ControlDatagram.Frame(sequence: 0, message: message).encoded())
    }

    /// The next datagram to send, nil when there is none now.
    mutating func nextDatagram(now: Duration) -> [UInt8]? {
        guard hasOutput else { return nil }
        var writer = ByteWriter()
        ControlDatagram.writeHeader(association: association, acknowledged: awaited, into: &writer)
        acknowledgementIsDue = false
        for frame in unsequenced { writer.append(frame) }
        unsequenced.removeAll()
        for index in window where queue[index].isDue {
            guard writer.bytes.count + queue[index].frame.count <= RoomProtocol.datagramLimit else { break }
            writer.append(queue[index].frame)
            if queue[index].sentAt != nil {
                queue[index].sentTwice = true
                retransmissions += 1
            }
            queue[index].sentAt = now
            queue[index].isDue = false
            if retransmitAt == nil { retransmitAt = now + retransmissionTime }
        }
        return writer.bytes
    }

    /// The messages that may be in flight.
    private var window: Range<Int> {
        var bytes = 0
        var end = 0
        while end < min(queue.count, Self.windowMessages), bytes + queue[end].frame.count <= Self.windowBytes {
            bytes += queue[end].frame.count
            end += 1
        }
        return 0..<end
    }

    private var retransmissionTime: Duration {
        min(estimator.retransmissionTime * (1 << min(backoff, 8)), RoomTimers.maximumRetransmission)
    }

    /// Makes what is in flight due again when its time has come.
    mutating func handleTimeout(now: Duration) {
        guard let due = retransmitAt, now >= due else { return }
        retransmitAt = nil
        backoff += 1
        for index in queue.indices where queue[index].sentAt != nil { queue[index].isDue = true }
    }

    /// Gives up what has not been sent or acknowledged; acknowledgements still go out.
    mutating func discardQueue() {
        queue = []
        retransmitAt = nil
    }

    // MARK: Receiving

    /// Takes the peer's acknowledgement: everything before `next` has arrived there.
    mutating func acknowledge(_ next: UInt32, now: Duration) throws(RoomProtocolError) {
        guard next <= nextSequence else { throw .invalidAcknowledgement }
        let arrived = queue.prefix { $0.sequence < next }
        guard let last = arrived.last else { return }
        guard let sentAt = last.sentAt else { throw .invalidAcknowledgement }
        if !last.sentTwice { estimator.add(now - sentAt) }
        queue.removeFirst(arrived.count)
        backoff = 0
        retransmitAt = queue.contains { $0.sentAt != nil } ? now + retransmissionTime : nil
    }

    /// Takes a round trip that was measured by a keepalive.
    mutating func measure(_ roundTrip: Duration) { estimator.add(roundTrip) }

    /// Takes a sequenced message and gives out those whose turn has come, in order.
    mutating func accept(_ frame: ControlDatagram.Frame) -> [RoomMessage] {
        acknowledgementIsDue = true
        guard frame.sequence >= awaited, frame.sequence - awaited < UInt32(Self.windowMessages), frame.sequence < .max
        else { return [] }
        early[frame.sequence] = frame.message
        var inOrder: [RoomMessage] = []
        while let next = early.removeValue(forKey: awaited) {
            inOrder.append(next)
            awaited += 1
        }
        return inOrder
    }

    // MARK: Resuming

    /// The durable messages not yet acknowledged, oldest first, with their indices.
    var durableBacklog: [DurableMessage] {
        queue.compactMap { entry in
            entry.durableIndex.map { DurableMessage(index: $0, message: entry.message) }
        }
    }
}

/// A message that survives a change of association, counted so that it is handled once.
struct DurableMessage: Sendable {
    let index: UInt32
    let message: RoomMessage
}
