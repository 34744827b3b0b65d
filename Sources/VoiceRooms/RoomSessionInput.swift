package import VoicePeers
internal import VoiceQueue

// What reaches a session from outside: messages and the passing of time.

extension RoomSession {
    /// Takes the passing of time. Cheap when nothing is due.
    package mutating func handleTimeout(now: Duration) {
        if isDue(doubt?.asksAt, now) {
            doubt?.ask(now: now)
            ping(now: now)
        }
        switch stage {
        case .idle, .ended: return
        case .arriving(let arrival):
            if now >= arrival.deadline { return giveUp(arrival) }
            let next = earliest(arrival.retryAt, arrival.comeback?.attemptEnds, doubt?.ends)
            if isDue(next, now) { attempt(now: now) }
        case .joined(_, let nextPing):
            if now >= lastHeard + silenceLimit || isDue(doubt?.ends, now) { return reconnect(now: now) }
            if now >= nextPing { ping(now: now) }
            if canRenewToken, tokenClock.takeDue(now: now) { events.append(.tokenExpiring) }
        case .leaving(let deadline):
            if now >= deadline || isDue(doubt?.ends, now) { end(.left(acknowledged: false)) }
        }
    }

    private func isDue(_ time: Duration?, _ now: Duration) -> Bool { time.map { now >= $0 } ?? false }

    /// Takes a sign of life of the server.
    mutating func heard(now: Duration) {
        lastHeard = now
        doubt?.ends = nil
    }

    /// Takes the messages that the path's carrier brings, and gives it those that wait.
    mutating func exchange(through carrier: inout some RoomCarrier, now: Duration) {
        let carriersPath = path
        while !hasEnded, let message = carrier.next() {
            do throws(RoomProtocolError) {
                try handle(message, through: &carrier, now: now)
            } catch {
                // It changes nothing.
                counters.rejectedDatagrams += 1
            }
            // A new path leaves nothing for the rest to speak to.
            guard path == carriersPath else { return }
        }
        if let ping = lastPing, ping.isDue {
            lastPing?.isDue = false
            carrier.send(.ping(microseconds: ping.microseconds))
        }
        while carrier.hasRoom, let message = nextMessage() { carrier.send(message) }
        if state == .leaving, outbox.waitingCount == 0, carrier.isDelivered { end(.left(acknowledged: true)) }
    }

    private mutating func nextMessage() -> RoomMessage? {
        switch stage {
        case .arriving(var arrival):
            guard arrival.joinIsDue else { return nil }
            arrival.joinIsDue = false
            stage = .arriving(arrival)
            sentToken = request.token
            return .join(request)
        case .joined, .leaving: return outbox.next()
        case .idle, .ended: return nil
        }
    }

    private mutating func handle(
        _ message: RoomMessage, through carrier: inout some RoomCarrier, now: Duration
    ) throws(RoomProtocolError) {
        switch message {
        case .ping(let microseconds): carrier.send(.pong(microseconds: microseconds))
        case .pong(let microseconds):
            guard let ping = lastPing, microseconds >= ping.first, microseconds <= ping.microseconds else { return }
            lastPing = nil
            if case .joined(let enteredAt, _) = stage {
                let pinged = Duration.microseconds(Int64(ping.microseconds))
                stage = .joined(enteredAt: enteredAt, nextPing: pinged + keepaliveInterval)
            }
            let roundTrip = now - .microseconds(Int64(microseconds))
            roundTrips.add(roundTrip)
            carrier.measure(roundTrip)
        default: try handle(message, now: now)
        }
    }

    // MARK: The path

    /// Takes the end of the path, and why. A driver that has closed it itself does not tell.
    package mutating func pathClosed(_ reason: PeerClosing, now: Duration) {
        // Who comes back may have met a network that shows it another server for a while: it tries on, and tells in the
        // end.
        if case .identityRefused(let refusal) = reason, state == .joining { return end(.identityRefused(refusal)) }
        switch stage {
        case .idle, .ended: break
        case .arriving(var arrival):
            arrival.meet(reason)
            stage = .arriving(arrival)
            // A rejoin may wait for its token.
            if case .refused? = arrival.comeback?.token { return }
            retry(now: now)
        case .joined: reconnect(now: now, obstacle: reason)
        case .leaving: end(.left(acknowledged: true))
        }
    }

    /// Somebody at the server's address says that it does not know this client; anyone who can forge that address can.
    /// Asks the server, which has four round trips to answer.
    package mutating func pathDoubted(now: Duration) {
        if let doubt, doubt.ends != nil || now < doubt.began + RoomTimers.doubtInterval { return }
        doubt = PathDoubt(now: now, patience: max(RoomTimers.shortestRetry, (roundTrips.smoothed ?? .zero) * 4))
        ping(now: now)
    }

    /// The server has shown that it knows this path: what was doubted is settled. It may only have moved, and a ping
    /// that went before that has not arrived.
    package mutating func pathConfirmed(now: Duration) {
        doubt?.ends = nil
        if lastPing != nil { ping(now: now) }
    }

    /// Tries another path, later and later.
    private mutating func retry(now: Duration) {
        guard case .arriving(var arrival) = stage, arrival.retryAt == nil else { return }
        arrival.retryAt = now + retryPause
        stage = .arriving(arrival)
        retryPause = min(retryPause * 2, RoomTimers.longestRetry)
    }

    /// Ends with the reason why no path was found, where there is a better one than time.
    private mutating func giveUp(_ arrival: RoomArrival) {
        cannotRenewToken()
        switch arrival.obstacle {
        case .handshakeFailed: end(.handshakeFailed)
        case .identityRefused(let refusal): end(.identityRefused(refusal))
        default: end(arrival.comeback == nil ? .joinTimedOut : .connectionLost)
        }
    }

    private mutating func handleRefusal(_ refusal: RoomRefusal, _ versions: ClosedRange<UInt8>, now: Duration) {
        guard case .arriving(var arrival) = stage, let comeback = arrival.comeback else {
            return end(.refused(refusal, serverVersions: versions))
        }
        // It restarts: the join is repeated until its successor answers.
        guard refusal != .serverShuttingDown else { return retry(now: now) }
        let isOfToken = refusal == .expired || refusal == .badSignature
        // A newer one has come while this one was on its way.
        if isOfToken, request.token != sentToken { return attempt(now: now) }
        guard isOfToken, canRenewToken, comeback.token != .fresh else {
            return end(.refused(refusal, serverVersions: versions))
        }
        arrival.comeback = RoomComeback(token: .refused(refusal, serverVersions: versions))
        stage = .arriving(arrival)
        events.append(.tokenRefused(refusal))
    }

    private mutating func handle(_ message: RoomMessage, now: Duration) throws(RoomProtocolError) {
        switch message {
        case .joined(let grant):
            guard case .arriving(var arrival) = stage, arrival.roster == nil else {
                throw .unexpectedMessage(message.type.rawValue)
            }
            guard request.versions.contains(grant.version),
                !grant.resumed || (arrival.comeback != nil && outbox.canResume(at: grant.handledCount))
            else { throw .invalidValue }
            arrival.roster = (grant, [])
            stage = .arriving(arrival)
        case .participantJoined(let entry) where isReadingRoster: try read(entry, now: now)
        case .removed(.restarting) where state == .joined || state == .reconnecting:
            if state == .joined { reconnect(now: now) } else { retry(now: now) }
        case .removed where state == .leaving: end(.left(acknowledged: true))
        case .removed(let reason): end(.removed(reason))
        case .refused(let refusal, let versions) where state == .joining || state == .reconnecting:
            handleRefusal(refusal, versions, now: now)
        default:
            guard state == .joined || state == .leaving else { throw .unexpectedMessage(message.type.rawValue) }
            try handleInRoom(message, now: now)
        }
    }

    private var isReadingRoster: Bool {
        guard case .arriving(let arrival) = stage else { return false }
        return arrival.roster != nil
    }

    /// Takes the next entry of the grant's roster.
    private mutating func read(_ entry: RosterEntry, now: Duration) throws(RoomProtocolError) {
        guard case .arriving(var arrival) = stage,
            arrival.roster?.entries.contains(where: { $0.participant == entry.participant }) == false
        else { throw .invalidValue }
        // Nobody else has the entries meanwhile, which so grow without being copied.
        stage = .idle
        arrival.roster?.entries.append(entry)
        // A long roster over a long path may take more than an attempt's time, and would with each attempt.
        arrival.comeback?.attemptEnds = now + attemptTime
        stage = .arriving(arrival)
        guard let (grant, entries) = arrival.roster, entries.count == Int(grant.rosterCount) else { return }
        enter(grant, RoomRoster(entries), now: now)
    }

    private mutating func handleInRoom(_ message: RoomMessage, now: Duration) throws(RoomProtocolError) {
        switch message {
        case .handled(let count): try outbox.takeHandled(count)
        case .participantJoined(let entry):
            // What it published before would stay with whoever follows these events.
            guard roster[entry.participant] == nil else { throw .invalidValue }
            try roster.insert(entry)
            events.append(.participantJoined(entry))
        case .participantLeft(let participant, let reason):
            guard roster.remove(participant) != nil else { throw .invalidValue }
            events.append(.participantLeft(participant, reason))
        case .published(let participant, let stream):
            try roster.publish(stream, by: participant)
            events.append(.published(participant, stream))
        case .unpublished(let participant, let stream):
            roster.unpublish(stream, by: participant)
            events.append(.unpublished(participant, stream))
        case .muteChanged(let stream, let mute):
            guard let participant = roster.setMute(mute, stream: stream) else { throw .invalidValue }
            events.append(.muteChanged(participant, stream, mute))
        case .message(let sender, let destination, let kind, let bytes):
            events.append(.message(sender: sender, destination: destination, kind: kind, bytes: bytes))
        case .interrupted(let participant, let stream, let generation):
            roster.setGeneration(generation, stream: stream)
            events.append(.interrupted(by: participant, stream, generation: generation))
        case .generationStarted(let participant, let start):
            events.append(.generationStarted(participant, start))
        case .attributesChanged(let participant, let attributes):
            try roster.update(participant) { $0.attributes = attributes }
            events.append(.attributesChanged(participant, attributes))
        case .roleChanged(let participant, let role):
            try roster.update(participant) { $0.role = role }
            events.append(.roleChanged(participant, role))
        case .subscriptionChanged(let stream, let isSubscribed):
            events.append(.subscriptionChanged(stream, isSubscribed))
        case .heard(let participant, let report): events.append(.heard(by: participant, report))
        case .requestRefused(let request, let subject, let refusal):
            if request == .renew { judgedToken = self.request.token }
            events.append(.requestRefused(request, subject: subject, refusal))
        case .renewed(let expiresIn):
            judgedToken = request.token
            tokenClock.start(expiresIn: expiresIn, now: now)
        default: throw .unexpectedMessage(message.type.rawValue)
        }
        outbox.countHandled(message)
    }

    // MARK: Coming in, and coming back

    private mutating func enter(_ grant: JoinGrant, _ newRoster: RoomRoster, now: Duration) {
        let returning = state == .reconnecting
        if returning { tellChanges(to: newRoster) }
        roster = newRoster
        self.grant = grant
        stage = .joined(enteredAt: now, nextPing: now)
        if returning && grant.resumed {
            outbox.resume(at: grant.handledCount)
        } else {
            abandon(outbox.count, ofApplication: outbox.applicationMessages)
            outbox = Outbox()
        }
        // Whoever is resumed is so by the secret, and stays for as long as the token does that was judged last.
        if grant.resumed {
            tokenClock.resume(expiresIn: grant.expiresIn, now: now)
        } else {
            tokenClock.start(expiresIn: grant.expiresIn, now: now)
            judgedToken = sentToken
        }
        if request.token != judgedToken { _ = outbox.append(.renew(token: request.token)) }
        request.rejoin = RejoinClaim(
            participant: grant.participant, secret: grant.secret, handledCount: 0, attempt: path)
        events.append(returning ? .reconnected(grant, newRoster) : .joined(grant, newRoster))
    }

    private mutating func tellChanges(to newRoster: RoomRoster) {
        for old in roster.entries where newRoster[old.participant] == nil {
            events.append(.participantLeft(old.participant, nil))
        }
        for new in newRoster.entries {
            guard let old = roster[new.participant] else {
                events.append(.participantJoined(new))
                continue
            }
            if old.attributes != new.attributes {
                events.append(.attributesChanged(new.participant, new.attributes))
            }
            if old.role != new.role { events.append(.roleChanged(new.participant, new.role)) }
            for stream in old.streams {
                guard !new.streams.contains(where: { $0.assignment == stream.assignment }) else { continue }
                events.append(.unpublished(new.participant, stream.assignment.stream))
            }
            for stream in new.streams {
                guard let before = old.streams.first(where: { $0.assignment == stream.assignment }) else {
                    events.append(.published(new.participant, stream))
                    continue
                }
                // What was interrupted meanwhile is told by the durable messages that follow.
                guard before.mute != stream.mute else { continue }
                events.append(.muteChanged(new.participant, stream.assignment.stream, stream.mute))
            }
        }
    }

    /// Begins a break, because of `obstacle` where the path has closed.
    private mutating func reconnect(now: Duration, obstacle: PeerClosing? = nil) {
        guard case .joined(let enteredAt, _) = stage else { return }
        stage = .arriving(
            RoomArrival(deadline: now + RoomTimers.breakWindow, obstacle: obstacle, comeback: RoomComeback()))
        outbox.interrupt()
        counters.reconnections += 1
        events.append(.reconnecting)
        // Whom a server lets in and loses at once, it would have come again without end.
        guard now - enteredAt >= RoomTimers.shortestRetry else { return retry(now: now) }
        retryPause = RoomTimers.shortestRetry
        attempt(now: now)
    }

    /// Starts over by the next path; what the server has handled, it will tell.
    mutating func attempt(now: Duration) {
        guard case .arriving(var arrival) = stage else { return }
        arrival.roster = nil
        arrival.retryAt = nil
        arrival.comeback?.attemptEnds = now + attemptTime
        arrival.joinIsDue = true
        stage = .arriving(arrival)
        doubt = nil
        path &+= 1
        lastPing = nil
        request.rejoin?.handledCount = outbox.handledHere
        request.rejoin?.attempt = path
    }

    private mutating func ping(now: Duration) {
        if case .joined(let enteredAt, _) = stage {
            stage = .joined(enteredAt: enteredAt, nextPing: now + pingPatience)
        }
        let microseconds = UInt64(max(0, now.wholeMicroseconds))
        lastPing = (first: lastPing?.first ?? microseconds, microseconds: microseconds, isDue: true)
        outbox.tellHandled()
    }
}
