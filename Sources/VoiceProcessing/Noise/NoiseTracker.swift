import Glibc
import VoiceSignal

/// The noise's power in each bin, followed through speech.
///
/// Each bin is taken for noise with the probability that it is, given the noise so far and a fixed SNR of speech (T.
/// Gerkmann, R. C. Hendriks, "Unbiased MMSE-based noise power estimation with low complexity and low tracking delay",
/// IEEE Trans. ASLP 20, 2012). It needs no pause to follow a noise that falls or that rises slowly; a sudden rise of 15
/// dB takes it three seconds.
struct NoiseTracker: ~Copyable {
    struct Bin: BitwiseCopyable {
        var power: Float = 0
        /// Smoothed probability of speech, which notices when a bin is stuck.
        var presence: Float = 0
    }

    /// SNR that speech is taken to have where it is, 15 dB (Gerkmann and Hendriks, section V).
    private static let speechRatio: Float = 31.6
    /// Smoothing per frame of 5 ms; time constants 160 and 140 ms.
    private static let weights = (power: Float(0.0305), presence: Float(0.0356))
    /// A bin whose presence stays above this is stuck below a noise that has risen; it is let go (ibid., eq. 23).
    private static let stuck: Float = 0.99
    /// Frames at the start whose mean is the first estimate: 100 ms.
    static let learning = 20
    /// Steps per unit of SNR in the table of probabilities, and its end, where speech is certain.
    private static let table = (steps: Float(16), end: 24)

    private var state: FixedArray<Bin>
    private var probability: RealVector
    private var frames = 0
    private var isDamped = false

    init(bins: Int) {
        state = FixedArray(count: bins, repeating: Bin())
        probability = RealVector(count: Self.table.end * Int(Self.table.steps) + 2, repeating: 1)
        let slope = Self.speechRatio / (1 + Self.speechRatio)
        for step in 0..<probability.count {
            let posterior = Float(step) / Self.table.steps
            probability[step] = 1 / (1 + (1 + Self.speechRatio) * expf(-posterior * slope))
        }
    }

    /// Begins a frame.
    ///
    /// - Parameter isDamped: something before took of the frame, noise and all; then no bin's noise is believed to have
    ///   fallen.
    mutating func beginFrame(isDamped: Bool = false) {
        frames = min(frames + 1, Self.learning + 1)
        self.isDamped = isDamped && frames > Self.learning
    }

    /// Takes a bin's power and returns the noise's in it.
    @inline(__always)
    mutating func update(_ bin: Int, power: Float) -> Float {
        var this = state[bin]
        if isDamped, power < this.power { return this.power }
        if frames <= Self.learning {
            this.power += (power - this.power) / Float(frames)
        } else {
            var speech = likelihood(power / this.power)
            this.presence += Self.weights.presence * (speech - this.presence)
            if this.presence > Self.stuck { speech = min(speech, Self.stuck) }
            this.power += Self.weights.power * (1 - speech) * (power - this.power)
        }
        state[bin] = this
        return this.power
    }

    @inline(__always)
    private func likelihood(_ posterior: Float) -> Float {
        let place = min(posterior, Float(Self.table.end)) * Self.table.steps
        let step = Int(place)
        return probability[step] + (place - Float(step)) * (probability[step + 1] - probability[step])
    }
}
