// Who is still there, and how well each is received.

extension StreamTable {
    /// Looks at one member, in turn, so that a run costs the same in every room; returns what is news of it.
    ///
    /// - Parameter reportInterval: how often those who send nothing report, on average.
    mutating func examine(now: Duration, reportInterval: Duration) -> MediaEvent? {
        guard memberCount > 0 else { return nil }
        nextExamined = nextExamined + 1 < memberCount ? nextExamined + 1 : 0
        let index = nextExamined
        let source = unsafe members[index].synchronizationSource
        if unsafe members[index].unheard == .news {
            unsafe members[index].unheard = .told
            return .tooManyStreams(synchronizationSource: source)
        }
        let participant = unsafe members[index].participant
        guard participant != 0 else { return nil }
        let presence = presence(of: participant)
        let condition = unsafe members[index].examine(
            now: now, isFirst: presence.first == index, heard: presence.heard, isAwaited: presence.isAwaited,
            reportInterval: reportInterval)
        if let condition { return .streamCondition(participant: participant, condition) }
        guard let slot = unsafe members[index].slot else { return nil }
        let (expected, received) = unsafe slots[slot].packetCounts
        let link = unsafe members[index].examineLink(expected: expected, received: received, now: now)
        return link.map { .streamCondition(participant: participant, $0) }
    }

    /// Has another stream of a participant, or its next one, tell the contrary of what one has told that is gone now.
    mutating func handOn(_ told: StreamMember.Told, of participant: UInt32) {
        guard participant != 0, !told.isNothing else { return }
        if let other = presence(of: participant).first {
            unsafe members[other].inherit(told)
        } else {
            departed.keep(told, of: participant)
        }
    }

    /// The first of a participant's streams, when anything last came on any of them, and whether anything is to come.
    private func presence(of participant: UInt32) -> (first: Int?, heard: Duration?, isAwaited: Bool) {
        var presence: (first: Int?, heard: Duration?, isAwaited: Bool) = (nil, nil, false)
        for index in 0..<memberCount where unsafe members[index].participant == participant {
            presence.isAwaited = unsafe members[index].isExpected || presence.isAwaited
            presence.first = presence.first ?? index
            guard let heard = unsafe members[index].heard else { continue }
            presence.heard = max(presence.heard ?? heard, heard)
        }
        return presence
    }
}
