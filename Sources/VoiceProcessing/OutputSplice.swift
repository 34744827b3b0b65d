import Glibc
import VoiceSignal

/// Continues the output over a change of the processing, so that the listener hears neither a gap nor a click.
///
/// A component that is switched on starts with empty buffers: the module's output is silent for that component's delay
/// and then fades in. One that is switched off makes the output jump ahead. Either way the old output is continued for
/// a moment by repeating its last pitch period, as packet loss concealment does, and cross-faded into the new.
///
///     old output ──────┐ repeated period ─────╲ fade out
///                      ·  hold                ╲╱
///     new output       └ (silent, fading in) ─╱╲──────────
///                      switch
struct OutputSplice: ~Copyable {
    /// Shortest and longest period that is looked for: 400 Hz to 66 Hz, the range of a voice.
    private static let periodsPerSecond = (shortest: 400, longest: 66)
    /// Length of the cross-fade, seconds: long enough for no click, short enough for no echo of the repeated period.
    private static let fadeSeconds = 0.006

    /// Length over which a step at the splice's beginning dies away, seconds.
    private static let stepSeconds = 0.002

    private let rate: Int
    private var history: DelayLine
    /// One period of the old output, made so that its end leads to its beginning.
    private var cycle: RealVector
    private let fade: Int
    private let longest: Int
    private var hold = 0
    private var position = 0
    private var period = 1
    private var remaining = 0
    private var step: Float = 0
    private let stepDecay: Float

    init(rate: Int) {
        self.rate = rate
        fade = Int(Double(rate) * Self.fadeSeconds)
        longest = rate / Self.periodsPerSecond.longest
        stepDecay = expf(-1 / Float(Double(rate) * Self.stepSeconds))
        history = DelayLine(count: 3 * longest)
        cycle = RealVector(count: longest + 2)
    }

    /// Begins to cover a change made now, whose new output is not to be heard for `hold` frames.
    ///
    /// While another splice holds the same cycle goes on for as long as the new change needs. Once that fades, what is
    /// heard is partly new, and this one continues that.
    mutating func begin(hold: Int) {
        if remaining > 0, position <= self.hold {
            self.hold = position + hold
            remaining = hold + fade
            return
        }
        period = bestPeriod()
        makeCycle()
        self.hold = hold
        position = 0
        remaining = hold + fade
    }

    /// Covers what of the change falls in this block, and remembers the block.
    mutating func run(_ block: inout MutableSpan<Float>) {
        var index = 0
        while remaining > 0, index < block.count {
            let old = cycle[position % period] + step
            step *= stepDecay
            let progress = position < hold ? 0 : Float(position - hold) / Float(fade)
            let weight = 0.5 - 0.5 * cosf(.pi * progress)
            block[index] = old + weight * (block[index] - old)
            position += 1
            remaining -= 1
            index += 1
        }
        history.push(block.span)
    }

    /// Cuts the last period out of the history. Its last quarter is faded into what came before its first frame, so
    /// that it can be repeated (as in G.711 Appendix I); what its first frame misses to the history's end becomes a
    /// decaying step.
    private mutating func makeCycle() {
        let end = history.count
        let seam = period / 4
        for index in 0..<period {
            let weight = max(0, Float(index - (period - seam) + 1) / Float(seam + 1))
            let last = history[end - period + index]
            let before = history[end - 2 * period + index]
            cycle[index] = last + weight * (before - last)
        }
        let expected = 2 * history[end - 1] - history[end - 2]
        step = expected - cycle[0]
    }

    /// The lag at which the end of the history looks most like what precedes it: coarsely first, then to the frame.
    private func bestPeriod() -> Int {
        let shortest = rate / Self.periodsPerSecond.shortest
        var best = (lag: longest, score: Float(-1))
        for lag in stride(from: shortest, through: longest, by: 3) {
            let score = likeness(lag: lag, every: 2)
            if score > best.score { best = (lag, score) }
        }
        best.score = -1
        for lag in max(shortest, best.lag - 2)...min(longest, best.lag + 2) {
            let score = likeness(lag: lag, every: 1)
            if score > best.score { best = (lag, score) }
        }
        return best.lag
    }

    /// Signed square of the normalised correlation at a lag, over the longest period.
    private func likeness(lag: Int, every step: Int) -> Float {
        let end = history.count
        var product: Float = 0
        var power: Float = 1e-12
        for index in stride(from: end - longest, to: end, by: step) {
            let past = history[index - lag]
            product += history[index] * past
            power += past * past
        }
        return product * abs(product) / power
    }
}
