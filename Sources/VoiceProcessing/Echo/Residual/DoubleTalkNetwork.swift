import CVoiceKernels
import VoiceSignal

/// Tells what of each bin is a talker and what is left of an echo while both talk: a recurrent network of two parts.
///
///     bands ─> dense, tanh ─┬─> recurrent ─┬─> dense, for each bin ──────────────────────────────┬─> logistic ─> gain
///                           └──────────────┴─> dense ─┐                                          │
///     bins and neighbours ────────────────────────────┴─> dense ─> memory ─> dense ─> memory ────┘
///
/// The upper part hears who talks; the lower one, the same for each bin and its neighbours, learns how much of the echo
/// is left there. It looks at ``ResidualEchoFeatures``, with ``ResidualEchoNetwork``'s opinion among them, and no
/// waveform. Learned from simulated calls through devices by tools/train-suppressor. Allocates when made and never
/// after. One owner.
struct DoubleTalkNetwork: ~Copyable {
    private static let mark = 0x4e54_4456
    /// Largest size of a layer that a file may ask for.
    private static let largest = 512
    private static let features = ResidualEchoFeatures.allPerBin

    private let mean: RealVector
    private let slope: RealVector
    private let binMean: RealVector
    private let binSlope: RealVector
    private let entry: DenseLayer
    private var memory: RecurrentLayer
    private let exit: DenseLayer
    private let common: DenseLayer
    private let own: RealVector
    private let binEntry: BinDenseLayer
    private var binMemory: BinMemoryLayer
    private let middle: BinDenseLayer
    private var middleMemory: BinMemoryLayer
    private let binExit: BinDenseLayer

    private var scaled: RealVector
    private var entered: RealVector
    private var joined: RealVector
    private var forBins: RealVector
    private var logits = RealVector(count: ResidualEchoFeatures.paddedBins)
    private var ofBins = BinRows(rows: features)
    private var binEntered: BinRows
    private var middleEntered: BinRows
    private var found = BinRows(rows: 1)

    /// The sizes of its layers.
    struct Shape: Equatable {
        let width, units, binWidth, binUnits, middle: Int

        /// Reads what a file says of itself; nil: it is of another kind, too short or too long.
        init?(from file: inout NetworkFile) {
            let (mark, inputs) = (file.integer(), file.integer())
            (width, units) = (file.integer(), file.integer())
            let perBin = file.integer()
            (binWidth, binUnits, middle) = (file.integer(), file.integer(), file.integer())
            let sizes: [5 of Int] = [width, units, binWidth, binUnits, middle]
            for index in sizes.indices where !(1...DoubleTalkNetwork.largest).contains(sizes[index]) { return nil }
            guard mark == DoubleTalkNetwork.mark, inputs == ResidualEchoFeatures.allInBands,
                perBin == DoubleTalkNetwork.features, width.isMultiple(of: 8), units.isMultiple(of: 8),
                binWidth.isMultiple(of: 8), max(binWidth, binUnits, middle) <= Int(VK_MOST_BIN_INPUTS),
                file.left == bytes
            else { return nil }
        }

        /// Bytes of the layers.
        private var bytes: Int {
            let (inputs, perBin) = (ResidualEchoFeatures.allInBands, DoubleTalkNetwork.features)
            let bins = ResidualEchoFeatures.paddedBins
            let dense = [
                (inputs, width), (width, 3 * units), (units, 3 * units), (units + width, bins),
                (units + width, binWidth),
            ].reduce(0) { $0 + $1.0 * $1.1 + 8 * $1.1 }
            let floats =
                2 * inputs + 2 * perBin + perBin * bins + 3 * perBin * binWidth + (binWidth + 1) * 2 * binUnits
                + (3 * binUnits + 1) * middle + (middle + 1) * 2 * middle + 3 * middle
            return dense + 4 * floats
        }
    }

    /// The network that the engine comes with.
    init() {
        var file = NetworkFile.doubleTalk
        guard let shape = Shape(from: &file) else { preconditionFailure("a network of another shape") }
        self.init(shape, from: &file)
    }

    /// Reads the layers, once the shape was read.
    init(_ shape: Shape, from file: inout NetworkFile) {
        let (inputs, perBin) = (ResidualEchoFeatures.allInBands, Self.features)
        let (width, units, binWidth) = (shape.width, shape.units, shape.binWidth)
        let bins = ResidualEchoFeatures.paddedBins
        mean = file.floats(inputs)
        slope = file.floats(inputs)
        binMean = file.floats(perBin)
        binSlope = file.floats(perBin)
        entry = DenseLayer(inputs: inputs, outputs: width, from: &file)
        memory = RecurrentLayer(inputs: width, units: units, from: &file)
        exit = DenseLayer(inputs: units + width, outputs: bins, from: &file)
        common = DenseLayer(inputs: units + width, outputs: binWidth, from: &file)
        own = file.floats(perBin * bins)
        binEntry = BinDenseLayer(
            inputs: perBin, outputs: binWidth, reach: 1, isRectified: true, hasBias: false, from: &file)
        binMemory = BinMemoryLayer(inputs: binWidth, units: shape.binUnits, from: &file)
        middle = BinDenseLayer(inputs: shape.binUnits, outputs: shape.middle, reach: 1, isRectified: true, from: &file)
        middleMemory = BinMemoryLayer(inputs: shape.middle, units: shape.middle, from: &file)
        binExit = BinDenseLayer(
            inputs: shape.middle, outputs: 1, reach: 1, isRectified: false, hasBias: false, from: &file)
        scaled = RealVector(count: inputs)
        entered = RealVector(count: width)
        joined = RealVector(count: units + width)
        forBins = RealVector(count: binWidth)
        binEntered = BinRows(rows: binWidth)
        middleEntered = BinRows(rows: shape.middle)
        let isWhole = file.isAtEnd
        precondition(isWhole, "as long as its shape says")
    }

    /// Judges a block: for each bin, how much of its amplitude is a talker.
    mutating func run(_ features: borrowing ResidualEchoFeatures, into gains: inout RealVector) {
        scaled.take(features.bands, lessMean: mean, times: slope)
        entry.run(scaled, into: &entered)
        entered.takeHyperbolicTangent()
        memory.run(entered)
        joined.write(memory.state, at: 0)
        joined.write(entered, at: memory.state.count)
        exit.run(joined, into: &logits)
        common.run(joined, into: &forBins)
        look(at: features)
        binEntry.run(ofBins, bias: forBins, into: &binEntered)
        binMemory.run(binEntered)
        middle.run(binMemory.state, into: &middleEntered)
        middleMemory.run(middleEntered)
        binExit.run(middleMemory.state, into: &found)
        logits.add(found.values, from: BinRows.first, count: Spectrum.bins)
        logits.takeLogistic()
        gains.write(logits, count: gains.count, at: 0)
    }

    /// Scales the features of bins, and adds what each bin makes of its own to the logits.
    private mutating func look(at features: borrowing ResidualEchoFeatures) {
        let stride = ResidualEchoFeatures.paddedBins
        precondition(features.ofBins.count == Self.features * stride && own.count == features.ofBins.count)
        unsafe vk_bins_look(
            features.ofBins.start, stride, binMean.start, binSlope.start, own.start, Self.features,
            ofBins.start, logits.start)
    }
}
