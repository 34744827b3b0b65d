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
    /// The same with what ``DoubleTalkNetwork`` looks at besides: two features of a band, one of the block, five of a
    /// bin.
    static let allInBands = inBands + 2 * (edges.count - 1) + 1
    static let allPerBin = perBin + 5
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

    /// The rows of bins.
    private enum Row: Int {
        case error, residual, echo, uncertainty, gain, usualError, usualEcho, coherence
        // For the second network only.
        case microphone, leftCoherence, opinion, phase, usualPhase
    }

    /// Rows of powers that are told relative to the error's.
    private static let relative: [6 of Row] = [
        .residual, .echo, .uncertainty, .usualError, .usualEcho, .microphone,
    ]
    /// The other rows.
    private static let plain: [3 of Row] = [.error, .gain, .coherence]

    /// Band after band, ``perBand`` each, then ``perBlock``.
    private(set) var bands = RealVector(count: allInBands)
    /// A row of ``paddedBins`` for each feature.
    private(set) var ofBins = RealVector(count: allPerBin * paddedBins)
    /// Error times the echo's conjugate, smoothed.
    private var cross = Spectrum()
    private var errorPower = RealVector(count: bins)
    private var echoPower = RealVector(count: bins)
    private var written = 0
    /// Powers that are told of a band; a row of bands for each.
    private static let levelsOfBand = 5
    private var levels = RealVector(count: levelsOfBand * (edges.count - 1))

    /// Takes a block.
    mutating func observe(
        error: borrowing Spectrum, echo: borrowing Spectrum, microphone: borrowing Spectrum,
        talk: borrowing TalkState, estimate: borrowing Estimate
    ) {
        for bin in 0..<Self.bins {
            let (left, echoed) = (error.power(bin), echo.power(bin))
            errorPower[bin] += Self.weight * (left - errorPower[bin])
            echoPower[bin] += Self.weight * (echoed - echoPower[bin])
            put(.error, bin, left)
            put(.residual, bin, estimate.residual[bin])
            put(.echo, bin, echoed)
            put(.uncertainty, bin, estimate.uncertainty[bin])
            put(.gain, bin, max(estimate.gain[bin], Self.least.gain))
            put(.usualError, bin, errorPower[bin])
            put(.usualEcho, bin, echoPower[bin])
            put(.coherence, bin, 2 * talk[bin] - 1)
            put(.microphone, bin, microphone.power(bin))
            let re = error.real[bin] * echo.real[bin] + error.imaginary[bin] * echo.imaginary[bin]
            let im = error.imaginary[bin] * echo.real[bin] - error.real[bin] * echo.imaginary[bin]
            cross.real[bin] += Self.weight * (re - cross.real[bin])
            cross.imaginary[bin] += Self.weight * (im - cross.imaginary[bin])
            // An echo that a device turns up and down is left in phase with its estimate, or against it.
            put(.phase, bin, re / (left * echoed + 1e-20).squareRoot())
            let powers = errorPower[bin] * echoPower[bin] + 1e-20
            put(.leftCoherence, bin, 2 * min(1, cross.power(bin) / powers) - 1)
            put(.usualPhase, bin, cross.real[bin] / powers.squareRoot())
        }
        describeBands(microphone, estimate)
        add(talk.farOnly)
        add(talk.near)
        add(talk.conversation)
        add(log10f(estimate.doubt))
        add(estimate.unexplained)
        takeLogarithms()
    }

    /// Adds what ``ResidualEchoNetwork`` made of the rest, for the second network.
    mutating func add(opinion: borrowing RealVector, ofNear near: Float) {
        for bin in 0..<Self.bins { put(.opinion, bin, max(opinion[bin], Self.least.gain)) }
        written = Self.inBands
        for band in 0..<Self.edges.count - 1 {
            var (alike, gain): (Float, Float) = (0, 0)
            for bin in Self.edges[band]..<Self.edges[band + 1] {
                alike += self[.leftCoherence, bin]
                gain += opinion[bin]
            }
            let width = Float(Self.edges[band + 1] - Self.edges[band])
            add(alike / width)
            add(2 * gain / width - 1)
        }
        add(2 * near - 1)
        ofBins.takeCommonLogarithm(in: Self.range(.opinion), adding: 0)
    }

    /// Sums up what the rows of bins hold while they are powers.
    private mutating func describeBands(_ microphone: borrowing Spectrum, _ estimate: borrowing Estimate) {
        let count = Self.edges.count - 1
        for band in 0..<count {
            var sums: [5 of Float] = .init(repeating: 0)
            for bin in Self.edges[band]..<Self.edges[band + 1] {
                sums[0] += self[.error, bin]
                sums[1] += self[.echo, bin]
                sums[2] += self[.residual, bin]
                sums[3] += self[.uncertainty, bin]
                sums[4] += microphone.power(bin)
            }
            let width = Float(Self.edges[band + 1] - Self.edges[band])
            for index in sums.indices { levels[index * count + band] = sums[index] / width }
        }
        levels.takeCommonLogarithm(in: 0..<levels.count, adding: Self.least.power)
        written = 0
        for band in 0..<count {
            let level = levels[band]
            add(level)
            for index in 1..<Self.levelsOfBand { add(levels[index * count + band] - level) }
            var (alike, gain): (Float, Float) = (0, 0)
            for bin in Self.edges[band]..<Self.edges[band + 1] {
                alike += self[.coherence, bin]
                gain += estimate.gain[bin]
            }
            let width = Float(Self.edges[band + 1] - Self.edges[band])
            add(alike / width)
            add(2 * gain / width - 1)
        }
    }

    private mutating func add(_ value: Float) {
        bands[written] = min(Self.most.band, max(-Self.most.band, value))
        written += 1
    }

    /// Makes levels of the rows of bins that hold powers, all but the error's relative to that.
    private mutating func takeLogarithms() {
        ofBins.takeCommonLogarithm(in: Self.range(.error), adding: Self.least.power)
        for index in Self.relative.indices {
            let range = Self.range(Self.relative[index])
            ofBins.takeCommonLogarithm(in: range, adding: Self.least.power)
            ofBins.subtract(from: Self.range(.error).lowerBound, in: range, most: Self.most.bin)
        }
        ofBins.takeCommonLogarithm(in: Self.range(.gain), adding: 0)
        for index in Self.plain.indices {
            for at in Self.range(Self.plain[index]) { ofBins[at] = min(Self.most.bin, max(-Self.most.bin, ofBins[at])) }
        }
    }

    private static func range(_ row: Row) -> Range<Int> {
        row.rawValue * paddedBins..<row.rawValue * paddedBins + bins
    }

    private mutating func put(_ row: Row, _ bin: Int, _ value: Float) {
        ofBins[row.rawValue * Self.paddedBins + bin] = value
    }

    private subscript(row: Row, bin: Int) -> Float { ofBins[row.rawValue * Self.paddedBins + bin] }
}
