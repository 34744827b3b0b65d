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
    /// The first bin that each band is the lower one of, and the end of all.
    private var firsts: FixedArray<Int>
    /// The bins' shares of their lower and upper bands.
    private var lowerShares: RealVector
    private var upperShares: RealVector

    init(bins: Int, sampleRate: Int) {
        let binsPerHertz = Double(2 * (bins - 1)) / Double(sampleRate)
        let widest = Self.bark(Double(sampleRate) / 2)
        count = Int((widest / Self.spacing).rounded()) + 1
        step = widest / Double(count - 1)
        places = FixedArray(count: bins, repeating: Place())
        firsts = FixedArray(count: count + 1, repeating: bins)
        lowerShares = RealVector(count: bins)
        upperShares = RealVector(count: bins)
        for bin in (0..<bins).reversed() {
            let place = Self.bark(Double(bin) / binsPerHertz) / step
            let lower = min(Int(place), count - 2)
            places[bin] = Place(lower: lower, upperShare: Float(place - Double(lower)))
            (lowerShares[bin], upperShares[bin]) = (1 - places[bin].upperShare, places[bin].upperShare)
            for band in 0...lower { firsts[band] = bin }
        }
        speechCount = min(count, Int(Self.bark(8000) / step) + 1)
    }

    /// What of the bins' powers is a band's.
    func sum(of powers: borrowing RealVector, in band: Int) -> Float {
        let (first, end) = (firsts[band], firsts[band + 1])
        let falling = powers.dot(lowerShares, in: first..<end)
        return band == 0 ? falling : powers.dot(upperShares, in: firsts[band - 1]..<first) + falling
    }

    /// The first band that lies above a frequency, in hertz.
    func index(of hertz: Double) -> Int { Int((Self.bark(hertz) / step).rounded(.up)) }

    private static func bark(_ hertz: Double) -> Double {
        13.1 * atan(0.000_74 * hertz) + 2.24 * atan(hertz * hertz * 1.85e-8) + 1e-4 * hertz
    }
}
