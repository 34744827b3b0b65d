package import VoiceRooms

// Coming in, and coming back: what follows from who is in the room, and what of it is news.

extension RoomMedia {
    mutating func enter(_ grant: JoinGrant, _ roster: RoomRoster) -> [Action] {
        begin(grant, roster)
        let others = roster.entries.filter { $0.participant != own }
        let choices = enterChoice(grant, isSameStay: false)
        let arrivals = others.flatMap { arrive($0) }
        let joined = [Action.post(.joined(room: grant.room, as: grant.participant))]
        return choices + arrivals + enterPresence(grant, roster, .anew) + joined
            + others.flatMap { noteMute(of: $0) }
    }

    private mutating func enterChoice(_ grant: JoinGrant, isSameStay: Bool) -> [Action] {
        choose { $0.enter(takesAll: grant.capabilities.contains(.autoSubscribe), isSameStay: isSameStay, &$1) }
    }

    private mutating func enterPresence(
        _ grant: JoinGrant, _ roster: RoomRoster, _ continuity: StayContinuity
    ) -> [Action] {
        let entry = Self.ownEntry(grant, roster)
        return settle { $0.enter(grant, entry, continuity, &$1) }
    }

    private mutating func begin(_ grant: JoinGrant, _ roster: RoomRoster) {
        self.grant = grant
        stay = (grant.room, Participant(Self.ownEntry(grant, roster)))
    }

    private static func ownEntry(_ grant: JoinGrant, _ roster: RoomRoster) -> RosterEntry {
        roster[grant.participant] ?? RosterEntry(participant: grant.participant, identity: "", name: "")
    }

    mutating func comeBack(_ grant: JoinGrant, _ roster: RoomRoster) -> [Action] {
        isAway = false
        return reconcile(grant, roster, grant.resumed ? .whole : .anew, telling: [.post(.reconnected)])
    }

    /// What follows from who is there now, where events were lost.
    package mutating func catchUp(_ grant: JoinGrant, _ roster: RoomRoster) -> [Action] {
        let isSameStay = grant.participant == own && grant.secret == self.grant?.secret
        let isBack = isAway
        isAway = false
        return reconcile(
            grant, roster, isSameStay ? .withLoss : .anew, telling: isBack ? [.post(.reconnected)] : [])
    }

    private mutating func reconcile(
        _ grant: JoinGrant, _ roster: RoomRoster, _ continuity: StayContinuity, telling news: [Action]
    ) -> [Action] {
        let before = stay?.own
        begin(grant, roster)
        let others = roster.entries.filter { $0.participant != own }
        let described = roster.entries.flatMap { changes(of: $0, since: $0.participant == own ? before : nil) }
        let gone = participants.keys.sorted().filter { id in
            !others.contains { $0.participant == id && $0.identity == participants[id]?.identity }
        }
        let generation = presence.generation
        // First, so that nobody is heard who only wants to listen, even where there is not room for all that is asked.
        var media = enterPresence(grant, roster, continuity)
        media += nameAgain(behind: media, since: generation, continuity)
        if !continuity.mayAnswer {
            media += played.forgetUnanswered().map { .command($0) }
        }
        media += gone.flatMap { depart($0) }
        for entry in others { media += dropWithdrawn(entry) }
        // Subscriptions may have been confirmed by events that were lost.
        media += enterChoice(grant, isSameStay: continuity == .whole)
        let come = others.filter { participants[$0.participant] == nil }
        for entry in others { media += arrive(entry) }
        return media + news + described + gone.map { .post(.participantLeft($0, nil)) }
            + come.map { .post(.participantJoined(Participant($0))) } + others.flatMap { noteMute(of: $0) }
    }

    /// Plays nothing that `entry` does not publish any more.
    private mutating func dropWithdrawn(_ entry: RosterEntry) -> [Action] {
        let wanted = entry.streams.map(\.assignment)
        let dropped = published.values.filter { known in
            known.publisher == entry.participant && !wanted.contains(known.stream.assignment)
        }
        return dropped.map(\.stream.assignment.stream).sorted().flatMap { drop($0) }
    }
}
