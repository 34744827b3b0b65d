import Glibc
internal import VoiceSignal

/// Finds a ``ProbePulse`` in recordings: a matched filter, normalised by the sound that it is compared with, so that a
/// loud noise is no better a candidate than a quiet one.
///
/// What lies outside the pulse's band does not count. Not for real-time threads: a search allocates some twenty times
/// the recording's size and takes about 20 ms for a second of sound.
package struct PulseSearch: Sendable {
    /// What is looked for.
    package let pulse: ProbePulse

    /// Correlations this many standard deviations of noise's are no noise: one search in a million, over a second of
    /// it.
    private static let significance = 6.5
    /// What lies this far below the loudest sound is the arithmetic's own noise, as a ratio of powers.
    private static let arithmeticNoise = 1e-9
    /// Sound below this mean square is silence: -120 dBFS, the last bit of 20.
    private static let silence = 1e-12
    /// How far the filter's skirts reach beyond the band, in Hz.
    private static let skirt = 100.0

    /// A search for `pulse`.
    package init(_ pulse: ProbePulse) { self.pulse = pulse }

    /// What the correlation coefficient must be at least for the pulse to be there. That of the pulse with noise of its
    /// band is normal, with a variance of one over twice the time-bandwidth product.
    package var leastCorrelation: Double {
        let seconds = Double(pulse.samples.count) / ProbePulse.sampleRate
        let width = pulse.band.upperBound - pulse.band.lowerBound
        return min(Self.significance / (2 * seconds * width).squareRoot(), 0.9)
    }

    /// Where the pulse is, whole, in `recording` (48 kHz mono); where it is not there the likeliest place, which
    /// ``PulseDetection/isTrusted`` tells apart. Nil when the recording is shorter than the pulse or silent.
    package func find(in recording: Span<Float>) -> PulseDetection? {
        guard recording.count > pulse.samples.count, let scores = scores(of: recording) else { return nil }
        var best = 0
        for place in scores.indices where abs(scores[place]) > abs(scores[best]) { best = place }
        var second: Float = 0
        for place in scores.indices where abs(place - best) > PulseDetection.peakFrames {
            second = max(second, abs(scores[place]))
        }
        let peak = Self.peak(of: scores, at: best)
        return PulseDetection(
            position: Double(best) + peak.offset, correlation: scores[best] < 0 ? -peak.height : peak.height,
            peakRatio: second > 0 ? peak.height / Double(second) : .infinity, leastCorrelation: leastCorrelation)
    }

    /// The correlation coefficient of the pulse with what begins at each frame of the recording; nil where that is
    /// silent.
    private func scores(of recording: Span<Float>) -> [Float]? {
        let (filtered, products, pulseEnergy) = correlate(recording)
        let span = pulse.samples.count
        // The energy of each stretch as a difference of running sums.
        var sums = [0.0]
        sums.reserveCapacity(recording.count + 1)
        for index in recording.indices { sums.append(sums[index] + Double(filtered[index]) * Double(filtered[index])) }
        var loudest = 0.0
        for place in 0...recording.count - span { loudest = max(loudest, sums[place + span] - sums[place]) }
        guard loudest > Self.silence * Double(span) else { return nil }
        let floor = max(loudest * Self.arithmeticNoise, Self.silence * Double(span))
        return (0...recording.count - span).map { place in
            let energy = sums[place + span] - sums[place] + floor
            return products[place] / Float((energy * pulseEnergy).squareRoot())
        }
    }

    /// The recording within the pulse's band, its products with the pulse at each place, and the pulse's energy within
    /// its band.
    private func correlate(_ recording: Span<Float>) -> (filtered: [Float], products: [Float], pulseEnergy: Double) {
        var length = 8
        while length < recording.count + 2 * pulse.samples.count { length *= 2 }
        var transform = RealTransform(length: length)
        var sound = Spectrum(of: recording, &transform)
        var pattern = Spectrum(of: pulse.samples.span, &transform)
        sound.confine(to: pulse.band, skirt: Self.skirt)
        pattern.confine(to: pulse.band, skirt: Self.skirt)
        let filtered = sound.signal(&transform)
        let energy = pattern.signal(&transform).reduce(0.0) { $0 + Double($1) * Double($1) }
        sound.correlate(with: pattern)
        return (filtered, sound.signal(&transform), energy)
    }

    /// The vertex of a parabola through the magnitudes at `place` and beside it: how far from `place`, and how high.
    private static func peak(of scores: [Float], at place: Int) -> (offset: Double, height: Double) {
        let middle = Double(abs(scores[place]))
        guard place > 0, place < scores.count - 1 else { return (0, middle) }
        let (before, after) = (Double(abs(scores[place - 1])), Double(abs(scores[place + 1])))
        let curvature = before - 2 * middle + after
        guard curvature < 0 else { return (0, middle) }
        let offset = min(max((before - after) / (2 * curvature), -0.5), 0.5)
        return (offset, min(middle - (before - after) * offset / 4, 1))
    }
}

/// A spectrum as ``RealTransform`` gives it, with what a search does to it.
private struct Spectrum {
    private var real: [Float]
    private var imaginary: [Float]

    init(of signal: Span<Float>, _ transform: inout RealTransform) {
        (real, imaginary) = transform.spectrum(of: signal)
    }

    func signal(_ transform: inout RealTransform) -> [Float] {
        transform.signal(real: real, imaginary: imaginary)
    }

    /// Takes away what lies outside `band`, with skirts of a raised cosine, and without a delay.
    mutating func confine(to band: ClosedRange<Double>, skirt: Double) {
        let step = ProbePulse.sampleRate / Double(2 * (real.count - 1))
        for bin in real.indices {
            let frequency = Double(bin) * step
            let beyond = max(band.lowerBound - frequency, frequency - band.upperBound, 0) / skirt
            guard beyond > 0 else { continue }
            let gain = beyond < 1 ? Float(0.5 + 0.5 * cos(.pi * beyond)) : 0
            real[bin] *= gain
            imaginary[bin] *= gain
        }
    }

    /// Turns this spectrum into that of its cross-correlation with `pattern`.
    mutating func correlate(with pattern: Spectrum) {
        for bin in real.indices {
            let (a, b, c, d) = (real[bin], imaginary[bin], pattern.real[bin], pattern.imaginary[bin])
            real[bin] = a * c + b * d
            imaginary[bin] = b * c - a * d
        }
    }
}
