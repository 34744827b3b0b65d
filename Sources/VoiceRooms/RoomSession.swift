internal import VoicePeers
internal import VoiceQueue

/// A client's stay in a room, as a state machine without clock, socket or random source.
///
///     idle --join--> joining --joined + roster--> joined --leave--> leaving --ack--> ended
///                       |  ^                        |  ^
///                  refused, 10 s       silence 6 s  v  |  joined
///                       v         path closed, restart reconnecting --30 s, refused--> ended
///                     ended
///
/// It speaks over a path to the server that somebody else keeps: ``RoomGuest``. Each attempt to come in or back wants a
/// path of its own: when `path` has changed, the driver makes a new one. It has the session exchange messages with the
/// path's ``RoomCarrier`` (`exchange`), tells what became of the path (`pathClosed`, `pathDoubted`) and the time
/// (`handleTimeout(now:)`), then empties `pollEvent()`, and sleeps until `nextTimeout`. `now` is the time since any
/// fixed instant, and never goes back. Not thread-safe; one owner. Nothing blocks. Allocates: for the control path
/// only, never per media packet.
package struct RoomSession: Sendable {
    /// Where the session stands.
    package var state: RoomSessionState { stage.state }
    /// Everyone in the room, oneself among them; complete from `RoomSessionEvent.joined` on.
    package internal(set) var roster = RoomRoster()
    /// The grant in force, nil before the join.
    package internal(set) var grant: JoinGrant?

    /// The next join.
    var request: JoinRequest
    /// Where it stands, with what is so only there.
    var stage = RoomSessionStage.idle
    var outbox = Outbox()
    var roundTrips = RoundTripEstimator()
    var events = FIFOQueue<RoomSessionEvent>()
    var counters = RoomSessionStatistics()

    /// How long to wait after the next path that closes.
    var retryPause = RoomTimers.shortestRetry
    /// What was last doubted of the path.
    var doubt: PathDoubt?
    /// The token of this path's join, and the last that the server has judged.
    var sentToken: [UInt8] = []
    var judgedToken: [UInt8] = []
    var tokenClock = TokenClock()

    /// Whether the driver can get a new token: then it is asked for one before the old one is over, by
    /// ``RoomSessionEvent/tokenExpiring``, and one that is refused at a rejoin, because it has expired or its key was
    /// changed, is no end but ``RoomSessionEvent/tokenRefused(_:)``. Either is to be answered by ``renew(token:now:)``
    /// or ``cannotRenewToken()``.
    package var canRenewToken = false

    var lastHeard: Duration = .zero
    /// The ping that went last, or has yet to go out, and the first since the last answer; nil where none is awaited.
    var lastPing: (first: UInt64, microseconds: UInt64, isDue: Bool)?

    /// Requests that are kept until the server has handled them; more are refused to the application.
    static let queueLimit = 576

    /// A session that will join the room of `token`.
    ///
    /// - Parameters:
    ///   - token: the access token, at most 1000 bytes.
    ///   - room: the room that is wanted, or empty for the token's.
    ///   - capabilities: what to ask for.
    ///   - publishing: who may interrupt the first stream of the grant, which is then published with the join; nil to
    ///     publish later.
    package init(
        token: [UInt8], room: String = "", capabilities: RoomCapabilities = .conversation, role: RoomRole = .talker,
        publishing: InterruptionPolicy? = nil
    ) throws(RoomSessionError) {
        guard token.count <= RoomProtocol.tokenLimit else { throw .tokenTooLong }
        guard room.utf8.count <= RoomProtocol.textLimit else { throw .roomNameTooLong }
        request = JoinRequest(
            capabilities: capabilities, role: role, room: room, token: token, publishing: publishing)
    }

    /// Counts the paths. A driver opens a fresh socket for each: the one before is bound to a local address that may
    /// have gone with its network.
    package internal(set) var path: UInt32 = 1

    /// Counters since the start.
    package var statistics: RoomSessionStatistics {
        var statistics = counters
        statistics.roundTripTime = roundTrips.smoothed
        statistics.usualRoundTripTime = roundTrips.usual
        return statistics
    }

    // MARK: What the application asks for

    /// Starts the join.
    package mutating func join(now: Duration) throws(RoomSessionError) {
        guard case .idle = stage else { throw .alreadyStarted }
        stage = .arriving(RoomArrival(deadline: now + RoomTimers.joinTimeout, joinIsDue: true))
        lastHeard = now
    }

    /// Asks the room for something: a message that has a ``RoomMessage/request``. What becomes of it is told by events.
    /// Of what is told of hearing, only the latest of each stream is sent.
    ///
    /// - Parameter stay: the secret of the grant that it is meant for: in another stay it is given up, as what the
    ///   server had not handled before; nil where it is meant for whatever stay there is.
    package mutating func ask(_ message: RoomMessage, in stay: RejoinSecret? = nil) throws(RoomSessionError) {
        precondition(message.request != nil, "only requests are asked")
        guard stay == nil || stay == grant?.secret else {
            return abandon(1, ofApplication: message.isOfApplication ? 1 : 0)
        }
        if case .send(_, _, let bytes) = message, bytes.count > RoomProtocol.messageLimit { throw .messageTooLong }
        if case .publish(_, _, let name) = message, name.utf8.count > RoomProtocol.streamNameLimit {
            throw .streamNameTooLong
        }
        switch state {
        case .joined, .reconnecting: try append(message)
        case .idle, .joining, .leaving, .ended: throw .notJoined
        }
    }

    /// Has the next join ask for this: a server that does not know the client any more is to have it as it wants to be.
    package mutating func rejoin(as entrance: RoomEntrance) {
        request.role = entrance.role
        request.publishing = entrance.publishing
    }

    /// Leaves the room. `RoomSessionEvent.ended` comes after the acknowledgement, or after `RoomTimers.closingTime`.
    package mutating func leave(now: Duration) {
        switch state {
        case .joined:
            _ = outbox.append(.leave)
            stage = .leaving(deadline: now + RoomTimers.closingTime)
        case .idle, .joining, .reconnecting: end(.left(acknowledged: false))
        case .leaving, .ended: break
        }
    }

    // MARK: The token

    /// Gives a new token: for the stay, which then lasts as long as the token, for the rejoin that waits for it, and
    /// for those to come.
    package mutating func renew(token: [UInt8], now: Duration) throws(RoomSessionError) {
        guard token.count <= RoomProtocol.tokenLimit else { throw .tokenTooLong }
        request.token = token
        switch stage {
        case .joined: try append(.renew(token: token))
        case .arriving(var arrival):
            guard let before = arrival.comeback?.token else { return }
            arrival.comeback?.token = .fresh
            stage = .arriving(arrival)
            if case .refused = before { attempt(now: now) }
        case .idle, .leaving, .ended: break
        }
    }

    /// There will be no new token: a rejoin that waits for one ends with the refusal.
    package mutating func cannotRenewToken() {
        guard case .arriving(let arrival) = stage,
            case .refused(let refusal, let versions)? = arrival.comeback?.token
        else { return }
        end(.refused(refusal, serverVersions: versions))
    }

    /// Gives up requests that were meant for another stay.
    mutating func abandon(_ count: Int, ofApplication messages: Int) {
        counters.abandonedMessages += count
        if messages > 0 { events.append(.messagesDropped(messages)) }
    }

    private mutating func append(_ message: RoomMessage) throws(RoomSessionError) {
        guard outbox.count < Self.queueLimit, outbox.append(message) else { throw .queueFull }
    }

    // MARK: What the driver polls

    /// Whether it is over.
    var hasEnded: Bool { if case .ended = stage { true } else { false } }

    /// The next event; call until nil.
    package mutating func pollEvent() -> RoomSessionEvent? {
        events.popFirst()
    }

    /// When to call `handleTimeout` at the latest; nil when there is nothing to wait for.
    package var nextTimeout: Duration? {
        switch stage {
        case .idle, .ended: nil
        case .arriving(let arrival):
            earliest(arrival.deadline, arrival.comeback?.attemptEnds, arrival.retryAt, doubt?.asksAt, doubt?.ends)
        case .joined(_, let nextPing):
            earliest(
                lastHeard + silenceLimit, nextPing, doubt?.asksAt, doubt?.ends,
                canRenewToken ? tokenClock.asksAt : nil)
        case .leaving(let deadline): earliest(deadline, doubt?.asksAt, doubt?.ends)
        }
    }

    /// As the grant sets it, where that is not too short.
    var keepaliveInterval: Duration {
        max(grant?.keepaliveInterval ?? RoomTimers.keepaliveInterval, RoomTimers.shortestKeepalive)
    }

    /// After which time a ping that is not answered is repeated: a network loses some, and three intervals without an
    /// answer are a break.
    var pingPatience: Duration {
        let patience = max(keepaliveInterval / 4, RoomTimers.shortestKeepalive, (roundTrips.smoothed ?? .zero) * 2)
        return min(patience, keepaliveInterval)
    }

    /// Three keepalives.
    var silenceLimit: Duration { keepaliveInterval * 3 }

    /// As long as a silence that begins a break.
    var attemptTime: Duration { max(silenceLimit, RoomTimers.shortestAttempt) }

    mutating func end(_ reason: RoomSessionEnd) {
        guard !hasEnded else { return }
        stage = .ended(reason)
        outbox = Outbox()
        events.append(.ended(reason))
    }
}

/// The earliest of the timers that are set.
func earliest(_ timers: Duration?...) -> Duration? { timers.compactMap { $0 }.min() }
