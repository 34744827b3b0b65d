import CVoiceKernels
import VoiceSignal

/// A layer of a neural network in which every output depends on every input. The weights are bytes, with a scale for
/// each output.
struct DenseLayer: ~Copyable {
    private let bias: RealVector
    private let scale: RealVector
    private let inputs: Int
    /// In panels, as the kernel reads them; an odd number's last pair is half.
    private let weights: FixedArray<Int8>

    /// Reads the layer from a network's file; `outputs` is a multiple of 8.
    init(inputs: Int, outputs: Int, from file: inout NetworkFile) {
        precondition(inputs <= Int(VK_MOST_INPUTS) && outputs.isMultiple(of: 8), "a layer that the kernel takes")
        self.inputs = inputs
        bias = file.floats(outputs)
        scale = file.floats(outputs)
        // In the file is a row of outputs for each input.
        let rows = file.bytes(inputs * outputs)
        var pairs = FixedArray<Int8>(count: (inputs + 1) / 2 * 2 * outputs, repeating: 0)
        var first = 0
        while first < outputs {
            let width = outputs - first < 2 * Int(VK_PANEL) ? outputs - first : Int(VK_PANEL)
            let panel = (inputs + 1) / 2 * 2 * first
            for input in 0..<inputs {
                for output in 0..<width {
                    let place = panel + 2 * (input / 2 * width + output) + input % 2
                    pairs[place] = rows[input * outputs + first + output]
                }
            }
            first += width
        }
        weights = pairs
    }

    func run(_ input: borrowing RealVector, into output: inout RealVector) {
        precondition(output.count == bias.count && input.count == inputs)
        unsafe vk_dense(
            weights.start, scale.start, bias.start, input.start, input.count, output.start, output.count)
    }
}
