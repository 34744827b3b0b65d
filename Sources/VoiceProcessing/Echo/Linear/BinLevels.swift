import CVoiceKernels
import VoiceSignal

/// The power of a new path's echo over the reference's in each bin, as far as both were heard since the path began.
///
/// A microphone's own suppressor and gain control may let vowels hardly pass and turn hisses up by 40 dB, and a
/// reference may be 40 dB softer than what its loudspeaker makes of it. A filter that expects a bin's weights to be so
/// much smaller than they are never learns them.
///
/// The level is the slope of the microphone's power d over the reference's x, cov(d, x) / var(x), where they rise and
/// fall together: the room's noise is no part of it, however much louder it is than a bin's echo.
struct BinLevels: ~Copyable {
    private static let bins = Spectrum.bins
    /// Lanes of the reference that count, and how much less each than the one before it: as a path's power falls.
    private static let lanes = (count: 8, decay: Float(0.82))
    /// Bins to each side that count.
    private static let reach = 4
    /// Blocks of which something can be told, and that count: 0.1 and 0.4 s.
    private static let blocks = 10...40
    /// Least correlation of both powers.
    private static let least: Float = 0.5
    /// Squared spectrum below which there is no reference: two blocks of white noise of -150 dBFS.
    private static let audible: Float = 3.2e-13
    /// Most that is told: 50 dB.
    private static let most: Float = 1e5

    private var count = blocks.upperBound
    private var power = RealVector(count: bins)
    private var reference = RealVector(count: bins)
    private var smoothed = RealVector(count: bins)
    /// Sums over the blocks, of d, x, and their products.
    private var d = RealVector(count: bins)
    private var x = RealVector(count: bins)
    private var dd = RealVector(count: bins)
    private var xx = RealVector(count: bins)
    private var dx = RealVector(count: bins)
    /// What ``write(above:)`` wrote last.
    private(set) var levels = RealVector(count: bins)

    /// A path begins.
    mutating func restart() {
        count = 0
        d.fill(0)
        x.fill(0)
        dd.fill(0)
        xx.fill(0)
        dx.fill(0)
    }

    /// Takes a block in which the reference plays.
    ///
    /// - Parameters:
    ///   - microphone: the spectrum of a block of silence followed by the microphone's.
    ///   - played: the filter's lanes, each of two blocks.
    mutating func observe(microphone: borrowing Spectrum, reference played: borrowing Spectrum) {
        guard count < Self.blocks.upperBound else { return }
        precondition(microphone.lanes == 1 && played.lanes >= Self.lanes.count)
        count += 1
        unsafe vk_mean_power(microphone.real.start, microphone.imaginary.start, Self.reach, power.start)
        takePower(of: played)
        for bin in 0..<Self.bins {
            d[bin] += power[bin]
            x[bin] += smoothed[bin]
            dd[bin] += power[bin] * power[bin]
            xx[bin] += smoothed[bin] * smoothed[bin]
            dx[bin] += power[bin] * smoothed[bin]
        }
    }

    /// The power that an echo of 1 would have, over the neighbouring bins.
    private mutating func takePower(of played: borrowing Spectrum) {
        for bin in 0..<Self.bins {
            reference[bin] = 0
            // A lane's spectrum is of two blocks.
            var weight = 0.5 * (1 - Self.lanes.decay)
            for lane in 0..<Self.lanes.count {
                reference[bin] += weight * played.power(bin * played.lanes + lane)
                weight *= Self.lanes.decay
            }
        }
        for bin in 0..<Self.bins {
            let (first, end) = (max(0, bin - Self.reach), min(Self.bins, bin + Self.reach + 1))
            var sum: Float = 0
            for other in first..<end { sum += reference[other] }
            smoothed[bin] = sum / Float(end - first)
        }
    }

    /// Writes the levels of the bins in which they are above `usual`, and 0 for the others.
    mutating func write(above usual: Float) {
        levels.fill(0)
        guard Self.blocks.contains(count) else { return }
        let share = 1 / Float(count)
        for bin in 0..<Self.bins where x[bin] > Self.audible * Float(count) {
            let covariance = dx[bin] - share * d[bin] * x[bin]
            let (ofD, ofX) = (dd[bin] - share * d[bin] * d[bin], xx[bin] - share * x[bin] * x[bin])
            guard covariance > 0, covariance * covariance > Self.least * Self.least * ofD * ofX else { continue }
            let level = min(Self.most, covariance / (ofX + 1e-20))
            if level > usual { levels[bin] = level }
        }
    }
}
