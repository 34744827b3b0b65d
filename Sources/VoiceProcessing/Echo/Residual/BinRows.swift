import CVoiceKernels
import Glibc
import VoiceSignal

/// Values of each bin in rows, with zeros on both sides, so that the bins at the edges have neighbours.
struct BinRows: ~Copyable {
    /// Numbers of a row, and where bin 0 is in it.
    static let stride = Int(VK_ROW)
    static let first = Int(VK_FIRST)

    let rows: Int
    private(set) var values: RealVector

    init(rows: Int) {
        self.rows = rows
        values = RealVector(count: rows * Self.stride)
    }

    /// For the kernels.
    @unsafe var start: UnsafeMutablePointer<Float> { unsafe values.start }

    subscript(row: Int, bin: Int) -> Float {
        get { values[row * Self.stride + Self.first + bin] }
        set { values[row * Self.stride + Self.first + bin] = newValue }
    }
}

/// A layer's weights, rounded to bytes with a scale for each output, in fours of inputs as the kernels read them.
private struct BinWeights: ~Copyable {
    let scale: RealVector
    let fours: FixedArray<Int8>
    /// What a sum begins with, as zero among the inputs' bytes is ``VK_INPUT_ZERO``.
    let start: FixedArray<Int32>

    /// - Parameters:
    ///   - rows: a row of outputs for each input of each bin that the layer looks at.
    ///   - bins: how many those are.
    init(_ rows: borrowing RealVector, inputs: Int, bins: Int, outputs: Int) {
        precondition(
            inputs <= Int(VK_MOST_BIN_INPUTS) && outputs <= Int(VK_MOST_OUTPUTS), "a layer that the kernel takes")
        let inFours = (inputs + 3) / 4 * 4
        var scale = RealVector(count: outputs)
        var fours = FixedArray<Int8>(count: bins * inFours * outputs, repeating: 0)
        var start = FixedArray<Int32>(count: outputs, repeating: 0)
        for output in 0..<outputs {
            var largest: Float = 0
            for row in 0..<(bins * inputs) { largest = max(largest, abs(rows[row * outputs + output])) }
            guard largest > 0 else { continue }
            scale[output] = largest / Float(Int8.max)
            for row in 0..<(bins * inputs) {
                let (bin, input) = row.quotientAndRemainder(dividingBy: inputs)
                let place = 4 * ((bin * inFours + input) / 4 * outputs + output) + input % 4
                fours[place] = Int8((rows[row * outputs + output] / scale[output]).rounded())
                start[output] -= Int32(VK_INPUT_ZERO) * Int32(fours[place])
            }
        }
        self.scale = scale
        self.fours = fours
        self.start = start
    }
}

/// A layer that is the same for each bin and depends on that bin, or on its neighbours too.
struct BinDenseLayer: ~Copyable {
    private let inputs: Int
    private let reach: Int
    private let isRectified: Bool
    private let weights: BinWeights
    private let bias: RealVector

    /// Reads weights and biases from a network's file.
    ///
    /// - Parameter reach: 1 for a bin and its neighbours, 0 for the bin alone.
    init(inputs: Int, outputs: Int, reach: Int, isRectified: Bool, hasBias: Bool = true, from file: inout NetworkFile) {
        precondition((0...1).contains(reach), "there is room for one neighbour")
        self.inputs = inputs
        self.reach = reach
        self.isRectified = isRectified
        let bins = 2 * reach + 1
        weights = BinWeights(file.floats(bins * inputs * outputs), inputs: inputs, bins: bins, outputs: outputs)
        bias = hasBias ? file.floats(outputs) : RealVector(count: outputs)
    }

    func run(_ input: borrowing BinRows, into output: inout BinRows) { run(input, bias: bias, into: &output) }

    /// With biases that come from elsewhere.
    func run(_ input: borrowing BinRows, bias: borrowing RealVector, into output: inout BinRows) {
        precondition(input.rows == inputs && output.rows == weights.scale.count)
        precondition(bias.count >= output.rows)
        unsafe vk_bins_dense(
            weights.fours.start, weights.start.start, weights.scale.start, bias.start, input.values.start, inputs,
            reach, output.values.start, output.rows, isRectified ? 1 : 0)
    }
}

/// A layer with a memory for each bin, whose units follow their input as fast as a gate says:
///
///     h ← h + σ(Wx + b) · (tanh(Vx + c) − h)
///
/// What the gate lets in depends on the input alone (L. Feng et al., "Were RNNs all we needed?", 2024).
struct BinMemoryLayer: ~Copyable {
    private let inputs: Int
    private let weights: BinWeights
    private let bias: RealVector
    private(set) var state: BinRows

    init(inputs: Int, units: Int, from file: inout NetworkFile) {
        self.inputs = inputs
        let rows = Self.scaled(file.floats(inputs * 2 * units), units)
        weights = BinWeights(rows, inputs: inputs, bins: 1, outputs: 2 * units)
        bias = Self.scaled(file.floats(2 * units), units)
        state = BinRows(rows: units)
    }

    /// A row has the gates' numbers, then those of what is new: they become one of each in turn, for exponents to the
    /// base of 2: σ(s) = 1 / (1 + 2^−s/ln 2), tanh(v) = (2^2v/ln 2 − 1) / (2^2v/ln 2 + 1).
    private static func scaled(_ rows: borrowing RealVector, _ units: Int) -> RealVector {
        let binary = 1 / logf(2)
        var scaled = RealVector(count: rows.count)
        for index in 0..<rows.count {
            let (row, unit) = (index / (2 * units), index % (2 * units))
            let isNew = unit >= units
            scaled[2 * (row * units + unit % units) + (isNew ? 1 : 0)] = rows[index] * (isNew ? 2 * binary : -binary)
        }
        return scaled
    }

    mutating func run(_ input: borrowing BinRows) {
        precondition(input.rows == inputs && bias.count == 2 * state.rows)
        unsafe vk_bins_memory(
            weights.fours.start, weights.start.start, weights.scale.start, bias.start, input.values.start, inputs,
            state.values.start, state.rows)
    }
}
