import Glibc
internal import VoiceSignal

/// By how much one signal comes later than another of the same content, found by cross-correlation over Fourier
/// transforms.
package struct SignalAlignment: Equatable, Sendable {
    /// What the correlation is taken of.
    package enum Weighting: Equatable, Sendable {
        /// The signals as they are. Best against noise.
        case none
        /// Their phases only (generalised cross-correlation with phase transform; C. H. Knapp, G. C. Carter, IEEE TASSP
        /// 1976). Sharp even for voiced speech and behind a reverberant or coloured path.
        case phaseTransform
    }

    /// Frames by which `later` comes after `earlier`; negative: before.
    package let delayFrames: Int
    /// Correlation coefficient of the overlapping parts at that delay, -1...1; its sign tells inverted polarity.
    package let correlation: Double
    /// How far the largest peak stands above the largest one more than `peakFrames` away; near 1 means a guess.
    package let peakRatio: Double

    /// Frames around a peak that belong to it: 2 ms at 48 kHz.
    package static let peakFrames = 96
    /// Least correlation and peak ratio of a delay to act on; below, it was not measured.
    package static let trustedCorrelation = 0.2
    /// See `trustedCorrelation`.
    package static let trustedPeakRatio = 1.2

    /// Whether the delay is worth acting on: it explains the signals, and no other does nearly so well.
    package var isTrusted: Bool {
        abs(correlation) >= Self.trustedCorrelation && peakRatio >= Self.trustedPeakRatio
    }

    /// Searches delays from `-longestDelayFrames` to `longestDelayFrames`. Nil when a signal is silent or shorter than
    /// 8 frames. Allocates some ten times the signals' size; takes about 0.1 s for 10 s of sound.
    package init?(
        of later: Span<Float>, after earlier: Span<Float>, longestDelayFrames: Int, weighting: Weighting = .none
    ) {
        precondition(longestDelayFrames >= 0, "a search reaches zero frames or more")
        guard later.count >= 8, earlier.count >= 8 else { return nil }
        guard meanPower(later, 0..<later.count) > 0, meanPower(earlier, 0..<earlier.count) > 0 else { return nil }
        let function = Self.correlate(later, earlier, longestDelay: longestDelayFrames, weighting: weighting)
        let reach = min(longestDelayFrames, max(later.count, earlier.count) - 1)
        func value(_ delay: Int) -> Float { function[delay >= 0 ? delay : function.count + delay] }
        var best = 0
        for delay in -reach...reach where abs(value(delay)) > abs(value(best)) { best = delay }
        var second: Float = 0
        for delay in -reach...reach where abs(delay - best) > Self.peakFrames {
            second = max(second, abs(value(delay)))
        }
        delayFrames = best
        peakRatio = second > 0 ? Double(abs(value(best)) / second) : .infinity
        correlation = Self.coefficient(later, earlier, delay: best)
    }

    /// Circular correlation, padded so that nothing wraps within the search: index = delay, negative ones from the end.
    private static func correlate(
        _ later: Span<Float>, _ earlier: Span<Float>, longestDelay: Int, weighting: Weighting
    ) -> [Float] {
        var length = 8
        while length < max(later.count, earlier.count) + longestDelay + 1 { length *= 2 }
        var transform = RealTransform(length: length)
        var (laterReal, laterImaginary) = transform.spectrum(of: later)
        let (earlierReal, earlierImaginary) = transform.spectrum(of: earlier)
        let isWhitened = weighting == .phaseTransform
        for bin in 1..<length / 2 {
            let (a, b, c, d) = (laterReal[bin], laterImaginary[bin], earlierReal[bin], earlierImaginary[bin])
            let (real, imaginary) = (a * c + b * d, b * c - a * d)
            let magnitude = isWhitened ? max((real * real + imaginary * imaginary).squareRoot(), 1e-20) : 1
            laterReal[bin] = real / magnitude
            laterImaginary[bin] = imaginary / magnitude
        }
        // The bins at zero and half the sample rate say nothing of a delay.
        laterReal[0] = 0
        laterReal[length / 2] = 0
        return transform.signal(real: laterReal, imaginary: laterImaginary)
    }

    private static func coefficient(_ later: Span<Float>, _ earlier: Span<Float>, delay: Int) -> Double {
        let from = max(0, -delay)
        let to = max(from, min(earlier.count, later.count - delay))
        var (product, laterEnergy, earlierEnergy) = (0.0, 0.0, 0.0)
        for index in from..<to {
            let (x, y) = (Double(later[index + delay]), Double(earlier[index]))
            product += x * y
            laterEnergy += x * x
            earlierEnergy += y * y
        }
        let energy = (laterEnergy * earlierEnergy).squareRoot()
        return energy > 0 ? product / energy : 0
    }
}
