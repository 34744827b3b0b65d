import Glibc
import VoiceSignal

/// RNNoise as a noise suppressor, where it is installed: a recurrent net that takes away what is not speech, babble and
/// keyboards too.
///
/// J.-M. Valin, "A hybrid DSP/deep learning approach to real-time full-band speech enhancement", MMSP 2018. It works at
/// 48 kHz only and lags by 10 or 20 ms, by its version. The library is looked for when the first is made; allocates
/// then and never after. One owner.
@safe
package struct NeuralSuppressor: ~Copyable {
    /// The library cannot be used. Install librnnoise, or do without: ``ProcessingSettings/NoiseMethod/spectral``.
    package struct Unavailable: Error, Equatable, Sendable {
        /// What the dynamic linker or the library said.
        package var reason: String
    }

    /// The only rate that it is made for, Hz.
    package static let sampleRate = 48_000
    private static let frame = NeuralLibrary.frame
    /// Full scale in the library.
    private static let scale: Float = 32_768

    private let library: NeuralLibrary
    private let state: UnsafeMutableRawPointer
    private var input = RealVector(count: NeuralLibrary.frame)
    private var output = RealVector(count: NeuralLibrary.frame)
    /// The last frames as they came: the first block of them is what the output is of.
    private var past: RealVector

    /// Frames by which the output lags the input.
    package var delay: Int { library.delay }

    /// Makes one with the installed library, which is looked for once in a process, or with a file.
    ///
    /// - Parameter path: the library's file; nil for where the dynamic linker looks.
    package init(path: String? = nil) throws(Unavailable) {
        let library = if let path { try NeuralLibrary(path: path) } else { try NeuralLibrary.installed.get() }
        guard let made = unsafe library.makeState() else { throw Unavailable(reason: "rnnoise_create failed") }
        self.library = library
        unsafe state = made
        past = RealVector(count: library.delay)
    }

    deinit { unsafe library.giveBack(state) }

    /// Processes 480 frames in place and returns how much of the block's power was taken away, dB.
    ///
    /// - Parameter floor: the least that is left of any of it, a factor of the amplitude, 0...1.
    package mutating func run(_ block: inout MutableSpan<Float>, floor: Float) -> Float {
        precondition(block.count == Self.frame, "a block is 10 ms at 48 kHz")
        for index in 0..<Self.frame { input[index] = block[index] * Self.scale }
        unsafe _ = library.process(state, input, into: &output)
        var (came, went) = (Float(1e-12), Float(1e-12))
        let newest = past.count - Self.frame
        for index in 0..<Self.frame {
            let (raw, clean) = (past[index], output[index] / Self.scale)
            let left = clean + floor * (raw - clean)
            came += raw * raw
            went += left * left
            block[index] = left
        }
        past.shiftDown(by: Self.frame)
        for index in 0..<Self.frame { past[newest + index] = input[index] / Self.scale }
        return max(0, 10 * log10f(came / went))
    }
}
