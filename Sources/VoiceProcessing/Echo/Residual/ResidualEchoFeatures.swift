import CVoiceKernels
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
    private static let bandCount = edges.count - 1
    private static let bins = Spectrum.bins
    /// Bins rounded up for the kernels; there is nothing in the rest.
    static let paddedBins = (bins + 7) / 8 * 8
    /// Features of a band, of a block, of all bands and the block, and of a bin.
    static let perBand = 7
    static let perBlock = 5
    static let inBands = perBand * bandCount + perBlock
    static let perBin = 8
    /// The same with what ``DoubleTalkNetwork`` looks at besides: two features of a band, one of the block, five of a
    /// bin.
    static let allInBands = inBands + 2 * bandCount + 1
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

    /// Band after band, ``perBand`` each, then ``perBlock``.
    private(set) var bands = RealVector(count: allInBands)
    /// A row of ``paddedBins`` for each feature.
    private(set) var ofBins = RealVector(count: allPerBin * paddedBins)
    /// Error times the echo's conjugate, smoothed.
    private var cross = Spectrum()
    private var errorPower = RealVector(count: bins)
    private var echoPower = RealVector(count: bins)
    /// Of the newest block.
    private var product = Spectrum()
    private var left = RealVector(count: bins)
    private var echoed = RealVector(count: bins)
    private var gain = RealVector(count: bins)
    private var written = 0
    private let bandEdges = edgesForKernel()
    /// Rows whose powers are told of a band, the first as it is and the others relative to that; a row of bands for each.
    private static let levelsOfBand: [5 of Row] = [.error, .echo, .residual, .uncertainty, .microphone]
    private var levels = RealVector(count: levelsOfBand.count * bandCount)
    /// A coherence and a gain of each band.
    private var shares = RealVector(count: 2 * bandCount)

    /// Takes a block.
    mutating func observe(
        error: borrowing Spectrum, echo: borrowing Spectrum, microphone: borrowing Spectrum,
        talk: borrowing TalkState, estimate: borrowing Estimate
    ) {
        left.write(powersOf: error)
        echoed.write(powersOf: echo)
        errorPower.follow(left, weight: Self.weight)
        echoPower.follow(echoed, weight: Self.weight)
        Self.put(left, as: .error, in: &ofBins)
        Self.put(estimate.residual, as: .residual, in: &ofBins)
        Self.put(echoed, as: .echo, in: &ofBins)
        Self.put(estimate.uncertainty, as: .uncertainty, in: &ofBins)
        Self.put(errorPower, as: .usualError, in: &ofBins)
        Self.put(echoPower, as: .usualEcho, in: &ofBins)
        Self.put(talk.coherence, as: .coherence, in: &ofBins)
        ofBins.scale(in: Self.range(.coherence), by: 2, adding: -1)
        ofBins.write(powersOf: microphone, at: Self.range(.microphone).lowerBound)
        product.takeProduct(of: error, conjugateOf: echo)
        cross.follow(product, weight: Self.weight)
        // An echo that a device turns up and down is left in phase with its estimate, or against it.
        product.writeCosines(of: left, echoed, into: &ofBins, at: Self.range(.phase).lowerBound)
        cross.writeCosines(of: errorPower, echoPower, into: &ofBins, at: Self.range(.usualPhase).lowerBound)
        cross.writeCoherence(of: errorPower, echoPower, into: &ofBins, at: Self.range(.leftCoherence).lowerBound)
        ofBins.scale(in: Self.range(.leftCoherence), by: 2, adding: -1)
        gain.copy(from: estimate.gain)
        gain.bound(to: Self.least.gain...1)
        Self.put(gain, as: .gain, in: &ofBins)
        describeBands(estimate)
        add(talk.farOnly)
        add(talk.near)
        add(talk.conversation)
        add(log10f(estimate.doubt))
        add(estimate.unexplained)
        takeLogarithms()
    }

    /// Adds what ``ResidualEchoNetwork`` made of the rest, for the second network.
    mutating func add(opinion: borrowing RealVector, ofNear near: Float) {
        gain.copy(from: opinion)
        gain.bound(to: Self.least.gain...1)
        Self.put(gain, as: .opinion, in: &ofBins)
        written = Self.inBands
        writeShares(of: .leftCoherence, opinion)
        for band in 0..<Self.bandCount { addShares(of: band) }
        add(2 * near - 1)
        ofBins.takeCommonLogarithm(in: Self.range(.opinion), adding: 0)
    }

    /// Sums up what the rows of bins hold while they are powers.
    private mutating func describeBands(_ estimate: borrowing Estimate) {
        let count = Self.bandCount
        for index in Self.levelsOfBand.indices {
            writeMeans(of: Self.levelsOfBand[index], at: index * count)
        }
        levels.takeCommonLogarithm(in: 0..<levels.count, adding: Self.least.power)
        writeShares(of: .coherence, estimate.gain)
        written = 0
        for band in 0..<count {
            let level = levels[band]
            add(level)
            for index in 1..<Self.levelsOfBand.count { add(levels[index * count + band] - level) }
            addShares(of: band)
        }
    }

    private mutating func writeMeans(of row: Row, at first: Int) {
        precondition(first >= 0 && first + Self.bandCount <= levels.count)
        unsafe vk_band_means(
            ofBins.start + Self.range(row).lowerBound, bandEdges.start, Self.bandCount, levels.start + first)
    }

    /// The bands' means of a row of coherences and of gains.
    private mutating func writeShares(of row: Row, _ gains: borrowing RealVector) {
        precondition(gains.count == Self.bins)
        unsafe vk_band_means(
            ofBins.start + Self.range(row).lowerBound, bandEdges.start, Self.bandCount, shares.start)
        unsafe vk_band_means(gains.start, bandEdges.start, Self.bandCount, shares.start + Self.bandCount)
    }

    private mutating func addShares(of band: Int) {
        add(shares[band])
        add(2 * shares[Self.bandCount + band] - 1)
    }

    private static func edgesForKernel() -> FixedArray<Int32> {
        var edges = FixedArray<Int32>(count: Self.edges.count, repeating: 0)
        for index in 0..<edges.count { edges[index] = Int32(Self.edges[index]) }
        return edges
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
        // The others are between −2 and 1.
        ofBins.bound(in: Self.range(.error), to: Self.most.bin)
    }

    private static func range(_ row: Row) -> Range<Int> {
        row.rawValue * paddedBins..<row.rawValue * paddedBins + bins
    }

    private static func put(_ values: borrowing RealVector, as row: Row, in rows: inout RealVector) {
        rows.write(values, at: range(row).lowerBound)
    }
}
