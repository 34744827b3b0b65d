/// Brings messages over a path that loses, doubles and reorders: once each and in order.
///
/// Sliding window, cumulative acknowledgement, one retransmission timer with doubling, Karn's rule for its samples
/// (RFC 6298). Bounded everywhere: `windowMessages` are in flight, as many may be held that came too early, and what waits is bounded by
/// ``OutgoingQueue`` and `queueLimit`. A message gets its number when it is sent, so that what waits can still change.
struct ReliableChannel: Sendable {
    /// Messages of one's own that wait for their acknowledgement or their turn.
    static let queueLimit = 2 * RoomProtocol.participantLimit + 64
    /// Messages in flight.
    static let windowMessages = 32
    /// Bytes in flight: what a path is sure to take in one burst (ten datagrams, RFC 6928).
    static let windowBytes = 10 * RoomProtocol.datagramLimit
    /// Unsequenced messages that wait for the next datagram; more are dropped, oldest first.
    static let unsequencedLimit = 4

    private struct Sent {
        let sequence: UInt32
        let message: RoomMessage
        let frame: [UInt8]
        let durableIndex: UInt32?
        var sentAt: Duration?
        var sentTwice = false
        var isDue = true
    }

    private(set) var estimator: RoundTripEstimator
    private(set) var retransmissions = 0
    /// Durable messages numbered so far, those of former paths included.
    var durableCount: UInt32
    private var inFlight: [Sent] = []
    private var bytesInFlight = 0
    private var waiting = OutgoingQueue()
    private var unsequenced: [[UInt8]] = []
    private var nextSequence: UInt32 = 1
    /// The sequence number that is handed on next.
    private(set) var awaited: UInt32 = 1
    private var early: [UInt32: RoomMessage] = [:]
    private var acknowledgementIsDue = false
    private var retransmitAt: Duration?
    private var backoff = 0

    init(estimator: RoundTripEstimator = RoundTripEstimator(), durableCount: UInt32 = 0) {
        self.estimator = estimator
        self.durableCount = durableCount
    }

    /// Messages that wait for their acknowledgement or their turn.
    var pendingCount: Int { inFlight.count + waiting.count }

    /// When `handleTimeout` has something to do.
    var nextTimeout: Duration? { retransmitAt }

    /// Whether all sequence numbers are used up: the path has had its time.
    var isExhausted: Bool { nextSequence == .max }

    /// Whether `nextDatagram` would return one.
    var hasOutput: Bool {
        acknowledgementIsDue || !unsequenced.isEmpty || (!waiting.isEmpty && mayFly)
            || inFlight.contains(where: \.isDue)
    }

    // MARK: Sending

    /// Takes a message for delivery; false when its sender's share of the queue is full. What is firm stays as it is until it is sent.
    mutating func enqueue(_ message: RoomMessage, isFirm: Bool = false) -> Bool {
        if message.type.rawValue < MessageType.joined.rawValue, pendingCount >= Self.queueLimit { return false }
        return !isExhausted && waiting.append(message, isFirm: isFirm)
    }

    /// Takes the news that a participant has gone, with its streams.
    mutating func enqueue(departureOf participant: ParticipantID, _ reason: LeaveReason, streams: [StreamID]) {
        waiting.append(departureOf: participant, reason, streams: streams)
    }

    /// Takes an unsequenced message, which goes out once.
    mutating func enqueueUnsequenced(_ message: RoomMessage) {
        if unsequenced.count == Self.unsequencedLimit { unsequenced.removeFirst() }
        unsequenced.append(ControlDatagram.Frame(sequence: 0, message: message).encoded())
    }

    /// The next datagram to send, nil when there is none now.
    mutating func nextDatagram(now: Duration) -> [UInt8]? {
        while mayFly, let message = waiting.popFirst() { fly(message) }
        guard hasOutput else { return nil }
        var writer = ByteWriter()
        writer.write(awaited)
        acknowledgementIsDue = false
        for frame in unsequenced { writer.append(frame) }
        unsequenced.removeAll()
        for index in inFlight.indices where inFlight[index].isDue {
            guard writer.bytes.count + inFlight[index].frame.count <= RoomProtocol.datagramLimit else { break }
            writer.append(inFlight[index].frame)
            if inFlight[index].sentAt != nil {
                inFlight[index].sentTwice = true
                retransmissions += 1
            }
            inFlight[index].sentAt = now
            inFlight[index].isDue = false
            if retransmitAt == nil { retransmitAt = now + retransmissionTime }
        }
        return writer.bytes
    }

    /// Whether one more message may be in flight, however long it is.
    private var mayFly: Bool {
        inFlight.count < Self.windowMessages && !isExhausted
            && bytesInFlight <= Self.windowBytes - RoomProtocol.datagramLimit
    }

    /// Gives a message its numbers.
    private mutating func fly(_ message: RoomMessage) {
        if message.isDurable { durableCount &+= 1 }
        let frame = ControlDatagram.Frame(sequence: nextSequence, message: message).encoded()
        inFlight.append(
            Sent(
                sequence: nextSequence, message: message, frame: frame,
                durableIndex: message.isDurable ? durableCount : nil))
        bytesInFlight += frame.count
        nextSequence += 1
    }

    private var retransmissionTime: Duration {
        min(estimator.retransmissionTime * (1 << min(backoff, 8)), RoomTimers.maximumRetransmission)
    }

    /// Makes what is in flight due again when its time has come.
    mutating func handleTimeout(now: Duration) {
        guard let due = retransmitAt, now >= due else { return }
        retransmitAt = nil
        backoff += 1
        for index in inFlight.indices where inFlight[index].sentAt != nil { inFlight[index].isDue = true }
    }

    /// Gives up what has not been sent or acknowledged; acknowledgements still go out.
    mutating func discardQueue() {
        inFlight = []
        bytesInFlight = 0
        waiting = OutgoingQueue()
        retransmitAt = nil
    }

    // MARK: Receiving

    /// Takes the peer's acknowledgement: everything before `next` has arrived there.
    mutating func acknowledge(_ next: UInt32, now: Duration) throws(RoomProtocolError) {
        guard next <= nextSequence else { throw .invalidAcknowledgement }
        let arrived = inFlight.prefix { $0.sequence < next }
        guard let last = arrived.last else { return }
        guard let sentAt = last.sentAt else { throw .invalidAcknowledgement }
        if !last.sentTwice { estimator.add(now - sentAt) }
        bytesInFlight -= arrived.reduce(0) { $0 + $1.frame.count }
        inFlight.removeFirst(arrived.count)
        backoff = 0
        retransmitAt = inFlight.contains { $0.sentAt != nil } ? now + retransmissionTime : nil
    }

    /// Takes a round trip that was measured by a keepalive.
    mutating func measure(_ roundTrip: Duration) { estimator.add(roundTrip) }

    /// Takes a sequenced message and gives out those whose turn has come, in order.
    mutating func accept(_ frame: ControlDatagram.Frame) -> [RoomMessage] {
        hold(frame)
        var inOrder: [RoomMessage] = []
        while let message = takeNext() { inOrder.append(message) }
        return inOrder
    }

    /// Takes a sequenced message; it is acknowledged when `takeNext` has given it out.
    mutating func hold(_ frame: ControlDatagram.Frame) {
        acknowledgementIsDue = true
        guard frame.sequence >= awaited, frame.sequence - awaited < UInt32(Self.windowMessages), frame.sequence < .max
        else { return }
        early[frame.sequence] = frame.message
    }

    /// Gives out the message whose turn it is.
    mutating func takeNext() -> RoomMessage? {
        guard let next = early.removeValue(forKey: awaited) else { return nil }
        awaited += 1
        acknowledgementIsDue = true
        return next
    }

    // MARK: Resuming

    /// Takes the durable messages that are not yet acknowledged, oldest first, with their numbers; those never sent have the numbers that they
    /// would have got.
    mutating func takeDurable() -> [DurableMessage] {
        var backlog = inFlight.compactMap { sent in
            sent.durableIndex.map { DurableMessage(index: $0, message: sent.message) }
        }
        for message in waiting.takeDurable() {
            durableCount &+= 1
            backlog.append(DurableMessage(index: durableCount, message: message))
        }
        discardQueue()
        return backlog
    }
}

/// A message that survives a change of path, counted so that it is handled once.
struct DurableMessage: Sendable {
    let index: UInt32
    let message: RoomMessage
}

extension RoomMessage {
    /// Whether it survives a change of path: what participants ask for, and what they are told that no roster tells.
    var isDurable: Bool {
        switch type {
        case .message, .interrupted, .requestRefused: true
        // A rejoin brings the newest token.
        case .renew: false
        default: RoomRequest(rawValue: type.rawValue) != nil
        }
    }
}
