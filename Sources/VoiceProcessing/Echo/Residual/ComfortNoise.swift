import CVoiceKernels
import VoiceSignal

/// Puts the room's noise back where an echo suppressor took it, so that the room does not come and go with the far end.
///
///     what is left of the microphone ─┐
///     what of it may be echo ─────────┴─> NoiseTracker ─> noise N ─┐
///     the suppressor's gains g ──────────────────────────> √(N (1 − g²)) ─> filter
///                                                        white noise ─────────┴─> added
///
/// What passes of the room's noise, g² N, and what is added make N in every bin, whatever the gains do: nothing pumps,
/// and where nothing was taken nothing is added. The room is listened to beside an echo too: a reference that was
/// recorded hisses in its pauses, so a whole call may have no moment in which there can be no echo.
///
/// The noise is white noise through a filter that changes from block to block without a step, so no tone of it ever
/// stands alone. It is the same in every run. Allocates when made and never after. One owner.
struct ComfortNoise: ~Copyable {
    static let block = 160
    /// Frames on each side of the filter's middle: it resolves about 170 Hz.
    private static let reach = 48
    private static let bins = Spectrum.bins
    /// Blocks of the room before anything is known of it: what ``NoiseTracker`` takes to begin.
    private static let learning = NoiseTracker.learning
    /// Share of a bin's power that may be echo, above which the bin says no more of the room than that it is not louder.
    private static let echoShare: Float = 0.5
    /// Half of a 24-bit step, squared: what is softer is no room's.
    static let silence: Float = 1e-14
    /// Amplitude of evenly distributed numbers whose variance is 1.
    private static let evenAmplitude: Float = 1.732_050_8

    /// How much of the room's noise is put back, a factor of the amplitude, 0...1.
    var level: Float
    /// Sum of the squared window of the spectra: a bin's power over it is the power per bin of the noise.
    private let windowEnergy: Float
    private var tracker = NoiseTracker(bins: bins)
    private var seen = RealVector(count: bins)
    private var heard = 0
    private var heardAlone = 0
    private var response = Spectrum()
    private var filter = CrossfadedFilter(reach: reach, gain: 0)
    private var white = RealVector(count: block)
    private var added = RealVector(count: block)
    private var random: UInt32 = 1

    /// - Parameter windowEnergy: the sum of the squared window of the spectra that it is given.
    init(windowEnergy: Float, level: Float = 1) {
        self.windowEnergy = windowEnergy
        self.level = level
    }

    /// Whether the room was heard for long enough to be known.
    var isKnown: Bool { heard >= Self.learning }

    /// Power of the room's noise in each bin; of no use until it is known.
    var noise: RealVector { _read { yield tracker.power } }

    /// Takes a block's spectrum of what the linear stage leaves, of a block in which there can be no echo: the far end
    /// is silent and its last echo has faded. A near talker does no harm.
    mutating func listen(_ left: borrowing Spectrum) {
        guard begin(left) else { return }
        heardAlone = min(heardAlone + 1, Self.learning)
        tracker.take(seen)
    }

    /// Takes a block's spectrum of what the linear stage leaves, of a block in which an echo may be left. Once the room
    /// was heard alone for long enough to be known, only that counts.
    ///
    /// - Parameter echo: power of what may be left of it. In a bin of which that is half or more the noise only falls.
    mutating func listen(_ left: borrowing Spectrum, beside echo: borrowing RealVector) {
        guard heardAlone < Self.learning, begin(left) else { return }
        if isKnown {
            for bin in 0..<Self.bins where echo[bin] > Self.echoShare * seen[bin] {
                seen[bin] = min(seen[bin], tracker.power[bin])
            }
        }
        tracker.take(seen)
    }

    /// - Returns: whether there is anything to hear.
    private mutating func begin(_ left: borrowing Spectrum) -> Bool {
        guard left.energy > leastPower * Float(Self.bins) else { return false }
        heard = min(heard + 1, Self.learning)
        seen.write(powersOf: left)
        seen.scale(in: 0..<Self.bins, by: 1, adding: leastPower)
        return true
    }

    /// Power below which a bin holds no room's noise.
    private var leastPower: Float { Self.silence * windowEnergy }

    /// Makes the filter that makes good what `gains` take, an amplitude's factor for each bin.
    ///
    /// - Parameter most: power of what the linear stage leaves, smoothed: the room's noise cannot be more.
    mutating func shape(
        gains: borrowing RealVector, most: borrowing RealVector, _ transform: inout BlockTransform
    ) {
        let scale = isKnown ? level * level / windowEnergy : 0
        precondition(gains.count == Self.bins && most.count == Self.bins)
        unsafe vk_missing_noise(gains.start, tracker.power.start, most.start, scale, response.real.start)
        filter.take(response: response, &transform)
    }

    /// Adds a block of noise, through the filter that was made last.
    mutating func add(to output: inout MutableSpan<Float>) {
        precondition(output.count == Self.block)
        makeWhiteNoise()
        filter.run(white, into: &added)
        for index in 0..<Self.block { output[index] += added[index] }
    }

    /// Numbers of a linear congruential generator (W. H. Press et al., "Numerical Recipes", 3rd ed., section 7.1.7,
    /// ranqd1), the upper bits.
    private mutating func makeWhiteNoise() {
        for index in 0..<Self.block {
            random = random &* 1_664_525 &+ 1_013_904_223
            white[index] = Float(Int32(bitPattern: random) >> 8) * (Self.evenAmplitude / 8_388_608)
        }
    }
}
