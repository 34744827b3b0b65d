import CVoiceKernels
import VoiceSignal

/// A layer of a neural network in which every output depends on every input. The weights are bytes, with a scale for
/// each output.
struct DenseLayer: ~Copyable {
    private let bias: RealVector
    private let scale: RealVector
    private let inputs: Int
    /// In panels, as the kernel reads them, from ``VK_WEIGHT_ZERO`` on.
    private let weights: FixedArray<UInt8>

    /// Reads the layer from a network's file; `outputs` is a multiple of 8.
    init(inputs: Int, outputs: Int, from file: inout NetworkFile) {
        precondition(inputs <= Int(VK_MOST_INPUTS) && outputs.isMultiple(of: 8), "a layer that the kernel takes")
        self.inputs = inputs
        bias = file.floats(outputs)
        scale = file.floats(outputs)
        // In the file is a row of outputs for each input.
        let rows = file.bytes(inputs * outputs)
        let inFours = (inputs + 3) / 4 * 4
        var fours = FixedArray<UInt8>(count: inFours * outputs, repeating: UInt8(VK_WEIGHT_ZERO))
        var first = 0
        while first < outputs {
            let width = outputs - first < 2 * Int(VK_PANEL) ? outputs - first : Int(VK_PANEL)
            let panel = inFours * first
            for input in 0..<inputs {
                for output in 0..<width {
                    let place = panel + 4 * (input / 4 * width + output) + input % 4
                    fours[place] = UInt8(Int(rows[input * outputs + first + output]) + Int(VK_WEIGHT_ZERO))
                }
            }
            first += width
        }
        weights = fours
    }

    func run(_ input: borrowing RealVector, into output: inout RealVector) {
        precondition(output.count == bias.count && input.count == inputs)
        unsafe vk_dense(
            weights.start, scale.start, bias.start, input.start, input.count, output.start, output.count)
    }
}
