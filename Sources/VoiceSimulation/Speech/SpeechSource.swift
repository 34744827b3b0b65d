import Glibc

/// What a near talker says: samples that a caller has loaded, once or over and over, or synthetic speech. Mono, 48 kHz.
///
/// Reading never allocates or blocks.
package struct SpeechSource: Sendable {
    /// What happens at the end of the samples.
    package enum Repetition: Equatable, Sendable {
        /// Silence follows.
        case once
        /// They begin again.
        case loop
    }

    private enum Origin {
        case samples([Float], Repetition)
        case synthetic(SyntheticSpeech)
    }

    private var origin: Origin
    private var position = 0
    private let gain: Float

    /// Plays `samples`, amplified by `gainDecibels`.
    package init(_ samples: [Float], repetition: Repetition, gainDecibels: Double = 0) {
        origin = .samples(samples, repetition)
        gain = Float(pow(10, gainDecibels / 20))
    }

    /// Plays synthetic speech without end.
    package init(_ speech: SyntheticSpeech) {
        origin = .synthetic(speech)
        gain = 1
    }

    /// Whether only silence follows.
    package var isFinished: Bool {
        guard case .samples(let samples, let repetition) = origin else { return false }
        return samples.isEmpty || repetition == .once && position >= samples.count
    }

    /// Fills the block with the next frames and, after the end, with silence.
    /// - Returns: how many frames are not that silence.
    @discardableResult
    package mutating func read(into block: inout MutableSpan<Float>) -> Int {
        switch origin {
        case .samples(let samples, let repetition):
            return read(samples, repetition, into: &block)
        case .synthetic(var speech):
            speech.read(into: &block)
            origin = .synthetic(speech)
            return block.count
        }
    }

    private mutating func read(_ samples: [Float], _ repetition: Repetition, into block: inout MutableSpan<Float>)
        -> Int
    {
        var filled = 0
        for index in block.indices {
            if repetition == .loop, position >= samples.count { position = 0 }
            guard position < samples.count else {
                block[index] = 0
                continue
            }
            block[index] = samples[position] * gain
            position += 1
            filled += 1
        }
        return filled
    }
}
