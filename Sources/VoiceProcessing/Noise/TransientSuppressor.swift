import VoiceSignal

/// Takes clicks away where there are many: a keyboard's, mostly.
///
/// One click cannot be told from a plosive without waiting for what follows it. Many can: what rises by 9 dB within 5
/// ms and has fallen by 14 dB 25 ms later is counted, speech has such an event now and then, typing several in a
/// second. Only while the rate is that high are the upper bands held to twice their power before a jump. Speech without
/// clicks is touched where its own plosives come that fast, which is seldom: a talker's rate stays below where the
/// suppression begins but for moments.
struct TransientSuppressor: ~Copyable {
    /// Where clicks are looked for and taken away, Hz: above most of a voice's harmonics.
    private static let lowest = 1200.0
    /// Frames of 5 ms between a jump and the look whether it has gone.
    private static let patience = 6
    /// Power ratios: of the jump in one frame, of its peak and of what may be left of the peak.
    private static let event = (jump: Float(7.9), peak: Float(15.8), left: Float(0.04))
    /// Memory of the rate, 3 s of frames, and events per second at which the suppression begins and is complete.
    private static let memory: Float = 600
    private static let framesPerSecond: Float = 200
    private static let rates = (begins: Float(0.6), complete: Float(1.2))
    /// Power that is let through, relative to the power before.
    private static let allowance: Float = 2
    /// How fast the power before follows, per frame, and how fast through a jump while there is typing.
    private static let following = (usual: Float(0.3), jump: Float(0.03))
    /// What counts as a jump for the following.
    private static let followingJump: Float = 4

    /// The first band that is looked at.
    private let first: Int
    private let last: Int
    private var before: RealVector
    private var past = InlineArray<7, Float>(repeating: 0)
    /// Events per second, over the last seconds.
    private(set) var rate: Float = 0

    init(bands: borrowing CriticalBands) {
        first = bands.index(of: Self.lowest)
        last = bands.speechCount - 2
        before = RealVector(count: bands.count)
    }

    /// How sure it is that there is typing, 0...1.
    var certainty: Float {
        min(1, max(0, (rate - Self.rates.begins) / (Self.rates.complete - Self.rates.begins)))
    }

    /// Takes the power of the upper bands of a frame, summed by `power`.
    mutating func observe(_ power: (Int) -> Float) {
        var sum: Float = 0
        for band in first...last { sum += power(band) }
        for index in 0..<Self.patience { past[index] = past[index + 1] }
        past[Self.patience] = sum
        let quiet = past[0]
        let peak = max(max(past[1], past[2]), max(past[3], past[4]))
        let isEvent =
            past[1] > Self.event.jump * quiet && peak > Self.event.peak * quiet && sum < Self.event.left * peak
        rate += (isEvent ? Self.framesPerSecond / Self.memory : 0) - rate / Self.memory
    }

    /// The gain for a band of this power.
    mutating func gain(band: Int, power: Float) -> Float {
        guard band >= first else { return 1 }
        let certainty = certainty
        let calm = before[band]
        let isHeld = power > Self.followingJump * calm && certainty > 0
        before[band] += (isHeld ? Self.following.jump : Self.following.usual) * (power - calm)
        guard certainty > 0, power > Self.allowance * calm else { return 1 }
        return 1 - certainty * (1 - (Self.allowance * calm / power).squareRoot())
    }
}
