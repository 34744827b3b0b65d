import Glibc
import VoiceSignal

/// The newest frames of a signal, a spectrum of them in each block. The window falls over its last 5 ms only: the
/// newest frames count.
struct AnalysisLine: ~Copyable {
    static let block = 160
    static let frames = BlockTransform.frames
    private static let fall = 80
    /// Sum of the squared window: of noise, a bin's power over it is the power per bin.
    static let energy = Float(frames) / 2

    private var window = RealVector(count: frames)
    private var line = DelayLine(count: frames)

    init() {
        let rise = Self.frames - Self.fall
        for index in 0..<Self.frames {
            window[index] =
                index < rise
                ? sinf(.pi / 2 * (Float(index) + 0.5) / Float(rise))
                : cosf(.pi / 2 * (Float(index - rise) + 0.5) / Float(Self.fall))
        }
    }

    /// Takes a block and transforms the newest frames.
    mutating func push(_ new: borrowing RealVector, _ transform: inout BlockTransform, into spectrum: inout Spectrum) {
        precondition(new.count == Self.block, "a block is 10 ms")
        line.push(new)
        transform.forward(line, window: window, into: &spectrum)
    }
}
