import CVoiceKernels
import Glibc
import VoiceSignal

/// The pre-emphasis under which the echo path is learned, x(n) − a x(n−1), and its undoing.
///
/// Speech falls by some 6 dB an octave. Blocks without a window leak its loud low vowels into the bins of its weak
/// consonants, and a filter that learns bin by bin takes the leak for excitation there: it grows sure of what it has
/// not heard. On flatter signals it does not. The path between two signals that are both emphasised is the path between
/// the signals.
struct Emphasis {
    /// a. In the evaluation's simulated rooms, seeds 3 and 7, with 0, 0.5, 0.7, 0.85: double talk 15.7, 15.8, 15.9,
    /// 16.2 dB of SDR; the moved microphone with the longer reverberation 1.20, 2.54, 2.64, 0.34 s and 1.20, 1.14,
    /// 1.46, 1.06 s; echo alone 41.0, 41.0, 40.9, 40.7 and 40.6, 40.5, 40.4, 40.2 dB. With 0.95 drift was followed 4 dB
    /// worse.
    private static let factor: Float = 0.85

    private var last: Float = 0

    /// Emphasises a block of a stream.
    mutating func run(_ input: borrowing RealVector, into output: inout RealVector) {
        output.takeEmphasised(input, by: Self.factor, after: &last)
    }

    /// Undoes it in place, in a block that follows one whose last plain frame was `last`.
    static func undo(_ block: inout RealVector, from last: Float) {
        precondition(block.count.isMultiple(of: Int(VK_LANES)))
        unsafe vk_undo_emphasis(block.start, factor, last, block.count)
    }

    /// Writes by how much undoing it raises the power in each bin.
    static func writePowers(into powers: inout RealVector) {
        precondition(powers.count == Spectrum.bins)
        for bin in 0..<powers.count {
            let angle = .pi * Float(bin) / Float(Spectrum.bins - 1)
            powers[bin] = 1 / (1 + factor * factor - 2 * factor * cosf(angle))
        }
    }
}
