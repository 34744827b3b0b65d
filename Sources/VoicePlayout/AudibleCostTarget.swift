/// The target delay: the one at which delay and concealment together cost a listener least.
///
/// A packet's *offset* is its arrival minus its media position, both in frames; it is in time at playout offset `L` if
/// its own is no greater. Clock differences are part of every offset, so that only differences mean something. Each
/// packet gets its own baseline, the larger of the smallest offsets in the second before and after it: a stall does not
/// move it, a change of route moves it at once, and a step never counts as jitter.
///
/// What a packet would have cost at each delay is a staircase of few steps, so that the history is one histogram of
/// steps: adding a packet costs a few additions, finding the cheapest delay one pass over the bins.
@safe struct AudibleCostTarget: ~Copyable {
    /// Target playout offset, frames; nil before the first packet.
    private(set) var offset: Int64?
    /// The smallest recent offset: what the delay is counted from.
    private(set) var baseline: Int64 = 0
    /// The newest packet's offset.
    private(set) var newestOffset: Int64 = 0
    /// The largest offset of those packets, the newest the last of them, that came in a row later than the target
    /// knows.
    private(set) var unexpectedOffset: Int64?

    private let cost: PlayoutConfiguration.AudibleCost
    private let minimumBin: Int
    private let maximumBin: Int
    private var settled: CostStaircase
    private var provisional: CostStaircase
    private var arrivals: ArrivalHistory
    private var pace = SenderPace()
    private var firstPosition: Int64 = 0
    private var startMargin = 0.0
    private var lowerSince: Int64 = 0
    private var lastLook: Int64 = 0
    private var changed = false
    /// Whether what arrived may call for another delay at once: it was late, or sooner than any recent one, or
    /// something before it is missing.
    private var isUrgent = false
    private var lastUpdate: Int64 = 0

    /// Start-up margin above the first packet, as a share of its length, and its decay, frames (0.5 s).
    private static let startShare = 0.05
    private static let startDecay = 24_000.0
    /// How long a small gain must last before the target follows it down, frames: 4 s, on a quiet network (20 ms) 1 s.
    private static let settling: Int64 = 192_000
    private static let quietSettling: Int64 = 48_000
    private static let quietDelay: Int64 = 960
    /// How often the target is found anew while every packet comes in time, frames (80 ms).
    private static let updateEvery: Int64 = 3840
    /// How often it is looked whether evidence is outdated, frames (0.2 s).
    private static let lookEvery: Int64 = 9600

    init(_ configuration: PlayoutConfiguration) {
        cost = configuration.cost
        maximumBin = DelayBin.within(Int64(max(0, Frames.of(configuration.maximumDelay))))
        minimumBin = min(DelayBin.covering(Int64(Frames.of(configuration.minimumDelay))), maximumBin)
        settled = CostStaircase()
        provisional = CostStaircase()
        arrivals = ArrivalHistory()
    }

    /// Entries of the arrivals' history visited so far; see ``ArrivalHistory/visits``.
    var visits: Int { arrivals.visits }
    /// The same in the search for outdated evidence.
    var lookVisits: Int { arrivals.lookVisits }

    /// Target delay above the baseline, frames.
    var delay: Int { offset.map { Int($0 - baseline) } ?? 0 }

    /// Notes an arrival; a sequence number already noted is ignored.
    ///
    /// - Parameter reach: how far before it the sound begins that it carries copies of, frames.
    mutating func record(sequence: Int64, position: Int64, arrival: Int64, frames: Int, reach: Int) {
        let isNewest = arrivals.isEmpty || sequence > arrivals.newestSequence
        if arrivals.isEmpty || sequence != arrivals.newestSequence + 1 { isUrgent = true }
        if arrivals.isEmpty {
            firstPosition = position
            startMargin = Self.startShare * Double(frames)
            baseline = arrival - position
        }
        let offset = pace.record(offset: arrival - position, arrival: arrival)
        let noted = Arrival(offset: offset, frames: Int32(frames), reach: Int32(clamping: reach))
        while arrivals.settleCount(before: sequence) > 0 { settled.add(arrivals.settleOldest(), cost) }
        arrivals.record(sequence, noted)
        if isNewest {
            newestOffset = noted.offset
            let isExpected = noted.offset <= self.offset ?? .max
            unexpectedOffset = isExpected ? nil : max(unexpectedOffset ?? noted.offset, noted.offset)
            if !isExpected || noted.offset < baseline { isUrgent = true }
        }
        changed = true
    }

    /// Forgets all; nothing is allocated.
    mutating func reset() {
        (offset, unexpectedOffset) = (nil, nil)
        (baseline, newestOffset, firstPosition, lowerSince, lastUpdate, lastLook) = (0, 0, 0, 0, 0, 0)
        (changed, isUrgent) = (false, false)
        settled.reset()
        arrivals.reset()
        pace = SenderPace()
    }

    /// Moves all that was noted by `frames`: the clock that arrivals are told on has jumped.
    mutating func shift(by frames: Int64) {
        arrivals.shift(by: frames)
        pace.shift(by: frames)
        baseline += frames
        newestOffset += frames
        unexpectedOffset = unexpectedOffset.map { $0 + frames }
        offset = offset.map { $0 + frames }
        (changed, isUrgent) = (true, true)
    }

    /// Finds the target anew, if anything arrived since; `position` is the media position now played.
    mutating func update(position: Int64) {
        guard changed, isUrgent || abs(position - lastUpdate) >= Self.updateEvery, !arrivals.isEmpty else { return }
        (changed, isUrgent, lastUpdate) = (false, false, position)
        provisional.copy(settled)
        arrivals.addUnsettled(to: &provisional, cost)
        baseline = arrivals.recentMinimum()
        if position - lastLook >= Self.lookEvery {
            lastLook = position
            if let level = arrivals.outdatedLevel(below: DelayBin.within(Int64(delay))) {
                settled.forget(above: level)
                provisional.forget(above: level)
            }
        }
        let age = Double(max(0, position - firstPosition))
        let start = DelayBin.within(Int64(startMargin * Self.exponential(-age / Self.startDecay)))
        let best = provisional.cheapest(upTo: maximumBin, delayPrice: cost.delayPerMillisecond)
        let bin = min(max(best.bin, minimumBin, start), maximumBin)
        let candidate = baseline + DelayBin.frames(bin)
        guard let offset else {
            self.offset = candidate
            lowerSince = position
            return
        }
        decide(candidate, best: best.cost, against: offset, position: position)
    }

    private mutating func decide(_ candidate: Int64, best: Double, against offset: Int64, position: Int64) {
        let current = DelayBin.covering(offset - baseline)
        let gain =
            current > maximumBin
            ? .infinity : provisional.cost(at: current, delayPrice: cost.delayPerMillisecond) - best
        if candidate >= offset {
            lowerSince = position
            let isSmall = candidate - offset < Int64(TimeStretch.shortestJump)
            if isSmall || gain >= cost.rise || current < minimumBin || offset <= baseline { self.offset = candidate }
            return
        }
        let settling = offset - baseline > Self.quietDelay ? Self.settling : Self.quietSettling
        if gain > cost.hysteresis || position - lowerSince > settling {
            self.offset = candidate
            lowerSince = position
        }
    }

    /// e to the `x` for `x` from -50 to 0, to 1 %: ten squarings of its first-order approximation.
    private static func exponential(_ x: Double) -> Double {
        var value = max(0, 1 + max(x, -50) / 1024)
        for _ in 0..<10 { value *= value }
        return value
    }
}
