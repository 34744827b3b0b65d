import Glibc
import VoiceSignal

/// What ``ResidualEchoNetwork`` looks at, of a block: powers, coherence and the statistical estimate, in bands and in
/// bins.
///
/// Powers are common logarithms, of other things than the error relative to the error's: how loud a call is hardly
/// shows.
struct ResidualEchoFeatures: ~Copyable {
    /// The bands' first bins: 100 Hz wide, from 1.2 kHz on ever wider.
    private static let edges: [Int] = [
        2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 27, 30, 33, 36, 40, 44, 48, 53, 58, 64, 70, 77, 85, 94, 104, 115,
        127,
        140, 150, 161,
    ]
    private static let bins = Spectrum.bins
    /// Bins rounded up for the kernels; there is nothing in the rest.
    static let paddedBins = (bins + 7) / 8 * 8
    /// Features of a band, of a block, of all bands and the block, and of a bin.
    static let perBand = 7
    static let perBlock = 5
    static let inBands = perBand * (edges.count - 1) + perBlock
    static let perBin = 8
    /// Added to powers before their logarithms are taken; lowest gain that is told from none.
    private static let least: (power: Float, gain: Float) = (1e-6, 0.01)
    /// Largest magnitude of a feature, in bands and in bins.
    private static let most: (band: Float, bin: Float) = (5, 6)
    /// Weight of a block in smoothed powers: 60 ms.
    private static let weight: Float = 0.15

    /// The statistical estimate of a block: what of it is echo, and what that makes of the gains.
    struct Estimate: ~Copyable {
        /// Power of the echo that is left, and of the filter's own error, for each bin.
        var residual = RealVector(count: Spectrum.bins)
        var uncertainty = RealVector(count: Spectrum.bins)
        var gain = RealVector(count: Spectrum.bins, repeating: 1)
        /// How many times more the filter's error may be, since the path is new.
        var doubt: Float = 1
        /// Share of the microphone that the filter does not explain, 0...1.
        var unexplained: Float = 0
    }

    /// Band after band, ``perBand`` each, then ``perBlock``.
    private(set) var bands = RealVector(count: inBands)
    /// A row of ``paddedBins`` for each feature.
    private(set) var ofBins = RealVector(count: perBin * paddedBins)
    private var errorPower = RealVector(count: bins)
    private var echoPower = RealVector(count: bins)
    private var written = 0

    /// Takes a block.
    mutating func observe(
        error: borrowing Spectrum, echo: borrowing Spectrum, microphone: borrowing Spectrum, talk: borrowing TalkState,
        estimate: borrowing Estimate
    ) {
        written = 0
        for band in 0..<Self.edges.count - 1 {
            describeBand(Self.edges[band]..<Self.edges[band + 1], error, echo, microphone, talk, estimate)
        }
        add(talk.farOnly)
        add(talk.near)
        add(talk.conversation)
        add(log10f(estimate.doubt))
        add(estimate.unexplained)
        for bin in 0..<Self.bins { describeBin(bin, error.power(bin), echo.power(bin), talk[bin], estimate) }
    }

    private mutating func describeBand(
        _ band: Range<Int>, _ error: borrowing Spectrum, _ echo: borrowing Spectrum, _ microphone: borrowing Spectrum,
        _ talk: borrowing TalkState, _ estimate: borrowing Estimate
    ) {
        var (left, echoed, rest, unsure): (Float, Float, Float, Float) = (0, 0, 0, 0)
        var (heard, alike, gain): (Float, Float, Float) = (0, 0, 0)
        for bin in band {
            left += error.power(bin)
            echoed += echo.power(bin)
            rest += estimate.residual[bin]
            unsure += estimate.uncertainty[bin]
            heard += microphone.power(bin)
            alike += talk[bin]
            gain += estimate.gain[bin]
        }
        let width = Float(band.count)
        let level = Self.level(left / width)
        add(level)
        add(Self.level(echoed / width) - level)
        add(Self.level(rest / width) - level)
        add(Self.level(unsure / width) - level)
        add(Self.level(heard / width) - level)
        add(2 * alike / width - 1)
        add(2 * gain / width - 1)
    }

    private mutating func add(_ value: Float) {
        bands[written] = min(Self.most.band, max(-Self.most.band, value))
        written += 1
    }

    private mutating func describeBin(
        _ bin: Int, _ error: Float, _ echo: Float, _ coherence: Float, _ estimate: borrowing Estimate
    ) {
        errorPower[bin] += Self.weight * (error - errorPower[bin])
        echoPower[bin] += Self.weight * (echo - echoPower[bin])
        let level = Self.level(error)
        put(0, bin, level)
        put(1, bin, Self.level(estimate.residual[bin]) - level)
        put(2, bin, Self.level(echo) - level)
        put(3, bin, Self.level(estimate.uncertainty[bin]) - level)
        put(4, bin, log10f(max(estimate.gain[bin], Self.least.gain)))
        put(5, bin, Self.level(errorPower[bin]) - level)
        put(6, bin, Self.level(echoPower[bin]) - level)
        put(7, bin, 2 * coherence - 1)
    }

    private mutating func put(_ feature: Int, _ bin: Int, _ value: Float) {
        ofBins[feature * Self.paddedBins + bin] = min(Self.most.bin, max(-Self.most.bin, value))
    }

    private static func level(_ power: Float) -> Float { log10f(power + least.power) }
}
