import VoiceSignal

/// Tells what of each bin is a near end and what is left of an echo: a small recurrent neural network.
///
///     bands ─> dense, tanh ─┬─> recurrent ─┬─> dense ──────────────────────┬─> logistic ─> gain, 0...1, of each bin
///                           └──────────────┴─> dense ─> ┐                  │
///     bins ───────────────────────────────────────────> the same for each ─┘
///
/// It does not see waveforms, nor the far end: it has learned how ``ResidualEchoFeatures`` go together, not what speech
/// is. From simulated calls, by tools/train-suppressor. Allocates when made and never after. One owner.
struct ResidualEchoNetwork: ~Copyable {
    private static let mark = 0x4e52_5644
    /// Of the network that is the same for each bin.
    private static let binUnits = 16

    private let mean: RealVector
    private let slope: RealVector
    private let entry: DenseLayer
    private var memory: RecurrentLayer
    private let exit: DenseLayer
    private let common: DenseLayer
    private let bin: BinLayer

    private var scaled: RealVector
    private var entered: RealVector
    private var joined: RealVector
    private var logits = RealVector(count: ResidualEchoFeatures.paddedBins)
    private var forBins = RealVector(count: binUnits)

    init() {
        var file = NetworkFile.residualEcho
        let (mark, inputs, width, units) = (file.integer(), file.integer(), file.integer(), file.integer())
        precondition(mark == Self.mark && inputs == ResidualEchoFeatures.inBands, "made for other features")
        let bins = ResidualEchoFeatures.paddedBins
        mean = file.floats(inputs)
        slope = file.floats(inputs)
        entry = DenseLayer(inputs: inputs, outputs: width, from: &file)
        memory = RecurrentLayer(inputs: width, units: units, from: &file)
        exit = DenseLayer(inputs: units + width, outputs: bins, from: &file)
        common = DenseLayer(inputs: units + width, outputs: Self.binUnits, from: &file)
        bin = BinLayer(features: ResidualEchoFeatures.perBin, bins: bins, units: Self.binUnits, from: &file)
        let isWhole = file.isAtEnd
        precondition(isWhole, "a network of another shape")
        scaled = RealVector(count: inputs)
        entered = RealVector(count: width)
        joined = RealVector(count: units + width)
    }

    /// Judges a block: for each bin, how much of its amplitude is no echo.
    mutating func run(_ features: borrowing ResidualEchoFeatures, into gains: inout RealVector) {
        scaled.take(features.bands, lessMean: mean, times: slope)
        entry.run(scaled, into: &entered)
        entered.takeHyperbolicTangent()
        memory.run(entered)
        joined.write(memory.state, at: 0)
        joined.write(entered, at: memory.state.count)
        exit.run(joined, into: &logits)
        common.run(joined, into: &forBins)
        bin.add(features.ofBins, common: forBins, to: &logits)
        logits.takeLogistic()
        gains.write(logits, count: gains.count, at: 0)
    }
}
