import Glibc
import VoiceSignal

/// How likely it is that what an echo canceller left is echo, by how loud it is for what was played.
///
/// What is left of an echo lies about as far below the far end as it did before: that distance is learned, loosely at
/// first, so that an echo before the canceller has converged is taken for one. A talker is louder than what is to be
/// expected, and moves it little. It knows levels only, so it holds for every canceller. One owner; pure.
struct ResidualEchoLikelihood: BitwiseCopyable {
    /// The far end is heard above this, dBFS.
    private static let audible: Float = -60
    /// How fast a room lets it fade, dB per block of 10 ms: a reverberation time of 0.6 s.
    private static let fade: Float = 1
    /// What is left before anything is known, dB relative to the far end: the echo of a loudspeaker that stands near.
    private static let unknown: Float = -8
    /// What is left that cannot be told from silence, dB.
    private static let least: Float = -60
    /// How far above what is expected a sound is an echo as likely as not, and over how many dB that changes to hardly.
    private static let margin = (even: Float(6), width: Float(2))
    /// What is louder by this than expected is the near end, unless it goes on: dB.
    private static let surprise: Float = 9
    /// How fast what is expected follows, dB per block: up through echo, up through what goes on being louder, and
    /// down, in shares of the distance and at most.
    private static let following = (
        up: Float(0.5), surprised: Float(0.03), downShare: Float(0.02), downMost: Float(0.4)
    )
    /// What stands out of the noise by less tells nothing, dB.
    private static let overNoise: Float = 6

    private var farEnd = silenceLevel
    private var leakage = ResidualEchoLikelihood.unknown

    /// Takes a block's levels and returns the likelihood, 0...1; 0 while the far end is not heard.
    ///
    /// - Parameters:
    ///   - left: of what the canceller left, dBFS.
    ///   - reference: of what was played, re-timed so that it goes with the block, dBFS.
    ///   - noise: of the near end's noise, dBFS.
    mutating func take(left: Float, reference: Float, noise: Float) -> Float {
        farEnd = max(reference, farEnd - Self.fade)
        guard farEnd > Self.audible else { return 0 }
        let relative = left - farEnd
        let excess = relative - leakage
        if excess < 0 {
            leakage = max(Self.least, leakage - min(Self.following.downMost, -excess * Self.following.downShare))
        } else if left > noise + Self.overNoise {
            leakage += min(excess, excess < Self.surprise ? Self.following.up : Self.following.surprised)
        }
        return logistic((Self.margin.even - excess) / Self.margin.width)
    }
}
