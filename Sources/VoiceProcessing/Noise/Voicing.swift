import Glibc
import VoiceSignal

/// How periodic a frame is at the pitch of a voice: what tells a vowel from a click or a hiss.
///
/// The autocorrelation of what the suppressor leaves, below 2.8 kHz, at lags of 2.5 to 14 ms, by the transform of its power
/// spectrum, relative to the window's own.
struct Voicing: ~Copyable {
    /// Range of pitch, Hz, and of the harmonics that count, Hz.
    private static let pitch = (lowest: 70.0, highest: 400.0)
    private static let harmonics = (lowest: 62.0, highest: 2800.0)
    /// The window's autocorrelation is taken for at least this, so that the longest lags are not raised out of nothing.
    private static let leastWindow: Float = 0.15
    private static let length = 256
    /// Where certainty ends.
    private static let most: Float = 1.2

    private var transform = RealTransform(length: Voicing.length)
    private var correlation = RealVector(count: Voicing.length)
    private var normalisation: RealVector
    private let bins: Range<Int>
    private let lags: ClosedRange<Int>

    /// - Parameter spectrum: samples per transform of the spectra that are judged, of at least 256.
    init(window: borrowing RealVector, spectrum: Int, sampleRate: Int) {
        let spacing = Double(sampleRate) / Double(spectrum)
        let lagRate = spacing * Double(Self.length)
        bins = Int((Self.harmonics.lowest / spacing).rounded(.up))..<Int(Self.harmonics.highest / spacing)
        lags = Int(lagRate / Self.pitch.highest)...min(Self.length / 2, Int(lagRate / Self.pitch.lowest))
        normalisation = RealVector(count: Self.length / 2 + 1, repeating: 1)
        let step = Double(sampleRate) / lagRate
        let whole = Self.correlation(window, lag: 0)
        for lag in lags {
            let samples = Int((Double(lag) * step).rounded())
            // The transform is circular: what is correlated at the rest of its length counts too.
            let own = Self.correlation(window, lag: samples) + Self.correlation(window, lag: spectrum - samples)
            normalisation[lag] = 1 / max(Self.leastWindow, own / whole)
        }
    }

    private static func correlation(_ window: borrowing RealVector, lag: Int) -> Float {
        var sum: Float = 0
        for index in 0..<max(0, window.count - lag) { sum += window[index] * window[index + lag] }
        return sum
    }

    /// 0 for noise to 1.2 for a clear vowel, of the power in each bin.
    mutating func measure(_ power: (Int) -> Float) -> Float {
        for bin in 0..<transform.bins {
            transform.real[bin] = bins.contains(bin) ? power(bin) : 0
            transform.imaginary[bin] = 0
        }
        transform.inverse(into: &correlation)
        guard correlation[0] > 1e-20 else { return 0 }
        var best: Float = 0
        for lag in lags { best = max(best, correlation[lag] * normalisation[lag]) }
        return min(Self.most, best / correlation[0])
    }
}
