import VoiceEngine

/// How a talker was heard, or several of them.
struct HeardCounts: Equatable, Sendable {
    var packetsReceived = 0
    var packetsLost = 0
    /// Samples that were played, and those that had to be invented.
    var emitted = 0
    var concealed = 0
    /// Sum over played samples of their time in the jitter buffer, seconds.
    var waited = 0.0

    init() {}

    init(_ playout: PlayoutStatistics) {
        packetsReceived = Int(playout.packetsReceived)
        packetsLost = Int(playout.packetsLost)
        emitted = Int(playout.jitterBufferEmittedCount)
        concealed = Int(playout.concealedSamples)
        waited = playout.jitterBufferDelay
    }

    /// The share of all played speech that had to be invented; nil before any.
    var concealedRatio: Double? {
        emitted + concealed == 0 ? nil : Double(concealed) / Double(emitted + concealed)
    }

    static func + (left: HeardCounts, right: HeardCounts) -> HeardCounts {
        var sum = left
        sum.packetsReceived += right.packetsReceived
        sum.packetsLost += right.packetsLost
        sum.emitted += right.emitted
        sum.concealed += right.concealed
        sum.waited += right.waited
        return sum
    }
}

/// How each talker of a call was heard, by synchronization source. Of those who were there before, as of a server that
/// names others without end, no more than ``limit`` are kept apart; the counts of all are.
struct HeardTalkers: Sendable {
    /// Four rooms full of people.
    static let limit = 1_024

    /// One talker's counts: from before it left last, and since.
    private struct Entry {
        var before = HeardCounts()
        var latest = HeardCounts()

        var all: HeardCounts { before + latest }
    }

    private var entries: [UInt32: Entry] = [:]
    private var forgotten = HeardCounts()

    /// Takes what the engine counts of those that it plays now. It counts anew whoever has left and come back.
    mutating func take(_ played: [(source: UInt32, counts: HeardCounts)]) {
        for (source, counts) in played {
            var entry = entries[source] ?? Entry()
            if counts.packetsReceived < entry.latest.packetsReceived { entry.before = entry.all }
            entry.latest = counts
            entries[source] = entry
        }
        while entries.count > Self.limit, let least = leastHeard(besides: played.map(\.source)) {
            forgotten = forgotten + (entries.removeValue(forKey: least)?.all ?? HeardCounts())
        }
    }

    /// Of those who have left the one of whom least was heard.
    private func leastHeard(besides present: [UInt32]) -> UInt32? {
        entries.lazy.filter { !present.contains($0.key) }
            .min { ($0.value.all.packetsReceived, $0.key) < ($1.value.all.packetsReceived, $1.key) }?.key
    }

    /// Those who are kept apart, in the order of their numbers.
    var each: [(source: UInt32, counts: HeardCounts)] {
        entries.sorted { $0.key < $1.key }.map { ($0.key, $0.value.all) }
    }

    /// What was heard of all together.
    var all: HeardCounts { entries.values.reduce(forgotten) { $0 + $1.all } }
}
