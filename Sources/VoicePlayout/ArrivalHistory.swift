/// When a packet came.
struct Arrival: BitwiseCopyable {
    /// Arrival minus media position, frames; ``never`` while it has not come.
    var offset: Int64
    var frames: Int32
    /// How far before it the sound begins that it carries copies of, frames; 0 without.
    var reach: Int32
    /// The smallest offset within the second before, its own included.
    var leastBefore = Arrival.never
    /// The smallest offset within the second after, its own included; only right while a cost is reckoned.
    var leastAfter = Arrival.never

    /// The delay, a bin, that did all for it that delay can; only right while a cost is reckoned.
    var need: Int32 = 0

    static let never = Int64.max
    var hasCome: Bool { offset != Self.never }
}

/// The arrivals of the last seconds, by sequence number; those older than a second are settled: their cost is final.
@safe struct ArrivalHistory: ~Copyable {
    private(set) var isEmpty = true
    private(set) var newest: Int64 = 0
    /// The oldest arrival whose cost is not final.
    private var oldestUnsettled: Int64 = 0
    private(set) var oldest: Int64 = 0
    private let arrivals: UnsafeMutablePointer<Arrival>

    private static let capacity = 1024
    /// Half window of the baseline, frames (1 s), and at most this many packets.
    private static let baselineFrames = 48_000
    private static let baselinePackets = 200
    /// Window of the present baseline, frames (0.4 s).
    private static let edgeFrames = 19_200
    /// A step in sequence numbers beyond this is a new beginning.
    private static let largestStep: Int64 = 400
    /// How many packets later a copy is looked for: as many as a sender of ours repeats.
    private static let copyPackets: Int64 = 4

    init() {
        unsafe arrivals = .allocate(capacity: Self.capacity)
        let nothing = Arrival(offset: Arrival.never, frames: 960, reach: 0)
        unsafe arrivals.initialize(repeating: nothing, count: Self.capacity)
    }

    deinit { unsafe arrivals.deallocate() }

    /// Forgets every arrival.
    mutating func reset() { isEmpty = true }

    subscript(sequence: Int64) -> Arrival {
        unsafe arrivals[index(sequence)]
    }

    /// How many arrivals must be settled before `sequence` can be noted.
    func settleCount(before sequence: Int64) -> Int64 {
        guard !isEmpty, sequence > newest, sequence - newest < Self.largestStep else { return 0 }
        return min(sequence - Int64(reach), newest + 1) - oldestUnsettled
    }

    mutating func record(_ sequence: Int64, _ arrival: Arrival) {
        if isEmpty || abs(sequence - newest) >= Self.largestStep {
            isEmpty = false
            (newest, oldest, oldestUnsettled) = (sequence, sequence, sequence)
            set(sequence, arrival)
        } else if sequence > newest {
            let missing = Arrival(offset: Arrival.never, frames: arrival.frames, reach: 0)
            for lost in newest + 1..<sequence { set(lost, missing) }
            newest = sequence
            oldest = max(oldest, newest - Int64(Self.capacity) + 1)
            oldestUnsettled = max(oldestUnsettled, oldest)
            set(sequence, arrival)
        } else if sequence >= oldestUnsettled, !self[sequence].hasCome {
            set(sequence, arrival)
            for later in sequence...min(newest, sequence + Int64(reach)) {
                let slot = index(later)
                unsafe arrivals[slot].leastBefore = unsafe min(arrivals[slot].leastBefore, arrival.offset)
            }
        }
    }

    mutating func shift(by frames: Int64) {
        for index in 0..<Self.capacity {
            if unsafe arrivals[index].hasCome { unsafe arrivals[index].offset += frames }
            if unsafe arrivals[index].leastBefore != Arrival.never { unsafe arrivals[index].leastBefore += frames }
        }
    }

    /// Takes the oldest arrival that is not settled, for good: what it would have cost, and when.
    mutating func settleOldest() -> Fate? {
        lookAhead(from: oldestUnsettled, to: min(newest, oldestUnsettled + Int64(reach)))
        defer { oldestUnsettled += 1 }
        return fate(of: oldestUnsettled)
    }

    /// Adds all that is not settled.
    mutating func addUnsettled(to staircase: inout CostStaircase, _ cost: PlayoutConfiguration.AudibleCost) {
        guard oldestUnsettled <= newest else { return }
        lookAhead(from: oldestUnsettled, to: newest)
        for sequence in oldestUnsettled...newest {
            if let fate = fate(of: sequence) { staircase.add(fate, cost) }
        }
    }

    /// The smallest offset of late.
    func recentMinimum() -> Int64 {
        var (smallest, frames, sequence) = (Arrival.never, 0, newest)
        while sequence >= oldest, frames < Self.edgeFrames || smallest == Arrival.never {
            smallest = min(smallest, self[sequence].offset)
            frames += Int(self[sequence].frames)
            sequence -= 1
        }
        return smallest
    }

    private var reach: Int { min(Self.baselineFrames / Int(max(self[newest].frames, 120)), Self.baselinePackets) }

    private func index(_ sequence: Int64) -> Int { Int(sequence & Int64(Self.capacity - 1)) }

    /// Notes an arrival, and the smallest offset before it.
    private mutating func set(_ sequence: Int64, _ arrival: Arrival) {
        var arrival = arrival
        arrival.leastBefore = arrival.offset
        for other in max(oldest, sequence - Int64(reach))..<sequence {
            arrival.leastBefore = min(arrival.leastBefore, self[other].offset)
        }
        unsafe arrivals[index(sequence)] = arrival
    }

    /// Finds the smallest offset after each of some arrivals.
    private mutating func lookAhead(from first: Int64, to last: Int64) {
        var least = Arrival.never
        for sequence in stride(from: last, through: first, by: -1) {
            let slot = index(sequence)
            least = unsafe min(least, arrivals[slot].offset)
            unsafe arrivals[slot].leastAfter = least
        }
    }

    /// The larger of the smallest offsets within a second before and after.
    private func baseline(of arrival: Arrival) -> Int64 {
        if arrival.leastBefore == Arrival.never { return arrival.leastAfter }
        return arrival.leastAfter == Arrival.never
            ? arrival.leastBefore : max(arrival.leastBefore, arrival.leastAfter)
    }

    /// From which delays on a packet's sound is known; nil while nothing around it has come.
    private mutating func fate(of sequence: Int64) -> Fate? {
        let arrival = self[sequence]
        let baseline = baseline(of: arrival)
        guard baseline != Arrival.never else { return nil }
        var fate = Fate(frames: Int(arrival.frames))
        if arrival.hasCome { fate.known = DelayBin.covering(arrival.offset - baseline) }
        defer { unsafe arrivals[index(sequence)].need = Int32(fate.need) }
        guard sequence < newest else { return fate }
        let next = self[sequence + 1]
        if let copy = copy(of: sequence) { fate.redundant = DelayBin.covering(copy - baseline) }
        if next.hasCome {
            if !arrival.hasCome {
                fate.farEdge = DelayBin.covering(next.offset + Int64(arrival.frames) - baseline)
            }
        } else if !arrival.hasCome, sequence + 2 <= newest, self[sequence + 2].hasCome,
            self[sequence + 2].reach >= next.frames
        {
            fate.farEdge = DelayBin.covering(
                self[sequence + 2].offset + Int64(arrival.frames) + Int64(next.frames) - baseline)
        }
        return fate
    }

    /// The offset from which on a packet's sound is known by a copy: that in the first later packet that came, if it reaches back so far.
    private func copy(of sequence: Int64) -> Int64? {
        var distance: Int64 = 0
        for later in sequence + 1...min(newest, sequence + Self.copyPackets) {
            distance += Int64(self[later - 1].frames)
            guard self[later].hasCome else { continue }
            return Int64(self[later].reach) >= distance ? self[later].offset + distance : nil
        }
        return nil
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
