import CVoiceKernels
import Glibc
import VoiceSignal

/// Lowers the sample rate by a small integer with a windowed-sinc low-pass filter, for the delay search: the same for
/// both signals, so its own delay drops out.
struct Decimator: ~Copyable {
    /// Cut-off as a share of the new Nyquist frequency.
    private static let cutoff = 0.9
    /// Zero crossings of the sinc on each side.
    private static let sideLobes = 8

    let factor: Int
    private var taps: RealVector
    /// The end of the signal so far followed by the block.
    private var line: DelayLine
    private var bounded: RealVector
    private let block: Int

    init(factor: Int, block: Int) {
        self.factor = factor
        self.block = block
        let half = Self.sideLobes * factor
        let length = 2 * half + 1
        taps = RealVector(count: length)
        line = DelayLine(count: length - 1 + block)
        bounded = RealVector(count: block)
        var sum: Float = 0
        for index in 0..<length {
            let x = Double.pi * Self.cutoff * Double(index - half) / Double(factor)
            let hann = 0.5 + 0.5 * cos(Double.pi * Double(index - half) / Double(half + 1))
            taps[index] = Float((x == 0 ? 1 : sin(x) / x) * hann)
            sum += taps[index]
        }
        for index in 0..<length { taps[index] /= sum }
    }

    /// Filters a block into `output`, which takes `block.count / factor` frames.
    mutating func run(_ input: Span<Float>, into output: inout RealVector) {
        precondition(input.count == block, "the block's length is fixed")
        bounded.write(bounded: input)
        line.push(bounded)
        for index in 0..<block / factor {
            output[index] = unsafe vk_dot(line.start + index &* factor, taps.start, taps.count)
        }
    }
}
