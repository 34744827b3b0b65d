import Glibc
import VoiceSignal

/// Triangular bands, evenly spaced on the Bark scale, that overlap by half: each bin is shared by two.
///
/// Bark scale after E. Zwicker, E. Terhardt (JASA 68, 1980), in the form that speexdsp's `filterbank.c` uses.
struct CriticalBands: ~Copyable {
    /// A bin's share of its lower and upper band.
    struct Place: BitwiseCopyable {
        var lower = 0
        var upperShare: Float = 0
    }

    /// Width of a band, Bark.
    private static let spacing = 0.92

    let count: Int
    private(set) var places: FixedArray<Place>
    /// Bands that begin below 8 kHz: the ones that speech is judged by.
    let speechCount: Int
    private let step: Double

    init(bins: Int, sampleRate: Int) {
        let binsPerHertz = Double(2 * (bins - 1)) / Double(sampleRate)
        let widest = Self.bark(Double(sampleRate) / 2)
        count = Int((widest / Self.spacing).rounded()) + 1
        step = widest / Double(count - 1)
        places = FixedArray(count: bins, repeating: Place())
        for bin in 0..<bins {
            let place = Self.bark(Double(bin) / binsPerHertz) / step
            let lower = min(Int(place), count - 2)
            places[bin] = Place(lower: lower, upperShare: Float(place - Double(lower)))
        }
        speechCount = min(count, Int(Self.bark(8000) / step) + 1)
    }

    /// The first band that lies above a frequency, in hertz.
    func index(of hertz: Double) -> Int { Int((Self.bark(hertz) / step).rounded(.up)) }

    private static func bark(_ hertz: Double) -> Double {
        13.1 * atan(0.000_74 * hertz) + 2.24 * atan(hertz * hertz * 1.85e-8) + 1e-4 * hertz
    }
}
