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
        let heard = lastHeard(of: participant)
        let isFirst = firstMember(of: participant) == index
        let condition = unsafe members[index].examine(
            now: now, isFirst: isFirst, heard: heard, reportInterval: reportInterval)
        if let condition { return .streamCondition(participant: participant, condition) }
        guard let slot = unsafe members[index].slot else { return nil }
        let (expected, received) = unsafe slots[slot].packetCounts
        let link = unsafe members[index].examineLink(expected: expected, received: received, now: now)
        return link.map { .streamCondition(participant: participant, $0) }
    }

    /// Has another stream of a participant, or its next one, tell the contrary of what one has told that is gone now.
    mutating func handOn(_ told: StreamMember.Told, of participant: UInt32) {
        guard participant != 0, !told.isNothing else { return }
        if let other = firstMember(of: participant) {
            unsafe members[other].inherit(told)
        } else {
            departed.keep(told, of: participant)
        }
    }

    private func firstMember(of participant: UInt32) -> Int? {
        for index in 0..<memberCount where unsafe members[index].participant == participant { return index }
        return nil
    }

    /// When anything last came of a participant, on whichever of its streams.
    private func lastHeard(of participant: UInt32) -> Duration? {
        var last: Duration?
        for index in 0..<memberCount where unsafe members[index].participant == participant {
            guard let heard = unsafe members[index].heard else { continue }
            last = last.map { max($0, heard) } ?? heard
        }
        return last
    }
}
