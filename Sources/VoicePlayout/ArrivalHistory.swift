/// When a packet came.
struct Arrival: BitwiseCopyable {
    /// Arrival minus media position, frames; ``never`` while it has not come.
    var offset: Int64
    var frames: Int32
    /// How far before it the sound begins that it carries copies of, frames; 0 without.
    var reach: Int32
    /// The smallest offset from here to some later place; only right while costs are reckoned.
    var leastAhead = Arrival.never
    /// The delay, a bin, that did all for it that delay can; only right while a cost is reckoned.
    var need: Int32 = 0

    static let never = RangeMinimum.nothing
    var hasCome: Bool { offset != Self.never }
}

/// The arrivals of the last seconds, by sequence number; those older than a second are settled: their cost is final.
///
/// Of a gap no more is kept than the packets of a second, because no farther arrival tells anything of one: the places
/// of arrivals run on there, and sequence numbers do not. So a packet costs a bounded number of visits, whatever its
/// sequence number.
@safe struct ArrivalHistory: ~Copyable {
    private(set) var isEmpty = true
    /// Places of the newest arrival, of the oldest that is remembered, and of the oldest whose cost is not final.
    private(set) var newest: Int64 = 0
    private(set) var oldest: Int64 = 0
    private var oldestUnsettled: Int64 = 0
    /// Sequence numbers that have no place: one less this is the place of its packet.
    private var leftOut: Int64 = 0
    /// The first place behind the last gap that was cut short; what is sent before it is too old to be told apart.
    private var firstWhole: Int64 = .min
    /// By how much the clock has jumped since the arrivals were noted: their offsets are stored less this.
    private var shifted: Int64 = 0
    private let arrivals: UnsafeMutablePointer<Arrival>
    /// The offsets of the arrivals.
    private var offsets = RangeMinimum(capacity: capacity)
    private var entryVisits = 0
    /// Entries visited so far in the search for outdated evidence.
    var lookVisits = 0

    /// Places remembered.
    private static let capacity = 1024
    /// Half window of the baseline, frames (1 s), and at most this many packets.
    private static let baselineFrames = 48_000
    static let baselinePackets = 200
    /// Window of the present baseline, frames (0.4 s).
    private static let edgeFrames = 19_200
    /// How many packets later a copy is looked for: as many as a sender of ours repeats.
    private static let copyPackets: Int64 = 4
    /// The shortest packet that is reckoned with, frames (2.5 ms).
    private static let shortestPacket = 120

    init() {
        unsafe arrivals = .allocate(capacity: Self.capacity)
        let nothing = Arrival(offset: Arrival.never, frames: 960, reach: 0)
        unsafe arrivals.initialize(repeating: nothing, count: Self.capacity)
    }

    deinit { unsafe arrivals.deallocate() }

    /// Forgets every arrival.
    mutating func reset() { isEmpty = true }

    subscript(place: Int64) -> Arrival {
        unsafe arrivals[slot(place)]
    }

    /// Entries of the history and nodes above them visited so far: the work that arrivals have cost.
    var visits: Int { entryVisits + offsets.visits }

    /// The sequence number of the newest arrival.
    var newestSequence: Int64 { newest + leftOut }

    /// How many arrivals must be settled before `sequence` can be noted.
    func settleCount(before sequence: Int64) -> Int64 {
        guard !isEmpty, sequence > newestSequence else { return 0 }
        return min(place(of: sequence) - Int64(reach), newest + 1) - oldestUnsettled
    }

    mutating func record(_ sequence: Int64, _ arrival: Arrival) {
        guard !isEmpty else {
            isEmpty = false
            (leftOut, shifted, firstWhole) = (0, 0, sequence)
            (newest, oldest, oldestUnsettled) = (sequence, sequence, sequence)
            return set(sequence, arrival)
        }
        let place = place(of: sequence)
        if sequence > newestSequence {
            if place != sequence - leftOut { firstWhole = place }
            leftOut = sequence - place
            let missing = Arrival(offset: Arrival.never, frames: arrival.frames, reach: 0)
            for lost in newest + 1..<place { set(lost, missing) }
            newest = place
            oldest = max(oldest, newest - Int64(Self.capacity) + 1)
            oldestUnsettled = max(oldestUnsettled, oldest)
            set(place, arrival)
        } else if place >= max(oldestUnsettled, firstWhole), !self[place].hasCome {
            set(place, arrival)
        }
    }

    /// Moves all that was noted by `frames`.
    mutating func shift(by frames: Int64) { shifted += frames }

    /// Takes the oldest arrival that is not settled, for good: what it would have cost, and when.
    mutating func settleOldest() -> Fate {
        defer { oldestUnsettled += 1 }
        return fate(of: oldestUnsettled, leasts: nil)
    }

    /// Adds all that is not settled: as its window moves by one place at a time, the smallest offsets take one visit
    /// each.
    mutating func addUnsettled(to staircase: inout CostStaircase, _ cost: PlayoutConfiguration.AudibleCost) {
        guard oldestUnsettled <= newest else { return }
        let reach = Int64(reach)
        lookAhead(from: max(oldest, oldestUnsettled - reach), through: oldestUnsettled - 1)
        lookAhead(from: oldestUnsettled, through: newest)
        var least = Arrival.never
        for place in oldestUnsettled...newest {
            least = min(least, self[place].offset)
            let first = max(oldest, place - reach)
            let before = first < oldestUnsettled ? min(least, self[first].leastAhead) : least
            staircase.add(fate(of: place, leasts: (before, self[place].leastAhead)), cost)
        }
    }

    /// The smallest recent offset.
    mutating func recentMinimum() -> Int64 {
        let frames = frames(of: newest)
        let packets = Int64((Self.edgeFrames + frames - 1) / frames)
        return minimum(from: max(oldest, newest - packets + 1), through: newest) + shifted
    }

    /// How many packets before and after one tell its baseline.
    private var reach: Int { min(Self.baselineFrames / frames(of: newest), Self.baselinePackets) }

    private func frames(of place: Int64) -> Int { max(Int(self[place].frames), Self.shortestPacket) }

    private func place(of sequence: Int64) -> Int64 { min(sequence - leftOut, newest + Int64(reach) + 1) }

    private func slot(_ place: Int64) -> Int { Int(place & Int64(Self.capacity - 1)) }

    /// Notes an arrival.
    private mutating func set(_ place: Int64, _ arrival: Arrival) {
        var arrival = arrival
        if arrival.hasCome { arrival.offset -= shifted }
        unsafe arrivals[slot(place)] = arrival
        offsets.set(slot(place), arrival.offset)
        entryVisits += 1
    }

    /// The smallest stored offset of some places.
    private mutating func minimum(from first: Int64, through last: Int64) -> Int64 {
        offsets.minimum(from: slot(first), through: slot(last))
    }

    /// Finds the smallest offset from each of some places to the last of them.
    private mutating func lookAhead(from first: Int64, through last: Int64) {
        var least = Arrival.never
        for place in stride(from: last, through: first, by: -1) {
            least = min(least, self[place].offset)
            unsafe arrivals[slot(place)].leastAhead = least
            entryVisits += 1
        }
    }

    /// The smallest offsets within a second before a place and after it, its own included.
    private mutating func leasts(around place: Int64) -> (before: Int64, after: Int64) {
        (
            minimum(from: max(oldest, place - Int64(reach)), through: place),
            minimum(from: place, through: min(newest, place + Int64(reach)))
        )
    }

    /// From which delays on a packet's sound is known; its baseline is the larger of the smallest offsets before and
    /// after it.
    private mutating func fate(of place: Int64, leasts: (before: Int64, after: Int64)?) -> Fate {
        let arrival = self[place]
        var fate = Fate(frames: Int(arrival.frames))
        defer { unsafe arrivals[slot(place)].need = Int32(fate.need) }
        entryVisits += 1
        let copy = copy(of: place)
        let farEdge = arrival.hasCome ? nil : farEdge(of: place)
        // Of most of a gap nothing is known at any delay.
        guard arrival.hasCome || copy != nil || farEdge != nil else { return fate }
        let (before, after) = leasts ?? self.leasts(around: place)
        let baseline = before == Arrival.never ? after : after == Arrival.never ? before : max(before, after)
        if arrival.hasCome { fate.known = DelayBin.covering(arrival.offset - baseline) }
        if let copy { fate.redundant = DelayBin.covering(copy - baseline) }
        if let farEdge { fate.farEdge = DelayBin.covering(farEdge - baseline) }
        return fate
    }

    /// The stored offset from which on a packet's sound is known by a copy: that in the first later packet that came,
    /// if it reaches back so far.
    private mutating func copy(of place: Int64) -> Int64? {
        var distance: Int64 = 0
        var later = place + 1
        while later <= min(newest, place + Self.copyPackets) {
            entryVisits += 1
            distance += Int64(self[later - 1].frames)
            let arrival = self[later]
            if arrival.hasCome { return Int64(arrival.reach) >= distance ? arrival.offset + distance : nil }
            later += 1
        }
        return nil
    }

    /// The stored offset from which on it is known what follows a packet that has not come: the next one, or a copy of
    /// it.
    private mutating func farEdge(of place: Int64) -> Int64? {
        guard place < newest else { return nil }
        entryVisits += 2
        let frames = Int64(self[place].frames)
        let next = self[place + 1]
        if next.hasCome { return next.offset + frames }
        guard place + 2 <= newest, self[place + 2].hasCome, self[place + 2].reach >= next.frames else { return nil }
        return self[place + 2].offset + frames + Int64(next.frames)
    }
}

/// From which delays on a packet's sound is known, as bins of ``DelayBin``.
struct Fate: BitwiseCopyable {
    var frames: Int
    /// By itself.
    var known = DelayBin.never
    /// By the copy in the next packet.
    var redundant = DelayBin.never
    /// Not at all, but what follows is.
    var farEdge: Int?

    /// The delay that did all for it that delay can.
    var need: Int {
        if known < DelayBin.never { return known }
        return redundant < DelayBin.never ? redundant : farEdge ?? 0
    }
}
