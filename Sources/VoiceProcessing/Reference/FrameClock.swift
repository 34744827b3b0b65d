import VoiceSignal

/// When each frame of a stream passed its converter: a delay-locked loop over time stamps that jitter.
///
/// The bandwidth starts wide and narrows as 1/t, so that the period is found within a second and is good to a few ppm
/// after half a minute. A period is never further from the nominal one than a card's can be: what the time stamps say
/// beyond that comes of how late they are.
struct FrameClock: BitwiseCopyable {
    /// Bandwidths, Hz. At the widest the loop is still stable with blocks of 20 ms; at the narrowest a jitter of 1 ms
    /// RMS leaves about 0.04 ms in the times and 3 ppm in the period.
    private static let bandwidth = (widest: 4.0, narrowest: 0.02)
    /// How fast it narrows: bandwidth times seconds since the start.
    private static let narrowing = 0.3
    /// Weight of a new error in the mean square.
    private static let jitterWeight = 0.02
    /// Share of the nominal period by which a card's may differ. Crystals are within 0.05 %; cards that run at another
    /// rate than they tell, within 1 %.
    static let largestDeviation = 0.01
    private static let nanosecondsPerSecond = 1e9

    /// Frame that `time` belongs to.
    private var frame: Int64
    private var loop: DelayLockedLoop
    private let nominal: Double
    private var elapsed = 0.0
    private var meanSquareError = 0.0
    private(set) var updates = 1

    /// A clock that has seen one time stamp.
    ///
    /// - Parameters:
    ///   - nominal: nanoseconds per frame, as the stream's rate has it.
    ///   - found: what an earlier clock of the same stream has found.
    init(frame: Int64, time: Int64, nominal: Double, found: Double? = nil) {
        self.frame = frame
        self.nominal = nominal
        loop = DelayLockedLoop(time: Double(time), period: found ?? nominal)
    }

    /// Nanoseconds per frame.
    var period: Double { loop.period }

    /// RMS distance of the time stamps from the smoothed times, nanoseconds.
    var jitter: Double { meanSquareError.squareRoot() }

    /// Seconds since the first time stamp.
    var age: Double { elapsed }

    /// When a frame passes or passed, nanoseconds.
    func time(of other: Int64) -> Double { loop.time(after: Double(other - frame)) }

    /// Which frame passes at a time, in nanoseconds.
    func frame(at other: Double) -> Double { Double(frame) + (other - loop.time) / period }

    /// Takes the time stamp of a later frame.
    mutating func update(frame next: Int64, time stamp: Int64) {
        let frames = Double(next - frame)
        guard frames > 0 else { return }
        let seconds = frames * period / Self.nanosecondsPerSecond
        elapsed += seconds
        let bandwidth = max(Self.bandwidth.narrowest, min(Self.bandwidth.widest, Self.narrowing / elapsed))
        let error = loop.follow(
            Double(stamp), after: frames, weight: DelayLockedLoop.weight(bandwidth: bandwidth, seconds: seconds))
        loop.period = max(
            (1 - Self.largestDeviation) * nominal, min((1 + Self.largestDeviation) * nominal, loop.period))
        frame = next
        let weight = max(Self.jitterWeight, 1 / Double(updates + 1))
        meanSquareError += weight * (error * error - meanSquareError)
        updates += 1
    }
}
