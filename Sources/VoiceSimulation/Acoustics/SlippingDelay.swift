import Glibc
internal import VoiceSignal

/// A delay of whole frames that may jump, that shrinks or grows steadily when the clocks at its ends differ, and that
/// may swing.
@safe struct SlippingDelay: ~Copyable, Sendable {
    /// Frames that interpolation between samples needs ahead of the point it reads.
    static let shortestSlipping = Double(SincTable.reach)
    /// How much the delay may grow beyond the longest that can be asked for: 1,000 ppm over 5 minutes.
    private static let growthFrames = 14_400

    private let ring: RealVector
    private let mask: Int
    private let sinc: SincTable?
    private let slipPerFrame: Double
    private let longest: Double
    private let swingFrames: Double
    /// Radians of the swing per frame.
    private let swingRate: Double
    private var written = 0
    /// The delay at the start or after the last jump, in frames, slip not included.
    var bulkFrames: Int

    /// A delay whose output's clock is `ppm` parts per million slower than its input's when positive, so that it
    /// shrinks.
    init(bulkFrames: Int, longestFrames: Int, inputFasterByPPM ppm: Double, swing: DelaySwing? = nil) {
        self.bulkFrames = bulkFrames
        slipPerFrame = ppm * 1e-6
        swingFrames = swing?.frames ?? 0
        swingRate = swing.map { 2 * Double.pi / ($0.period / .seconds(1) * RoomAcoustics.sampleRate) } ?? 0
        sinc = ppm == 0 && swing == nil ? nil : SincTable()
        var capacity = 1
        while capacity < longestFrames + Self.growthFrames + SincTable.width { capacity *= 2 }
        ring = RealVector(count: capacity)
        mask = capacity - 1
        longest = Double(longestFrames + Self.growthFrames)
    }

    /// What the delay is now, in frames.
    var currentFrames: Double {
        guard sinc != nil else { return Double(bulkFrames) }
        let frame = Double(written)
        let swing = swingFrames * sin(swingRate * frame)
        return min(max(Double(bulkFrames) - frame * slipPerFrame + swing, Self.shortestSlipping), longest)
    }

    /// Takes one frame and gives the one that is due.
    mutating func process(_ sample: Float) -> Float {
        unsafe ring.start[written & mask] = sample
        let output = sinc == nil ? unsafe ring.start[(written - bulkFrames) & mask] : interpolate()
        written += 1
        return output
    }

    private func interpolate() -> Float {
        guard let sinc else { return 0 }
        // Apart from the whole frames, so that the fraction stays precise however long the stream runs.
        let delay = currentFrames
        let whole = Int(delay.rounded(.up))
        let phase = (Double(whole) - delay) * Double(SincTable.phases)
        let row = min(Int(phase), SincTable.phases - 1)
        let between = Float(phase - Double(row))
        let first = written - whole - SincTable.reach + 1
        var sum: Float = 0
        for tap in 0..<SincTable.width {
            let index = row * SincTable.width + tap
            let weight = sinc.weights[index] + between * (sinc.weights[index + SincTable.width] - sinc.weights[index])
            unsafe sum += weight * ring.start[(first + tap) & mask]
        }
        return sum
    }
}
