import Glibc
import VoiceSignal

/// Who talks, as the residual's suppressor has to know: 0...1 each, the far end alone and the near end.
///
/// The far end alone shows in the coherence of microphone and echo estimate. The near end shows in an error above what
/// is expected to be left of the echo, long before it shows in the coherence. But a loudspeaker that is driven hard
/// leaves more at its loud moments than was ever expected. Where what is left goes up and down with the echo
/// (``EnvelopeLikeness``) that excess is learned, and the near end must stand out of it; once it has done so plainly,
/// less will do for a while.
struct TalkState: ~Copyable {
    struct Tuning {
        /// Excess of the error over what is expected to be left, dB, from which the near end is heard, and to where it
        /// surely is.
        var near: (from: Float, range: Float) = (2, 3)
        /// Likeness of the envelopes from which the excess is a distorted echo's, and the most of it that is learned,
        /// dB.
        var distorted: (likeness: Float, most: Float) = (0.45, 3)
        /// Excess beyond what was learned that shows a conversation, dB, and seconds for which it is one.
        var conversation: (excess: Float, seconds: Float) = (10, 1.5)
    }

    private static let frames = BlockTransform.frames
    private static let bins = Spectrum.bins
    /// Weight of the past in the spectra, per block.
    private static let memory: Float = 0.85
    /// Coherence of microphone and estimate at which the far end may be alone, and the range to where it is.
    private static let coherence: (from: Float, range: Float) = (0.75, 0.15)
    /// Bins in which it is judged: 0.2 to 3 kHz.
    static let judged = 4..<60
    /// Weights of an excess above and below what was learned: some nine tenths of the distorted blocks lie below it.
    private static let learning: (up: Float, down: Float) = (0.05, 0.01)
    private static let block: Float = 0.01

    private let tuning: Tuning
    private var product = Spectrum()
    private var cross = Spectrum()
    private var likeness = EnvelopeLikeness()
    private var usualExcess: Float = 0

    /// Smoothed over 60 ms.
    private(set) var errorPower = RealVector(count: bins, repeating: 1e-9)
    private(set) var echoPower = RealVector(count: bins, repeating: 1e-9)
    private var micPower = RealVector(count: bins, repeating: 1e-9)
    /// Of microphone and echo estimate in each bin, 0...1.
    private(set) var coherence = RealVector(count: bins)

    /// There is something of the echo to judge by.
    private(set) var isEchoHeard = false
    /// The far end alone is heard.
    private(set) var farOnly: Float = 0
    /// The near end is heard.
    private(set) var near: Float = 0
    /// How lately the near end was plainly heard: 1 now, 0 after a while.
    private(set) var conversation: Float = 0

    init(tuning: Tuning = Tuning()) { self.tuning = tuning }

    /// What is left goes up and down with the echo.
    var isDistorted: Bool { isEchoHeard && likeness.value > tuning.distorted.likeness }

    /// Takes a block's spectra.
    mutating func observe(error: borrowing Spectrum, echo: borrowing Spectrum, mic: borrowing Spectrum) {
        let new = 1 - Self.memory
        errorPower.follow(powersOf: error, weight: new)
        echoPower.follow(powersOf: echo, weight: new)
        micPower.follow(powersOf: mic, weight: new)
        product.takeProduct(of: mic, conjugateOf: echo)
        cross.follow(product, weight: new)
        cross.writeCoherence(of: micPower, echoPower, into: &coherence)
        var (weighted, weights, heard): (Float, Float, Float) = (0, 0, 0)
        for bin in Self.judged {
            let weight = micPower[bin].squareRoot()
            weighted += weight * coherence[bin]
            weights += weight
            heard += echoPower[bin]
        }
        isEchoHeard = heard > 1e-8 * Float(Self.frames * Self.frames)
        let mean = isEchoHeard ? weighted / weights : 0
        let alone = min(1, max(0, (mean - Self.coherence.from) / Self.coherence.range))
        farOnly += 0.3 * (alone - farOnly)
        if isEchoHeard { likeness.observe(error: errorPower, echo: echoPower) }
    }

    /// Judges the near end.
    ///
    /// - Parameter expected: power that is expected to be left over the judged bins.
    mutating func judgeNear(expected: Float) {
        var left: Float = 1e-12
        for bin in Self.judged { left += errorPower[bin] }
        let excess = 10 * log10f(left / (expected + 1e-12))
        if isDistorted {
            let more = min(excess, tuning.distorted.most) - usualExcess
            usualExcess = max(0, usualExcess + (more > 0 ? Self.learning.up : Self.learning.down) * more)
        }
        let isPlain = excess - usualExcess > tuning.conversation.excess
        conversation = isPlain ? 1 : max(0, conversation - Self.block / tuning.conversation.seconds)
        let allowed = usualExcess * (1 - conversation) + tuning.near.from
        near = min(1, max(0, (excess - allowed) / tuning.near.range))
    }
}
