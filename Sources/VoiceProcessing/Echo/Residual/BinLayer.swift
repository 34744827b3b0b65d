import CVoiceKernels
import VoiceSignal

/// The same small network for each bin, which looks at that bin alone and at what the bins have in common; and weights
/// of each bin's own.
struct BinLayer: ~Copyable {
    private let own: RealVector
    private let weights: RealVector
    private let exit: RealVector
    private let bins: Int

    /// Reads the layer from a network's file; `bins` is a multiple of 8.
    init(features: Int, bins: Int, units: Int, from file: inout NetworkFile) {
        own = file.floats(features * bins)
        weights = file.floats(features * units)
        exit = file.floats(units)
        self.bins = bins
    }

    /// Adds to `output` what it makes of the features, a row of bins for each, of which the first count; `common` is
    /// one value for each unit.
    func add(_ features: borrowing RealVector, common: borrowing RealVector, to output: inout RealVector) {
        precondition(features.count >= own.count && common.count == exit.count && output.count == bins)
        unsafe vk_each_bin(
            features.start, own.count / bins, own.start, weights.start, common.start, exit.start, exit.count,
            output.start, bins)
    }
}
