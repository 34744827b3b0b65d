import CVoiceKernels
import VoiceSignal

/// A layer with a memory: a gated recurrent unit (K. Cho et al., "Learning phrase representations using RNN
/// encoder-decoder", EMNLP 2014), the reset gate on the memory's part of what is new.
struct RecurrentLayer: ~Copyable {
    private let ofInput: DenseLayer
    private let ofState: DenseLayer
    private var inputGates: RealVector
    private var stateGates: RealVector

    /// What it remembers.
    private(set) var state: RealVector

    /// Reads the layer from a network's file; `units` is a multiple of 8.
    init(inputs: Int, units: Int, from file: inout NetworkFile) {
        ofInput = DenseLayer(inputs: inputs, outputs: 3 * units, from: &file)
        ofState = DenseLayer(inputs: units, outputs: 3 * units, from: &file)
        inputGates = RealVector(count: 3 * units)
        stateGates = RealVector(count: 3 * units)
        state = RealVector(count: units)
    }

    mutating func run(_ input: borrowing RealVector) {
        ofInput.run(input, into: &inputGates)
        ofState.run(state, into: &stateGates)
        unsafe vk_gated_unit(inputGates.start, stateGates.start, state.start, state.count)
    }
}
