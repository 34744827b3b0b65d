/// Brings messages over a path that loses, doubles and reorders.
///
/// Sliding window, cumulative acknowledgement, one retransmission timer with doubling, Karn's rule for its samples
/// (RFC 6298). Bounded everywhere: `windowMessages` are in flight, and as many may be held that came too early or are
/// not taken.
struct DatagramCarrier: RoomCarrier, Sendable {
    /// Messages in flight.
    static let windowMessages = 32
    /// Bytes in flight: what a path is sure to take in one burst (ten datagrams, RFC 6928).
    static let windowBytes = 10 * RoomProtocol.datagramLimit
    /// Unsequenced messages that wait for the next datagram, or to be taken; more are dropped, oldest first.
    static let unsequencedLimit = 4

    private struct Sent {
        let sequence: UInt32
        let frame: [UInt8]
        var sentAt: Duration?
        var sentTwice = false
        var isDue = true
    }

    private(set) var estimator: RoundTripEstimator
    private(set) var retransmissions = 0
    private var inFlight: [Sent] = []
    private var bytesInFlight = 0
    private var unsequenced: [[UInt8]] = []
    private var nextSequence: UInt32 = 1
    /// The sequence number that is handed on next.
    private(set) var awaited: UInt32 = 1
    private var early: [UInt32: RoomMessage] = [:]
    private var unsequencedArrivals: [RoomMessage] = []
    /// Whether the other end waits for an acknowledgement.
    private(set) var acknowledgementIsDue = false
    private var retransmitAt: Duration?
    private var backoff = 0

    init(estimator: RoundTripEstimator = RoundTripEstimator()) { self.estimator = estimator }

    /// When `handleTimeout` has something to do.
    var nextTimeout: Duration? { retransmitAt }

    /// Whether all sequence numbers are used up: the path has had its time.
    var isExhausted: Bool { nextSequence == .max }

    /// Whether `nextDatagram` would return one.
    var hasOutput: Bool { acknowledgementIsDue || !unsequenced.isEmpty || inFlight.contains(where: \.isDue) }

    var isDelivered: Bool { inFlight.isEmpty && !acknowledgementIsDue }

    // MARK: Sending

    var hasRoom: Bool {
        inFlight.count < Self.windowMessages && !isExhausted
            && bytesInFlight <= Self.windowBytes - RoomProtocol.datagramLimit
    }

    mutating func send(_ message: RoomMessage) {
        guard message.type.isSequenced else {
            if unsequenced.count == Self.unsequencedLimit { unsequenced.removeFirst() }
            return unsequenced.append(ControlDatagram.Frame(sequence: 0, message: message).encoded())
        }
        let frame = ControlDatagram.Frame(sequence: nextSequence, message: message).encoded()
        inFlight.append(Sent(sequence: nextSequence, frame: frame))
        bytesInFlight += frame.count
        nextSequence += 1
    }

    /// The next datagram to send, nil when there is none now.
    mutating func nextDatagram(now: Duration) -> [UInt8]? {
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

    mutating func measure(_ roundTrip: Duration) { estimator.add(roundTrip) }

    // MARK: Receiving

    /// Takes a datagram, whose messages `next` then gives out. What is not understood changes nothing and is thrown.
    mutating func receive(_ bytes: Span<UInt8>, now: Duration) throws(RoomProtocolError) {
        let datagram = try ControlDatagram(decoding: bytes)
        try acknowledge(datagram.acknowledged, now: now)
        for frame in datagram.frames { hold(frame) }
    }

    /// Everything before `next` has arrived.
    private mutating func acknowledge(_ next: UInt32, now: Duration) throws(RoomProtocolError) {
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

    /// Keeps a message until its turn; it is acknowledged when it has been taken.
    private mutating func hold(_ frame: ControlDatagram.Frame) {
        guard frame.sequence != 0 else {
            if unsequencedArrivals.count == Self.unsequencedLimit { unsequencedArrivals.removeFirst() }
            return unsequencedArrivals.append(frame.message)
        }
        acknowledgementIsDue = true
        guard frame.sequence >= awaited, frame.sequence - awaited < UInt32(Self.windowMessages), frame.sequence < .max
        else { return }
        early[frame.sequence] = frame.message
    }

    var hasNext: Bool { !unsequencedArrivals.isEmpty || early[awaited] != nil }

    mutating func next() -> RoomMessage? {
        guard unsequencedArrivals.isEmpty else { return unsequencedArrivals.removeFirst() }
        guard let next = early.removeValue(forKey: awaited) else { return nil }
        awaited += 1
        acknowledgementIsDue = true
        return next
    }
}
