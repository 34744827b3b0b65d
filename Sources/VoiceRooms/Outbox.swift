internal import VoicePeers
internal import VoiceQueue

/// What one end has to tell the other, whatever carriers come and go.
///
///     append ─► queue: what waits may still change ─► next ─┬─► carrier
///                                                           └─ durable: log, until the other end says that it has handled it
///     a carrier dies ─► news are dropped ─► another comes: roster, then the log from where the other end is, then the queue
///
/// Each end counts the durable messages of the other that it has handled, and tells so by `handled`: it is no
/// acknowledgement of a carrier, so the next carrier may be of another kind. Bounded: the log by `logLimit`, beyond
/// which everything waits in the queue; that by ``OutgoingQueue``.
struct Outbox: Sendable {
    /// Durable messages that were sent and are not known to be handled.
    static let logLimit = 64
    /// `handled` is told after so many, a quarter of the log, and with each keepalive.
    static let untoldLimit: UInt32 = 16

    private var opening = FIFOQueue<RoomMessage>()
    private var queue = OutgoingQueue()
    private var log: [RoomMessage] = []
    /// How many of the log the present carrier has been given.
    private var given = 0
    /// How many durable messages the other end has handled, so far as it has told: those before the log.
    private var handledThere: UInt32 = 0
    /// How many of the other end's were handled here, and how many it knows of.
    private(set) var handledHere: UInt32 = 0
    private var told: UInt32 = 0
    private var tellsNow = false

    /// Messages that wait for a carrier.
    var waitingCount: Int { opening.count + log.count - given + queue.count }
    /// Those behind what is under way, which may still change.
    var queuedCount: Int { queue.count }
    /// Messages that are kept.
    var count: Int { opening.count + log.count + queue.count }
    /// Those of this end's application. The other end may have handled some of them, and not told yet.
    var applicationMessages: Int { log.count(where: \.isOfApplication) + queue.applicationMessages }

    // MARK: In

    /// Takes a message; false when its sender's share of the queue is full.
    mutating func append(_ message: RoomMessage) -> Bool { queue.append(message) }

    /// Takes the news that a participant has gone, with its streams.
    mutating func append(departureOf participant: ParticipantID, _ reason: LeaveReason, streams: [StreamID]) {
        queue.append(departureOf: participant, reason, streams: streams)
    }

    // MARK: Out

    /// The next message for the carrier.
    mutating func next() -> RoomMessage? {
        if let message = opening.popFirst() { return message }
        // Before whatever waits for the other end to tell the same.
        if handledHere != told, tellsNow || handledHere &- told >= Self.untoldLimit {
            (told, tellsNow) = (handledHere, false)
            return .handled(count: handledHere)
        }
        if given < log.count {
            given += 1
            return log[given - 1]
        }
        guard log.count < Self.logLimit, let message = queue.popFirst() else { return nil }
        if message.isDurable {
            log.append(message)
            given += 1
        }
        return message
    }

    // MARK: What has been handled

    /// Counts a message of the other end that has been handled.
    mutating func countHandled(_ message: RoomMessage) {
        if message.isDurable { handledHere &+= 1 }
    }

    /// Has the other end told by the next message what was handled.
    mutating func tellHandled() { tellsNow = true }

    /// Takes the other end's count.
    mutating func takeHandled(_ count: UInt32) throws(RoomProtocolError) {
        guard count &- handledThere <= UInt32(given) else { throw .invalidValue }
        trim(to: count)
    }

    private mutating func trim(to count: UInt32) {
        let handled = Int(count &- handledThere)
        log.removeFirst(handled)
        given -= handled
        handledThere = count
    }

    // MARK: Carriers

    /// The carrier is gone: forgets what a whole roster tells.
    mutating func interrupt() {
        opening = FIFOQueue()
        queue.keepDurable()
    }

    /// The stay is over: nothing more is to be told.
    mutating func discard() {
        opening = FIFOQueue()
        queue = OutgoingQueue()
        given = log.count
    }

    /// Whether the other end can have handled so many.
    func canResume(at count: UInt32) -> Bool { count &- handledThere <= UInt32(log.count) }

    /// Another carrier is there, and the other end has handled so many, as only `canResume` allows: the rest is sent
    /// again, after what opens the stay.
    mutating func resume(at count: UInt32, opening messages: [RoomMessage] = []) {
        given = log.count
        trim(to: count)
        given = 0
        // `join` and `joined` have told it.
        (told, tellsNow) = (handledHere, false)
        for message in messages { opening.append(message) }
    }
}

extension RoomMessage {
    /// Whether it survives a change of carrier: what participants ask for, and what they are told that no roster tells.
    var isDurable: Bool {
        switch type {
        case .message, .interrupted, .generationStarted, .requestRefused, .subscriptionChanged: true
        // A rejoin brings the newest token, and what was heard is told again.
        case .renew, .tellHeard: false
        default: request != nil
        }
    }

    /// Whether an application sends it, and nobody sends it again when it is lost.
    var isOfApplication: Bool { if case .send(_, .application, _) = self { true } else { false } }
}
