import Glibc
import VoiceSignal

/// Follows the drift of the playback's clock against the microphone's, from how the echo is ahead of or behind its
/// estimate.
///
/// A delay-locked loop: the error holds a share of the estimate's derivative as large as the timing error, -⟨e, y'⟩ /
/// ⟨y', y'⟩ frames. The loop opens only once that stays on one side, for without drift there is nothing to follow but
/// noise; it then moves the reference by a part of the error and its drift by an integral of it.
struct DriftLoop {
    /// Frames: mean timing error that opens the loop, and the share of the mean magnitude that it must be. In simulated
    /// rooms without drift the mean stayed below 0.011; it was 0.02 to 0.11 at 50 to 200 ppm.
    private static let opening: (frames: Double, share: Double) = (0.04, 0.8)
    /// Share of the timing error that the reference is moved by in each block.
    private static let proportional = 0.05
    /// Drift per frame of timing error in each block: at first, and once locked.
    private static let integral = (first: 2e-5, settled: 4e-6)
    /// Time constant between the two, seconds.
    private static let settling = 4.0
    /// Most that is followed: 500 ppm.
    private static let largest = 5e-4
    /// Distance from the lags' slope at which the loop is taken to be wrong: 25 ppm.
    private static let astray = 25e-6
    /// Weight of what is left in the error, against mistaking noise for time.
    private static let caution: Float = 3

    private var product = 0.0
    private var power = 0.0
    private var mean = 0.0
    private var meanMagnitude = 0.0
    private var openFor = 0.0
    /// Whether drift was found.
    private(set) var isOpen = false
    /// Frames per frame by which the echo's delay grows.
    private(set) var drift = 0.0

    /// Takes the slope of the lags, where they have one: it opens the loop, and sets it right where it has gone astray.
    mutating func follow(_ slope: Double) {
        guard !isOpen || abs(slope - drift) > Self.astray else { return }
        drift = max(-Self.largest, min(Self.largest, slope))
        isOpen = true
    }

    /// Takes the error and the echo estimate of a block, both from before the filter learned from it.
    ///
    /// - Parameter isReliable: whether the estimate explains the microphone well enough.
    /// - Returns: frames to delay the reference by, nil while closed.
    mutating func run(error: borrowing RealVector, estimate: borrowing RealVector, isReliable: Bool) -> Double? {
        var (inner, norm): (Float, Float) = (0, 0)
        for index in 1..<estimate.count - 1 {
            let slope = 0.5 * (estimate[index + 1] - estimate[index - 1])
            inner -= error[index] * slope
            norm += slope * slope
        }
        product += 0.095 * (Double(inner) - product)
        power += 0.095 * (Double(norm + Self.caution * error.energy) - power)
        guard isReliable else { return nil }
        let timing = power > 1e-9 ? max(-0.5, min(0.5, product / power)) : 0
        mean += 0.00995 * (timing - mean)
        meanMagnitude += 0.00995 * (abs(timing) - meanMagnitude)
        if !isOpen {
            isOpen = abs(mean) > Self.opening.frames && abs(mean) > Self.opening.share * meanMagnitude
        }
        guard isOpen else { return nil }
        openFor += 0.01
        let rate = max(Self.integral.first * exp(-openFor / Self.settling), Self.integral.settled)
        drift = max(-Self.largest, min(Self.largest, drift + rate * timing))
        return Self.proportional * timing
    }
}
