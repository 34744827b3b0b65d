import CVoiceKernels
import VoiceSignal

/// A layer of a neural network in which every output depends on every input. The weights are bytes, with a scale for
/// each output.
struct DenseLayer: ~Copyable {
    private let bias: RealVector
    private let scale: RealVector
    /// A row of outputs for each input.
    private let weights: FixedArray<Int8>

    /// Reads the layer from a network's file; `outputs` is a multiple of 8.
    init(inputs: Int, outputs: Int, from file: inout NetworkFile) {
        bias = file.floats(outputs)
        scale = file.floats(outputs)
        weights = file.bytes(inputs * outputs)
    }

    func run(_ input: borrowing RealVector, into output: inout RealVector) {
        precondition(output.count == bias.count && input.count * output.count == weights.count)
        unsafe vk_dense(
            weights.start, scale.start, bias.start, input.start, input.count, output.start, output.count)
    }
}
