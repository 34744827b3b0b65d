import Glibc

/// Continues the output over a change of the processing, so that the listener hears neither a gap nor a click.
///
/// A component that is switched on starts with empty buffers: the module's output is silent for that component's delay and
/// then fades in. One that is switched off makes the output jump ahead. Either way the old output is continued for a moment
/// by repeating its last pitch period, as packet loss concealment does, and cross-faded into the new.
///
///     old output ──────┐ repeated period ─────╲ fade out
///                      ·  hold                ╲╱
///     new output       └ (silent, fading in) ─╱╲──────────
///                      switch
@safe
struct OutputSplice: ~Copyable {
    /// Shortest and longest period that is looked for: 400 Hz to 66 Hz, the range of a voice.
    private static let periodsPerSecond = (shortest: 400, longest: 66)
    /// Length of the cross-fade, seconds: long enough for no click, short enough for no echo of the repeated period.
    private static let fadeSeconds = 0.006

    private let rate: Int
    private let history: UnsafeMutableBufferPointer<Float>
    private let fade: Int
    private var hold = 0
    private var position = 0
    private var period = 0
    private var remaining = 0

    init(rate: Int) {
        self.rate = rate
        fade = Int(Double(rate) * Self.fadeSeconds)
        unsafe history = .allocate(capacity: 3 * rate / Self.periodsPerSecond.longest)
        unsafe history.initialize(repeating: 0)
    }

    deinit { unsafe history.deallocate() }

    /// Whether a change is being covered.
    var isActive: Bool { remaining > 0 }

    /// Begins to cover a change made now, whose new output is not to be heard for `hold` frames.
    mutating func begin(hold: Int) {
        period = bestPeriod()
        self.hold = hold
        position = 0
        remaining = hold + fade
    }

    /// Covers what of the change falls in this block, and remembers the block.
    mutating func run(_ block: inout MutableSpan<Float>) {
        let history = unsafe self.history
        let count = block.count
        if remaining > 0 {
            for index in 0..<count where remaining > 0 {
                let old = unsafe history[history.count - period + position % period]
                let weight = position < hold ? 0 : Float(position - hold) / Float(fade)
                let ramp = 0.5 - 0.5 * cosf(.pi * weight)
                block[index] = old + ramp * (block[index] - old)
                position += 1
                remaining -= 1
            }
            // The history stays as it was until the splice is over: it is being repeated.
            if remaining > 0 { return }
        }
        remember(block.span)
    }

    private func remember(_ block: Span<Float>) {
        guard let start = unsafe history.baseAddress else { return }
        let kept = unsafe history.count - min(history.count, block.count)
        unsafe memmove(start, start + history.count - kept, kept * MemoryLayout<Float>.stride)
        for index in kept..<(unsafe history.count) {
            unsafe history[index] = block[block.count - (history.count - index)]
        }
    }

    /// The lag at which the end of the history looks most like what precedes it.
    private func bestPeriod() -> Int {
        let shortest = rate / Self.periodsPerSecond.shortest
        let longest = rate / Self.periodsPerSecond.longest
        let end = unsafe history.count
        var best = (lag: longest, score: Float(-1))
        // Every second lag is enough to find the hump; the fade hides an error of one frame.
        for lag in stride(from: shortest, through: longest, by: 2) {
            var product: Float = 0
            var power: Float = 1e-12
            for index in stride(from: end - longest, to: end, by: 2) {
                let past = unsafe history[index - lag]
                product += unsafe history[index] * past
                power += past * past
            }
            let score = product * abs(product) / power
            if score > best.score { best = (lag, score) }
        }
        return best.lag
    }
}
