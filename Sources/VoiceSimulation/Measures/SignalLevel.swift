import Glibc
internal import VoiceSignal

/// How loud a signal is, in dB relative to full scale: 0 dB is an RMS of 1 (the dBov of RFC 6464).
///
/// `active` is a simple stand-in for the active speech level of ITU-T P.56: the RMS over those 20 ms frames that are at
/// most 35 dB below the loudest one. Unknown is nil: a silent signal has no level.
package struct SignalLevel: Equatable, Sendable {
    /// Frames that activity is judged over: 20 ms at 48 kHz.
    package static let frameLength = 960
    /// How far below the loudest frame a frame still counts as active, in dB.
    package static let activityRange = 35.0

    /// RMS of the whole signal in dB; nil: silence.
    package let rmsDecibels: Double?
    /// RMS of the active frames in dB; nil: silence, or shorter than a frame.
    package let activeDecibels: Double?
    /// The largest magnitude.
    package let peak: Float
    /// The share of whole frames that are active, 0...1.
    package let activity: Double

    /// Measures a signal; pure, does not allocate.
    package init(of signal: Span<Float>) {
        peak = VoiceSignal.peak(of: signal)
        rmsDecibels = decibels(meanPower(signal, 0..<signal.count))
        let frames = signal.count / Self.frameLength
        var loudest = 0.0
        for frame in 0..<frames { loudest = max(loudest, Self.power(of: signal, frame: frame)) }
        let threshold = loudest * pow(10, -Self.activityRange / 10)
        var (active, sum) = (0, 0.0)
        for frame in 0..<frames where loudest > 0 {
            let power = Self.power(of: signal, frame: frame)
            guard power >= threshold else { continue }
            active += 1
            sum += power
        }
        activity = frames > 0 ? Double(active) / Double(frames) : 0
        activeDecibels = active > 0 ? decibels(sum / Double(active)) : nil
    }

    private static func power(of signal: Span<Float>, frame: Int) -> Double {
        meanPower(signal, frame * frameLength..<(frame + 1) * frameLength)
    }
}

/// The mean square over a range of a signal; 0 of nothing.
func meanPower(_ signal: Span<Float>, _ range: Range<Int>) -> Double {
    var sum = 0.0
    for index in range { sum += Double(signal[index]) * Double(signal[index]) }
    return range.isEmpty ? 0 : sum / Double(range.count)
}

/// A ratio of powers in dB; nil for a ratio that has none.
func decibels(_ ratio: Double) -> Double? {
    ratio > 0 && ratio.isFinite ? 10 * log10(ratio) : nil
}
