internal import VoicePeers
internal import VoiceQueue

// How the directory has tokens looked at, and how long they let their participants stay.

extension RoomDirectory {
    // MARK: Verdicts

    /// Has a token looked at.
    mutating func askForVerdict(
        on token: [UInt8], from peer: PeerID, for purpose: PendingToken, now: Duration
    ) -> VerificationRequest.ID {
        let id = makeVerificationID()
        pending[id] = purpose
        if case .join = purpose { pendingJoins += 1 }
        deadlines.set(.verification(id), to: now + Self.verificationTime)
        verifications.append(VerificationRequest(id: id, peer: peer, token: token))
        return id
    }

    /// Awaits a verdict no longer.
    @discardableResult
    mutating func forget(_ id: VerificationRequest.ID) -> PendingToken? {
        deadlines.set(.verification(id), to: nil)
        let token = pending.removeValue(forKey: id)
        switch token {
        case .join: pendingJoins -= 1
        case .renewal(let participant): participants[participant]?.renewal = nil
        case nil: break
        }
        return token
    }

    /// Takes the verdict on a token. A verdict that is not awaited any more changes nothing.
    ///
    /// - Parameters:
    ///   - entropy: what a new participant needs.
    ///   - unixTime: seconds since 1970, as tokens tell theirs. How long this one lasts is counted in `now`'s time from
    ///     here.
    package mutating func answer(
        _ id: VerificationRequest.ID, _ verdict: TokenVerdict, entropy: JoinEntropy, unixTime: Int64, now: Duration
    ) {
        switch forget(id) {
        case .join(let request, let peer): answer(request, from: peer, verdict, entropy, unixTime: unixTime, now: now)
        case .renewal(let participant): answerRenewal(of: participant, verdict, unixTime: unixTime, now: now)
        case nil: break
        }
    }

    // MARK: Newer tokens

    /// Has a participant's newer token looked at: one at a time.
    mutating func askForVerdict(on token: [UInt8], of id: ParticipantID, now: Duration) throws(RoomRefusal) {
        guard let participant = participants[id], let peer = participant.peer else { return }
        guard participant.renewal == nil, pending.count - pendingJoins < Self.verificationLimit,
            participants[id]?.renewals.take(RoomLimits.renewals, now: now) == true,
            renewals.take(RoomLimits.renewalsOfAll, now: now)
        else { throw .tooOften }
        let renewal = askForVerdict(on: token, from: peer, for: .renewal(of: id), now: now)
        participants[id]?.renewal = renewal
    }

    private mutating func answerRenewal(
        of id: ParticipantID, _ verdict: TokenVerdict, unixTime: Int64, now: Duration
    ) {
        guard let participant = participants[id], !endsByExpiry(participant, now: now) else { return }
        do throws(RoomRefusal) {
            let end = try Self.end(of: verdict, for: participant, unixTime: unixTime, now: now)
            // An older token takes nothing away.
            let later = end.flatMap { end in participant.expiresAt.map { max($0, end) } }
            participants[id]?.expiresAt = later
            schedule(id)
            guard let peer = participant.peer else { return }
            _ = connections[peer]?.outbox.append(.renewed(expiresIn: later.map { $0 - now }))
            list(peer)
        } catch {
            _ = sendDurable(.requestRefused(.renew, subject: 0, error), to: id)
        }
    }

    /// How long a newer token lets a participant stay; nil: for ever.
    private static func end(
        of verdict: TokenVerdict, for participant: RoomParticipant, unixTime: Int64, now: Duration
    ) throws(RoomRefusal) -> Duration? {
        switch verdict {
        case .refused(let refusal): throw refusal
        case .granted(let grants):
            guard grants.room == participant.room else { throw .wrongRoom }
            guard grants.identity == participant.identity else { throw .wrongIdentity }
            guard grants.canJoin else { throw .noJoinRight }
            guard !grants.isOver(at: unixTime) else { throw .expired }
            return grants.deadline(unixTime: unixTime, now: now)
        }
    }

    // MARK: Expiry

    /// Ends a stay whose token is over, also before its timer has come. Whether it was.
    mutating func endsByExpiry(_ participant: RoomParticipant, now: Duration) -> Bool {
        guard participant.hasExpired(at: now) else { return false }
        remove(participant.id, telling: .tokenExpired, now: now)
        return true
    }
}

extension TokenGrants {
    /// Whether the time that they were given is over.
    func isOver(at unixTime: Int64) -> Bool { expiresAt.map { unixTime >= $0 } ?? false }

    /// When they end in `now`'s time; nil: never, or after more seconds than `joined` can tell.
    func deadline(unixTime: Int64, now: Duration) -> Duration? {
        guard let expiresAt else { return nil }
        guard expiresAt > unixTime else { return now }
        // The times are whatever the issuer wrote.
        let (seconds, overflows) = expiresAt.subtractingReportingOverflow(unixTime)
        guard !overflows, seconds < Int64(UInt32.max) else { return nil }
        return now + .seconds(seconds)
    }
}
