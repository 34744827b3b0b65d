package import VoiceRooms

// What the app asks of others' streams, and what participants tell of themselves.

extension RoomMedia {
    /// How the streams stand that the app has named.
    package var streamStates: [String: PlayState] { choice.states }

    /// Plays the stream of this name, or does not. Nil where too many have been named.
    package mutating func play(_ isWanted: Bool, _ name: String) -> [Action]? {
        var isTaken = false
        let actions = choose { isTaken = $0.want(isWanted, name, &$1) }
        return isTaken ? actions : nil
    }

    /// Plays what a participant publishes, or does not, where nothing else was asked for by a name.
    package mutating func play(_ isWanted: Bool, _ participant: ParticipantID) -> [Action] {
        choose { $0.want(isWanted, participant, &$1) }
    }

    mutating func choose(_ body: (inout StreamChoice, inout [StreamChoice.Order]) -> Void) -> [Action] {
        var orders: [StreamChoice.Order] = []
        body(&choice, &orders)
        return orders.flatMap { order -> [Action] in
            switch order {
            case .subscribe(let stream): [.ask(.subscribe(stream))]
            case .unsubscribe(let stream): [.ask(.unsubscribe(stream))]
            case .begin(let stream): published[stream].map { play($0.stream, of: $0.publisher) } ?? []
            case .end(let stream): silence(stream)
            case .tell(let name, let state): [.post(.streamState(name, state))]
            }
        }
    }

    // MARK: What participants tell of themselves

    mutating func describe(_ participant: ParticipantID, _ change: (inout Participant) -> Void) -> [Action] {
        guard var known = participants[participant] ?? (participant == stay?.own.id ? stay?.own : nil) else {
            return []
        }
        let before = known
        change(&known)
        if participants[participant] != nil { participants[participant] = known } else { stay?.own = known }
        return news(of: known, since: before)
    }

    /// What a roster's entry tells that was not known.
    func changes(of entry: RosterEntry, since own: Participant?) -> [Action] {
        guard let before = participants[entry.participant] ?? own, before.identity == entry.identity else { return [] }
        return news(of: Participant(entry), since: before)
    }

    private func news(of participant: Participant, since before: Participant) -> [Action] {
        var news: [Action] = []
        if participant.role != before.role { news.append(.post(.roleChanged(participant.id, participant.role))) }
        if participant.attributes != before.attributes {
            news.append(.post(.attributesChanged(participant.id, participant.attributes)))
        }
        return news
    }
}
