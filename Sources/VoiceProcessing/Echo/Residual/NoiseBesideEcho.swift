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
    /// Added to powers that are divided by.
    private static let tiny: Float = 1e-12

    /// What passed of each bin in the last block, over its noise, powers.
    private var passed = RealVector(count: Spectrum.bins)

    /// Lowers gains by what of a block is noise. Bins of which no noise is known keep theirs.
    mutating func lower(_ gains: inout RealVector, of left: borrowing Spectrum, by noise: borrowing ComfortNoise) {
        for bin in 0..<Spectrum.bins {
            let level = noise.noise(in: bin)
            guard level > 0 else { continue }
            let posterior = left.power(bin) / (level + Self.tiny)
            let prior = Self.decision * passed[bin] + (1 - Self.decision) * max(posterior - 1, 0)
            let gain = prior / (1 + prior)
            passed[bin] = gain * gain * posterior
            gains[bin] = max(gains[bin] * gain, min(gains[bin], Self.least))
        }
    }
}
