/// The weighted mean cost of concealment at every delay, kept as the steps between neighbouring ``DelayBin``s.
@safe struct CostStaircase: ~Copyable {
    private static let binCount = DelayBin.count

    /// Cost that falls away when the delay reaches each bin.
    private let steps: UnsafeMutablePointer<Double>
    /// No bin above has a step, but "never".
    private var highest = 0
    /// Sum of the packets' weights.
    private var weight = 0.0
    /// Weight of the next packet, per frame of sound; grows, instead of the old ones fading.
    private var scale = 1.0
    /// Bins at which the packets before, newest first, are known by themselves or by redundancy: as many as a packet's
    /// cost depends on, since it may end a gap.
    private var before = InlineArray<4, Int>(repeating: 0)

    /// How fast packets are forgotten, frames (15 s).
    private static let forgetting = 720_000.0
    /// Sound that is imagined to have come in perfect time, so that the first packets do not overreact, frames (1 s).
    private static let prior = 48_000.0
    /// Scale at which everything is scaled down.
    private static let largestScale = 1e9

    init() {
        unsafe steps = .allocate(capacity: Self.binCount)
        unsafe steps.initialize(repeating: 0, count: Self.binCount)
    }

    deinit { unsafe steps.deallocate() }

    /// Forgets every packet.
    mutating func reset() {
        unsafe steps.update(repeating: 0, count: Self.binCount)
        (highest, weight, scale) = (0, 0, 1)
        before = InlineArray(repeating: 0)
    }

    mutating func copy(_ other: borrowing CostStaircase) {
        let bins = max(highest, other.highest) + 1
        unsafe UnsafeMutableRawPointer(steps).copyMemory(
            from: other.steps, byteCount: bins * MemoryLayout<Double>.stride)
        unsafe steps[DelayBin.never] = other.steps[DelayBin.never]
        highest = other.highest
        weight = other.weight
        scale = other.scale
        before = other.before
    }

    /// Adds a packet.
    mutating func add(_ fate: Fate, _ cost: PlayoutConfiguration.AudibleCost) {
        let (frames, known, redundant) = (fate.frames, fate.known, fate.redundant)
        let unit = scale * Double(frames)
        weight += unit
        let restored = min(known, redundant)
        step(at: restored, unit * cost.concealment)
        if redundant < known {
            let coarse = unit * cost.redundancy
            let stopgap = max(redundant, DelayBin.covering(DelayBin.frames(known) - Int64(frames)))
            step(at: redundant, -coarse)
            step(at: known < DelayBin.never ? stopgap : known, coarse * (1 - cost.stopgap))
            step(at: known, coarse * cost.stopgap)
        }
        var wholeGap = restored
        for index in before.indices {
            wholeGap = min(wholeGap, before[index])
            step(at: wholeGap, unit * cost.concealment * cost.burst)
        }
        if let farEdge = fate.farEdge, farEdge < restored {
            let saved = unit * cost.concealment * (1 - cost.knownFarEdge)
            step(at: farEdge, saved)
            step(at: restored, -saved)
        }
        for index in stride(from: before.count - 1, to: 0, by: -1) { before[index] = before[index - 1] }
        before[0] = restored
        scale *= 1 + Double(frames) / Self.forgetting
        if scale > Self.largestScale { normalise() }
    }

    /// The cheapest delay, a bin, and its cost.
    func cheapest(upTo last: Int, delayPrice: Double) -> (bin: Int, cost: Double) {
        let total = weight + Self.prior * scale
        // A longer delay than the highest step's saves nothing.
        var (bin, lowest, concealed) = unsafe (last, Double.infinity, steps[DelayBin.never])
        for delay in stride(from: highest, through: 0, by: -1) {
            if delay <= last {
                let cost = concealed / total + delayPrice * DelayBin.milliseconds(delay)
                if cost <= lowest { (bin, lowest) = (delay, cost) }
            }
            concealed += unsafe steps[delay]
        }
        return (bin, lowest)
    }

    /// The cost of the delay of a bin.
    func cost(at bin: Int, delayPrice: Double) -> Double {
        var concealed = unsafe steps[DelayBin.never]
        for delay in min(bin, highest)..<highest { concealed += unsafe steps[delay + 1] }
        return concealed / (weight + Self.prior * scale) + delayPrice * DelayBin.milliseconds(bin)
    }

    /// Forgets what delays above a bin would have saved.
    mutating func forget(above level: Int) {
        for bin in min(level, highest)..<highest { unsafe steps[bin + 1] = 0 }
        highest = min(highest, level)
    }

    private mutating func step(at bin: Int, _ amount: Double) {
        precondition(bin >= 0 && bin <= DelayBin.never)
        unsafe steps[bin] += amount
        if bin < DelayBin.never { highest = max(highest, bin) }
    }

    private mutating func normalise() {
        for bin in 0..<Self.binCount { unsafe steps[bin] /= scale }
        weight /= scale
        scale = 1
    }
}
