import Glibc

/// Where the near end talks, block of 10 ms by block, so that the echo can be judged where it does not.
enum NearActivity {
    /// A talker who is known is heard within this of the loudest, dB: what is softer does not count beside an echo that
    /// is removed.
    private static let range = 40.0
    /// What speech a detector finds is the near end's where the microphone holds this many times the power of the
    /// linear echo, 1 dB more; else it is echo that was left.
    private static let beyondEcho = 1.26
    /// Blocks before and after speech that may hold some of it too: its beginning, the room's echo of it.
    private static let margin = (before: 25, after: 30)

    /// Of a talker who is known, as the microphone heard them.
    static func blocks(near: [Float], rate: Int, count: Int) -> [Bool] {
        let powers = (0..<count).map { Self.power(near, $0 * rate / 100, rate / 100) }
        let threshold = max((powers.max() ?? 0) * pow(10, -range / 10), 1e-12)
        return widened(powers.map { $0 > threshold })
    }

    /// By the speech that was found in the output, where there is more in the microphone than the echo.
    ///
    /// - Parameters:
    ///   - isSpeaking: for each block, whether there is speech in what the canceller left.
    ///   - echo: the linear echo in the microphone; nil where there is none to speak of, and all speech is the near
    ///     end's.
    static func blocks(isSpeaking: [Bool], microphone: [Float], echo: [Float]?, rate: Int) -> [Bool] {
        var near = isSpeaking
        for utterance in utterances(isSpeaking) {
            let (first, frames) = (utterance.lowerBound * rate / 100, utterance.count * rate / 100)
            let echoed = echo.map { power($0, first, frames) } ?? 0
            guard power(microphone, first, frames) <= beyondEcho * echoed else { continue }
            for block in utterance { near[block] = false }
        }
        return widened(near)
    }

    private static func utterances(_ isSpeaking: [Bool]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        for (block, speaks) in isSpeaking.enumerated() where speaks {
            if let last = found.last, last.upperBound == block {
                found[found.count - 1] = last.lowerBound..<block + 1
            } else {
                found.append(block..<block + 1)
            }
        }
        return found
    }

    private static func widened(_ blocks: [Bool]) -> [Bool] {
        var wide = blocks
        for utterance in utterances(blocks) {
            let reach =
                max(0, utterance.lowerBound - margin.before)..<min(blocks.count, utterance.upperBound + margin.after)
            for block in reach { wide[block] = true }
        }
        return wide
    }

    private static func power(_ signal: [Float], _ first: Int, _ frames: Int) -> Double {
        let range = min(first, signal.count)..<min(first + frames, signal.count)
        return signal[range].reduce(0) { $0 + Double($1) * Double($1) }
    }
}
