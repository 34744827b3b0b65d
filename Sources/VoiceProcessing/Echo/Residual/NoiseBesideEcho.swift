import CVoiceKernels
import VoiceSignal

/// Takes the room's noise down while there is an echo, as far as it goes down with the echo where nobody talks.
///
/// A suppressor takes the noise of a bin with its echo. If it stays beside a talker, it comes and goes with them, and on
/// recordings of devices it is most of what is left (docs/decisions/100). A Wiener gain, its prior signal to noise
/// decision-directed (Y. Ephraim, D. Malah, "Speech enhancement using a minimum mean-square error short-time spectral
/// amplitude estimator", 1984), over the noise that ``ComfortNoise`` knows and puts back in part. Once the echo has
/// faded the noise comes back slowly: a step of it is like somebody who begins to speak (docs/decisions/116). Allocates
/// when made and never after. One owner.
struct NoiseBesideEcho: ~Copyable {
    /// Weight of the past in the prior.
    private static let decision: Float = 0.92
    /// Lowest gain: -10 dB.
    private static let least: Float = 0.32
    /// Growth of the lowest gain in a block where there can be no echo: 20 dB a second.
    private static let release: Float = 1.0233

    /// What passed of each bin in the last block, over its noise, powers.
    private var passed = RealVector(count: Spectrum.bins)
    /// Of the newest block.
    private var power = RealVector(count: Spectrum.bins)
    /// Lowest gain of the newest block; 1 lowers nothing.
    private var lowest: Float = 1

    /// Lowers gains by what of a block is noise, as soon as the noise is known.
    ///
    /// - Parameter softness: factor of the lowest gain beside an echo, 0...1; nil where there can be none.
    mutating func lower(
        _ gains: inout RealVector, of left: borrowing Spectrum, by noise: borrowing ComfortNoise, softness: Float?
    ) {
        lowest = softness.map { $0 * Self.least } ?? min(1, lowest * Self.release)
        guard lowest < 1, noise.isKnown else { return }
        precondition(gains.count == Spectrum.bins)
        power.write(powersOf: left)
        unsafe vk_lower_noise(power.start, noise.noise.start, Self.decision, lowest, passed.start, gains.start)
    }

    /// Leaves the noise as it is, beside an echo of which nothing is known.
    mutating func leave() { lowest = 1 }
}
