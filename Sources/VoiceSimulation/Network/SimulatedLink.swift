/// One direction of a link: datagrams go in with the time of sending and come out with the time of arrival.
///
/// Pure: time comes in, nothing else is read, and one seed and one sequence of calls give the same arrivals on every
/// run. A datagram goes through, in order: the bottleneck's queue, the base delay with its jitter (in order), the
/// route's extra delay and the holding back (which let others overtake), loss, duplication. Each draws from a random
/// stream of its own, as much for each datagram sent whatever becomes of it, so that changing one condition leaves what
/// the others do as it was: with loss, what arrives does so at the times at which it would have without.
///
/// What a datagram is, is the caller's: bytes, or bytes with an address or a header beside them. Keeps a copy of every
/// datagram on its way, in memory that grows with their number; for simulated time or a test's network thread, not for a
/// real-time one.
package struct SimulatedLink<Datagram: Sendable>: Sendable {
    /// A datagram at the far end of the link.
    package struct Delivery: Sendable {
        /// What was sent.
        package let datagram: Datagram
        /// When it was sent.
        package let sentAt: Duration
        /// When it arrived.
        package let arrivedAt: Duration
        /// Counts the datagrams sent on this link, from 0; a duplicate has its original's.
        package let sequence: Int
        /// Whether this is the second copy of a datagram.
        package let isDuplicate: Bool
    }

    private struct Flight: Sendable {
        let datagram: Datagram
        let sentAt: Duration
        let sequence: Int
        let isDuplicate: Bool
    }

    /// IPv4 and UDP headers, which the bottleneck carries too (RFC 791, RFC 768), in bytes.
    private static var headerBytes: Int { 28 }

    /// The conditions that hold now.
    package private(set) var conditions: NetworkConditions
    /// What has happened so far.
    package private(set) var statistics = LinkStatistics()

    private var inFlight = TimedQueue<Flight>()
    private var loss: PacketLossProcess
    private var jitter: JitterProcess
    private var holding: SeededGenerator
    private var copying: SeededGenerator
    private var bottleneckFreeAt: Duration?
    private var lastInOrder: Duration?
    private var latestSend: Duration?
    private var highestDelivered = -1

    /// A perfect link.
    package init(seed: UInt64) {
        conditions = .perfect
        loss = PacketLossProcess(loss: .none, generator: SeededGenerator(seed: seed, stream: "loss"))
        jitter = JitterProcess(.none, seed: seed)
        holding = SeededGenerator(seed: seed, stream: "reordering")
        copying = SeededGenerator(seed: seed, stream: "duplication")
    }

    /// A link under `conditions`; throws when those cannot be simulated.
    package init(_ conditions: NetworkConditions, seed: UInt64) throws(SimulationSettingError) {
        self.init(seed: seed)
        try change(to: conditions)
    }

    /// Datagrams on their way, second copies included.
    package var inFlightCount: Int { inFlight.count }

    /// When the next datagram arrives; nil when none is on its way.
    package var nextArrival: Duration? { inFlight.first?.time }

    /// Changes the conditions for what is sent from now on; what is on its way arrives as it would have.
    package mutating func change(to conditions: NetworkConditions) throws(SimulationSettingError) {
        try conditions.validate()
        jitter.change(to: conditions.jitter)
        loss = PacketLossProcess(loss: conditions.loss, generator: loss.generator, isBad: loss.isBad)
        self.conditions = conditions
    }

    /// Puts a datagram on the link at `now`, which must not run back from call to call.
    ///
    /// - Parameter byteCount: its size without the headers, which is what takes a bottleneck's time.
    package mutating func send(_ datagram: Datagram, byteCount: Int, now: Duration) {
        precondition(now >= latestSend ?? now, "time runs forward")
        latestSend = now
        let sequence = statistics.sent
        statistics.sent += 1
        let queueEnd = max(bottleneckFreeAt ?? now, now)
        let departure = passBottleneck(bytes: byteCount + Self.headerBytes, now: now)
        // All is drawn before anything is decided, so that the streams stay in step.
        let isLost = loss.losesNext()
        let delay = jitter.delay(at: departure ?? queueEnd)
        let (holds, share) = (holding.uniform(), holding.uniform())
        let (copies, copyShare) = (copying.uniform(), copying.uniform())
        guard let departure else {
            statistics.droppedByQueue += 1
            return
        }
        var arrival = travel(from: departure, jitter: delay)
        if let reordering = conditions.reordering, holds < reordering.probability {
            arrival += reordering.hold.at(share)
        }
        guard !isLost else {
            statistics.lost += 1
            return
        }
        let flight = Flight(datagram: datagram, sentAt: now, sequence: sequence, isDuplicate: false)
        inFlight.insert(flight, at: arrival)
        if let duplication = conditions.duplication, copies < duplication.probability {
            statistics.duplicated += 1
            let copy = Flight(datagram: datagram, sentAt: now, sequence: sequence, isDuplicate: true)
            inFlight.insert(copy, at: arrival + duplication.delay.at(copyShare))
        }
    }

    /// The earliest datagram that has arrived at `now` and was not handed out yet; nil when there is none.
    package mutating func receive(now: Duration) -> Delivery? {
        guard let entry = inFlight.popFirst(dueBy: now) else { return nil }
        let flight = entry.element
        statistics.delivered += 1
        if !flight.isDuplicate {
            statistics.reordered += flight.sequence < highestDelivered ? 1 : 0
            highestDelivered = max(highestDelivered, flight.sequence)
        }
        return Delivery(
            datagram: flight.datagram, sentAt: flight.sentAt, arrivedAt: entry.time, sequence: flight.sequence,
            isDuplicate: flight.isDuplicate)
    }

    /// Everything that has arrived at `now` and was not handed out yet, in order of arrival.
    package mutating func poll(until now: Duration) -> [Delivery] {
        var deliveries: [Delivery] = []
        while let delivery = receive(now: now) {
            deliveries.append(delivery)
        }
        return deliveries
    }

    /// When the datagram has left the bottleneck; nil when its queue is full.
    private mutating func passBottleneck(bytes: Int, now: Duration) -> Duration? {
        guard let limit = conditions.rateLimit else { return now }
        let start = max(bottleneckFreeAt ?? now, now)
        let bytesPerSecond = Double(limit.bitsPerSecond) / 8
        let waiting = (start - now) / .seconds(1) * bytesPerSecond
        guard waiting + Double(bytes) <= Double(limit.queueBytes) else { return nil }
        let departure = start + .seconds(Double(bytes) / bytesPerSecond)
        bottleneckFreeAt = departure
        return departure
    }

    private mutating func travel(from departure: Duration, jitter: Duration) -> Duration {
        let queued = departure + conditions.baseDelay + jitter
        let inOrder = max(queued, lastInOrder ?? queued)
        lastInOrder = inOrder
        return inOrder + (conditions.routeSteps.last { $0.time <= departure }?.extraDelay ?? .zero)
    }
}

/// What has happened on a link so far. Every datagram sent is lost, dropped, delivered or still on its way.
package struct LinkStatistics: Equatable, Sendable {
    /// Datagrams given to `send`.
    package var sent = 0
    /// Lost after the bottleneck.
    package var lost = 0
    /// Dropped because the bottleneck's queue was full.
    package var droppedByQueue = 0
    /// Second copies made.
    package var duplicated = 0
    /// Handed out by `receive` or `poll`, second copies included.
    package var delivered = 0
    /// Delivered, as an original, after one that was sent later (RFC 4737 section 3.3, Type-P-Reordered).
    package var reordered = 0
}

extension ClosedRange<Duration> {
    /// What lies so far between the bounds, 0...1.
    fileprivate func at(_ share: Double) -> Duration { lowerBound + (upperBound - lowerBound) * share }
}

extension SimulatedLink<[UInt8]> {
    /// Puts a datagram on the link at `now`, which must not run back from call to call.
    package mutating func send(_ datagram: [UInt8], now: Duration) {
        send(datagram, byteCount: datagram.count, now: now)
    }

    /// Puts a copy of a borrowed datagram on the link at `now`.
    package mutating func send(_ datagram: Span<UInt8>, now: Duration) {
        let copy = unsafe datagram.withUnsafeBufferPointer { unsafe [UInt8]($0) }
        send(copy, now: now)
    }
}

extension SimulatedLink.Delivery: Equatable where Datagram: Equatable {}
