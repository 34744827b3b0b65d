import VoiceSignal

/// Whether what is left rises and falls with the echo, as what a loudspeaker distorts does and a near talker does not.
///
/// The mean, over bands of 400 Hz, of the correlation of two levels in decibels over the last second. In simulated
/// calls with the loudspeakers of phones and laptops the median was 0.5 to 0.9 while the far end was alone and -0.2 to
/// 0.4 while both talked.
struct EnvelopeLikeness: ~Copyable {
    private static let bands = 12
    private static let width = 8
    /// The first band's first bin: 0.2 kHz.
    private static let first = 4
    /// Weight of a block: 1 s.
    private static let weight: Float = 0.01
    /// Squared spectrum below which there is no level to speak of.
    private static let least: Float = 1e-7

    /// Of the two levels in each band: means, variances and covariance.
    private var left = RealVector(count: bands)
    private var echoed = RealVector(count: bands)
    private var leftVariance = RealVector(count: bands, repeating: 1)
    private var echoedVariance = RealVector(count: bands, repeating: 1)
    private var covariance = RealVector(count: bands)

    /// Of the newest block, of what is left and of the echo.
    private var levels = RealVector(count: 2 * bands)

    /// -1...1.
    private(set) var value: Float = 0

    /// Takes a block's smoothed powers: of the error and of the echo estimate.
    mutating func observe(error: borrowing RealVector, echo: borrowing RealVector) {
        for band in 0..<Self.bands {
            var (e, y): (Float, Float) = (0, 0)
            for bin in Self.first + band * Self.width..<Self.first + (band + 1) * Self.width {
                e += error[bin]
                y += echo[bin]
            }
            (levels[band], levels[Self.bands + band]) = (e, y)
        }
        levels.takeCommonLogarithm(in: 0..<levels.count, adding: Self.least)
        var sum: Float = 0
        for band in 0..<Self.bands {
            let de = 10 * levels[band] - left[band]
            let dy = 10 * levels[Self.bands + band] - echoed[band]
            left[band] += Self.weight * de
            echoed[band] += Self.weight * dy
            leftVariance[band] += Self.weight * (de * de - leftVariance[band])
            echoedVariance[band] += Self.weight * (dy * dy - echoedVariance[band])
            covariance[band] += Self.weight * (de * dy - covariance[band])
            sum += covariance[band] / (leftVariance[band] * echoedVariance[band] + 1e-6).squareRoot()
        }
        value = sum / Float(Self.bands)
    }
}
