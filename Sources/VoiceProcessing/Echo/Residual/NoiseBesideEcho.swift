import CVoiceKernels
import VoiceSignal

/// Takes the room's noise down while there is an echo, as far as it goes down with the echo where nobody talks.
///
/// A suppressor takes the noise of a bin with its echo. If it stays beside a talker, it comes and goes with them, and on
/// recordings of devices it is most of what is left (docs/decisions/100). A Wiener gain, its prior signal to noise
/// decision-directed (Y. Ephraim, D. Malah, "Speech enhancement using a minimum mean-square error short-time spectral
/// amplitude estimator", 1984), over the noise that ``ComfortNoise`` knows and puts back in part. Allocates when made
/// and never after. One owner.
struct NoiseBesideEcho: ~Copyable {
    /// Weight of the past in the prior.
    private static let decision: Float = 0.92
    /// Lowest gain: -10 dB.
    private static let least: Float = 0.32

    /// What passed of each bin in the last block, over its noise, powers.
    private var passed = RealVector(count: Spectrum.bins)
    /// Of the newest block.
    private var power = RealVector(count: Spectrum.bins)

    /// Lowers gains by what of a block is noise, as soon as the noise is known.
    ///
    /// - Parameter softness: factor of the lowest gain, 0...1.
    mutating func lower(
        _ gains: inout RealVector, of left: borrowing Spectrum, by noise: borrowing ComfortNoise, softness: Float
    ) {
        guard noise.isKnown else { return }
        precondition(gains.count == Spectrum.bins)
        power.write(powersOf: left)
        unsafe vk_lower_noise(
            power.start, noise.noise.start, Self.decision, softness * Self.least, passed.start, gains.start)
    }
}
