internal import CRNNoise
import Glibc

/// RNNoise as a noise suppressor, where it is installed: a recurrent net that takes away what is not speech, babble and keyboards too.
///
/// J.-M. Valin, "A hybrid DSP/deep learning approach to real-time full-band speech enhancement", MMSP 2018. It works at 48 kHz only and lags
/// by 10 ms. The library is looked for when this is made; allocates then and never after. One owner.
@safe
public struct NeuralSuppressor: ~Copyable {
    /// The library cannot be used. Install librnnoise, or do without: ``ProcessingSettings/NoiseMethod/spectral``.
    public struct Unavailable: Error, Equatable, Sendable {
        /// What the dynamic linker or the library said.
        public var reason: String
    }

    /// The only rate that it is made for, Hz.
    public static let sampleRate = 48_000
    private static let frame = 480
    /// Full scale in the library.
    private static let scale: Float = 32_768

    private let library: OpaquePointer
    private var input = RealVector(count: NeuralSuppressor.frame)
    private var output = RealVector(count: NeuralSuppressor.frame)
    /// The last block as it came, which the output is of.
    private var before = RealVector(count: NeuralSuppressor.frame)

    /// Frames by which the output lags the input.
    public static let delay = NeuralSuppressor.frame

    /// Loads the library.
    ///
    /// - Parameter path: its file; nil for where the dynamic linker looks.
    public init(path: String? = nil) throws(Unavailable) {
        var reason = ""
        guard let made = unsafe Self.load(path, &reason) else { throw Unavailable(reason: reason) }
        guard unsafe Int(crnn_frame_size(made)) == Self.frame else {
            let size = unsafe crnn_frame_size(made)
            unsafe crnn_destroy(made)
            throw Unavailable(reason: "its frames have \(size) samples instead of \(Self.frame)")
        }
        unsafe library = made
    }

    private static func load(_ path: String?, _ reason: inout String) -> OpaquePointer? {
        var text = [CChar](repeating: 0, count: 256)
        let made = unsafe text.withUnsafeMutableBufferPointer { buffer -> OpaquePointer? in
            guard let reason = buffer.baseAddress else { return nil }
            guard let path else { return unsafe crnn_create(nil, reason, buffer.count) }
            return unsafe path.withCString { unsafe crnn_create($0, reason, buffer.count) }
        }
        reason = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return unsafe made
    }

    deinit { unsafe crnn_destroy(library) }

    /// Processes 480 frames in place and returns how much of the block's power was taken away, dB.
    ///
    /// - Parameter floor: the least that is left of any of it, a factor of the amplitude, 0...1.
    public mutating func run(_ block: inout MutableSpan<Float>, floor: Float) -> Float {
        precondition(block.count == Self.frame, "a block is 10 ms at 48 kHz")
        for index in 0..<Self.frame { input[index] = block[index] * Self.scale }
        unsafe _ = crnn_process(library, output.start, input.start)
        var (came, went) = (Float(1e-12), Float(1e-12))
        for index in 0..<Self.frame {
            let (raw, clean) = (before[index], output[index] / Self.scale)
            let left = clean + floor * (raw - clean)
            came += raw * raw
            went += left * left
            before[index] = block[index]
            block[index] = left
        }
        return max(0, 10 * log10f(came / went))
    }
}
