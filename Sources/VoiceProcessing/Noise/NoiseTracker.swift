import CVoiceKernels
import Glibc
import VoiceSignal

/// The noise's power in each bin, followed through speech.
///
/// Each bin is taken for noise with the probability that it is, given the noise so far and a fixed SNR of speech (T.
/// Gerkmann, R. C. Hendriks, "Unbiased MMSE-based noise power estimation with low complexity and low tracking delay",
/// IEEE Trans. ASLP 20, 2012). It needs no pause to follow a noise that falls or that rises slowly; a sudden rise of 15
/// dB takes it three seconds.
struct NoiseTracker: ~Copyable {
    /// SNR that speech is taken to have where it is, 15 dB (Gerkmann and Hendriks, section V).
    private static let speechRatio: Float = 31.6
    /// Smoothing per frame of 5 ms; time constants 160 and 140 ms.
    private static let weights = (power: Float(0.0305), presence: Float(0.0356))
    /// A bin whose presence stays above this is stuck below a noise that has risen; it is let go (ibid., eq. 23).
    private static let stuck: Float = 0.99
    /// Frames at the start whose mean is the first estimate: 100 ms.
    static let learning = 20

    /// The noise's in each bin.
    private(set) var power: RealVector
    /// Smoothed probability of speech, which notices when a bin is stuck.
    private var presence: RealVector
    private var frames = 0
    private var rule = vk_noise_rule(
        odds: 1 + speechRatio, slope: speechRatio / (1 + speechRatio) / logf(2), noise_weight: weights.power,
        presence_weight: weights.presence, stuck: stuck, held: 0)

    init(bins: Int) {
        power = RealVector(count: bins)
        presence = RealVector(count: bins)
    }

    /// Takes a frame's powers, all above 0.
    ///
    /// - Parameter isDamped: something before took of the frame, noise and all; then no bin's noise is believed to have
    ///   fallen.
    mutating func take(_ new: borrowing RealVector, isDamped: Bool = false) {
        precondition(new.count == power.count)
        frames = min(frames + 1, Self.learning + 1)
        guard frames > Self.learning else { return power.follow(new, weight: 1 / Float(frames)) }
        rule.held = isDamped ? 1 : 0
        unsafe vk_track_noise(&rule, new.start, power.start, presence.start, power.count)
    }
}
