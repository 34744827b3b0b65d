import Glibc

/// A short sound that is easy to find again in a recording, however faint: a sweep of constant loudness whose
/// autocorrelation is one narrow peak with next to nothing beside it.
///
/// The sweep is a non-linear one: it passes each frequency at the speed that gives the whole a Hamming-shaped power
/// spectrum (principle of stationary phase; C. E. Cook, M. Bernfeld, "Radar Signals", 1967, chapter 3), which is what
/// keeps the side lobes down without giving up loudness. It is band-limited, so that loudspeakers, codecs and
/// suppressors pass it, and its ends are faded.
package struct ProbePulse: Equatable, Sendable {
    /// Frames per second of ``samples``.
    package static let sampleRate = 48_000.0
    /// How much of the pulse its fades take at each end.
    private static let fade = 0.04

    /// The sound, 48 kHz mono.
    package let samples: [Float]
    /// The frequencies that it sweeps, in Hz.
    package let band: ClosedRange<Double>

    /// For sound cards: sharp to microseconds, and still within what small loudspeakers play. 43 ms.
    package static let wide = ProbePulse(band: 500...12_000, frames: 2_048)

    /// For the way through a voice codec and a noise suppressor: within the telephone band, 85 ms.
    package static let voice = ProbePulse(band: 300...3_800, frames: 4_096)

    /// A pulse that sweeps `band`, in Hz and below 24 kHz, within `frames` frames, at an amplitude of `amplitude` (0 to
    /// 1). Allocates; takes a millisecond.
    package init(band: ClosedRange<Double>, frames: Int, amplitude: Float = 0.25) {
        precondition(band.lowerBound > 0 && band.upperBound < Self.sampleRate / 2, "a band lies between 0 and 24 kHz")
        precondition(
            frames >= 64 && amplitude > 0 && amplitude <= 1, "a pulse has 64 frames or more, within full scale")
        self.band = band
        let width = band.upperBound - band.lowerBound
        var phase = 0.0
        samples = (0..<frames).map { frame in
            let part = (Double(frame) + 0.5) / Double(frames)
            let frequency = band.lowerBound + width * Self.progress(at: part)
            phase += 2 * .pi * frequency / Self.sampleRate
            return amplitude * Float(Self.envelope(at: part) * sin(phase))
        }
    }

    /// How far the sweep has come, 0 to 1, when `part` of its time is over: where the integral of the Hamming window
    /// reaches `part`.
    private static func progress(at part: Double) -> Double {
        var (low, high) = (0.0, 1.0)
        // Each step halves the interval; 40 reach a millionth of a hertz.
        for _ in 0..<40 {
            let middle = (low + high) / 2
            let integral = middle - 0.46 / (0.54 * 2 * .pi) * sin(2 * .pi * middle)
            if integral < part { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }

    private static func envelope(at part: Double) -> Double {
        let distance = min(part, 1 - part) / fade
        return distance >= 1 ? 1 : 0.5 - 0.5 * cos(.pi * distance)
    }
}

extension ProbePulse: CustomStringConvertible {
    /// How long it is and what it sweeps.
    package var description: String {
        "\(samples.count) frames, \(Int(band.lowerBound)) to \(Int(band.upperBound)) Hz"
    }
}
