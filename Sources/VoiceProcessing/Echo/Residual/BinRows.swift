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

/// A layer that is the same for each bin and depends on that bin, or on its neighbours too.
struct BinDenseLayer: ~Copyable {
    private let inputs: Int
    private let reach: Int
    private let isRectified: Bool
    private let weights: RealVector
    private let bias: RealVector

    /// Reads weights and biases from a network's file.
    ///
    /// - Parameter reach: 1 for a bin and its neighbours, 0 for the bin alone.
    init(inputs: Int, outputs: Int, reach: Int, isRectified: Bool, hasBias: Bool = true, from file: inout NetworkFile) {
        precondition((0...1).contains(reach), "there is room for one neighbour")
        self.inputs = inputs
        self.reach = reach
        self.isRectified = isRectified
        weights = file.floats((2 * reach + 1) * inputs * outputs)
        bias = hasBias ? file.floats(outputs) : RealVector(count: outputs)
    }

    func run(_ input: borrowing BinRows, into output: inout BinRows) { run(input, bias: bias, into: &output) }

    /// With biases that come from elsewhere.
    func run(_ input: borrowing BinRows, bias: borrowing RealVector, into output: inout BinRows) {
        precondition(input.rows == inputs && (2 * reach + 1) * inputs * output.rows == weights.count)
        precondition(bias.count >= output.rows)
        unsafe vk_bins_dense(
            weights.start, bias.start, input.values.start, inputs, reach, output.values.start, output.rows,
            isRectified ? 1 : 0)
    }
}

/// A layer with a memory for each bin, whose units follow their input as fast as a gate says:
///
///     h ← h + σ(Wx + b) · (tanh(Vx + c) − h)
///
/// What the gate lets in depends on the input alone (L. Feng et al., "Were RNNs all we needed?", 2024).
struct BinMemoryLayer: ~Copyable {
    private let inputs: Int
    private let weights: RealVector
    private let bias: RealVector
    private(set) var state: BinRows

    init(inputs: Int, units: Int, from file: inout NetworkFile) {
        self.inputs = inputs
        weights = Self.scaled(file.floats(inputs * 2 * units), units)
        bias = Self.scaled(file.floats(2 * units), units)
        state = BinRows(rows: units)
    }

    /// Rows of the gates' numbers, then of those of what is new, for exponents to the base of 2: σ(s) = 1 / (1 + 2^−s/ln 2),
    /// tanh(v) = (2^2v/ln 2 − 1) / (2^2v/ln 2 + 1).
    private static func scaled(_ rows: consuming RealVector, _ units: Int) -> RealVector {
        let binary = 1 / logf(2)
        for index in 0..<rows.count { rows[index] *= index / units % 2 == 0 ? -binary : 2 * binary }
        return rows
    }

    mutating func run(_ input: borrowing BinRows) {
        precondition(input.rows == inputs && weights.count == inputs * bias.count && bias.count == 2 * state.rows)
        unsafe vk_bins_memory(weights.start, bias.start, input.values.start, inputs, state.values.start, state.rows)
    }
}
