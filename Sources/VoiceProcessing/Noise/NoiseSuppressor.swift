import Glibc
import VoiceSignal

/// Takes steady and slowly changing noise away from speech, 10 ms at a time.
///
///     block ─> frames of 20 ms every 5 ms ─> power ─> NoiseTracker ──> a-priori SNR ──> gain of least log-spectral error
///                        │                                                 └─> in critical bands: presence of speech
///                        └──────────────── spectrum × gain ─> overlap-add ─> 5 ms later
///
/// The a-priori SNR follows D. Ephraim's and Malah's decision-directed rule with a weight that grows with the SNR
/// before, so that onsets are not smeared and noise does not sing; presence in critical bands and in the whole frame
/// then decides between the gain and the floor, as in speexdsp's `preprocess.c` (I. Cohen, B. Berdugo, "Speech
/// enhancement for non-stationary noise environments", Signal Processing 81, 2001, for the idea).
///
/// One owner. Allocates when made and never after. Its mode may change between any two blocks.
package struct NoiseSuppressor: ~Copyable {
    /// What a block told.
    package struct Evidence: BitwiseCopyable, Equatable, Sendable {
        /// Level of the noise, dBFS RMS.
        package var noiseLevel: Float
        /// The block as it came and its noise, octave by octave.
        package var octaves: OctaveLevels
        /// How sure it is that there are clicks such as a keyboard's, 0...1.
        package var clicking: Float
        /// How much of the block's power was taken away, dB, 0 or more; 0 when off.
        package var suppression: Float
    }

    /// Per-band memory.
    struct Band: BitwiseCopyable {
        var power: Float = 0
        var noise: Float = 0
        var clean: Float = 0
        var ratio: Float = 0
        var gain: Float = 0
        var presence: Float = 0
        /// What the transient suppressor leaves of the amplitude.
        var release: Float = 1
    }

    /// Constants of the estimators; those in powers are speexdsp's for 10 ms, turned into the 5 ms of a frame.
    private enum Rule {
        /// Least weight of the new observation in the a-priori SNR.
        static let leastWeight: Float = 0.1
        /// What of a bin's clean power is kept from frame to frame, √0.2.
        static let cleanMemory: Float = 0.447
        /// What of a band's SNR is kept, √0.7.
        static let ratioMemory: Float = 0.837
        /// SNR at which presence is even.
        static let evenRatio: Float = 0.15
        /// Largest SNR that is reckoned with, 20 dB.
        static let largestRatio: Float = 100
        /// How much a bin's gain may exceed its band's: narrower peaks are noise's.
        static let peak: Float = 3
        /// Half of a 24-bit step, squared, per sample: keeps silence from dividing by nothing.
        static let silence: Float = 1e-14
    }

    /// Frames per second.
    package let sampleRate: Int
    /// How much is taken away. Between levels the change fades; from and to `off` it is spliced over, as the delay
    /// changes.
    package var mode: ProcessingSettings.NoiseSuppression {
        didSet { if (mode == .off) != (oldValue == .off) { switchOver() } }
    }

    private var frames: ShortDelayFrames
    private var tracker: NoiseTracker
    private let bands: CriticalBands
    private var bandState: FixedArray<Band>
    /// The band with which each of ``OctaveLevels/limits`` begins.
    private let octaveBands: FixedArray<Int>
    private let estimator = LogSpectralGain()
    private var transients: TransientSuppressor
    private var cleanPower: RealVector
    private var powers: RealVector
    private var gains: RealVector
    private var splice: OutputSplice
    private var floor: Float = 1
    private var isFirstFrame = true
    private let silentPower: Float

    /// A suppressor; allocates.
    package init(sampleRate: Int, mode: ProcessingSettings.NoiseSuppression) {
        precondition(CaptureProcessor.sampleRates.contains(sampleRate), "a rate that is processed")
        self.sampleRate = sampleRate
        self.mode = mode
        frames = ShortDelayFrames(sampleRate: sampleRate)
        let bins = frames.transform.bins
        tracker = NoiseTracker(bins: bins)
        bands = CriticalBands(bins: bins, sampleRate: sampleRate)
        bandState = FixedArray(count: bands.count, repeating: Band())
        var octaveBands = FixedArray(count: OctaveLevels.limits.count, repeating: 0)
        for (place, hertz) in OctaveLevels.limits.enumerated() {
            octaveBands[place] = min(bands.index(of: hertz), bands.count)
        }
        self.octaveBands = octaveBands
        transients = TransientSuppressor(bands: bands)
        cleanPower = RealVector(count: bins)
        powers = RealVector(count: bins)
        gains = RealVector(count: bins, repeating: 1)
        splice = OutputSplice(rate: sampleRate)
        silentPower = Rule.silence * frames.windowEnergy
        floor = Self.floor(of: mode)
    }

    /// Frames by which the output lags the input in a mode: 5 ms, or none when off.
    package static func delay(_ mode: ProcessingSettings.NoiseSuppression, sampleRate: Int) -> Int {
        mode == .off ? 0 : sampleRate / 200
    }

    /// Frames by which the output lags the input.
    package var delay: Int { Self.delay(mode, sampleRate: sampleRate) }

    /// Processes `sampleRate / 100` frames in place. When off, listens only and leaves the block as it is.
    ///
    /// - Parameter isDamped: an echo suppressor took of the block. The room's noise has not fallen then, and has not
    ///   risen when it comes back: followed down and up again it would be taken for the beginning of speech.
    package mutating func run(_ block: inout MutableSpan<Float>, isDamped: Bool = false) -> Evidence {
        precondition(block.count == sampleRate / 100, "a block is 10 ms")
        var suppression: Float = 0
        var noise: Float = 0
        var octaves = SIMD8<Float>()
        for start in stride(from: 0, to: block.count, by: frames.hop) {
            frames.analyse(block.span, from: start)
            noise = gatherPowers(isDamped: isDamped)
            octaves += 0.5 * byOctave { band in bandState[band].power }
            holdTransients()
            guard mode != .off else { continue }
            findGains()
            suppression += 0.5 * applyGains()
            frames.synthesise(into: &block, at: start)
        }
        splice.run(&block)
        return Evidence(
            noiseLevel: max(silenceLevel, decibelsFullScale(ofPower: noise * noiseScale)),
            octaves: OctaveLevels(
                power: octaves * noiseScale,
                noise: noiseScale * byOctave { band in bands.sum(of: tracker.power, in: band) }),
            clicking: transients.certainty,
            suppression: suppression)
    }

    /// Takes a block that nobody wants to know about, at next to no cost; the mode is off.
    mutating func rest(_ block: inout MutableSpan<Float>) {
        for start in stride(from: 0, to: block.count, by: frames.hop) { frames.remember(block.span, from: start) }
        splice.run(&block)
    }

    private mutating func switchOver() {
        // The history is warm whether on or off, so there is nothing to wait for: only the time jumps. Nobody asked for
        // the gains meanwhile.
        frames.prepare()
        isFirstFrame = true
        floor = Self.floor(of: mode)
        splice.begin(hold: 0)
    }

    /// Least gain in a mode.
    static func floor(of mode: ProcessingSettings.NoiseSuppression) -> Float {
        switch mode {
        case .off: 1
        case .low: powf(10, -10 / 20)
        case .moderate: powf(10, -18 / 20)
        case .high: powf(10, -24 / 20)
        case .veryHigh: powf(10, -30 / 20)
        }
    }

    /// Mean square of the noise over the sum of its power spectrum.
    private var noiseScale: Float { 2 / (Float(frames.transform.length) * frames.windowEnergy) }

    /// Finds the SNRs, and from them the gains, of the frame that was analysed.
    private mutating func findGains() {
        judgeBands()
        for bin in 0..<gains.count { gains[bin] = gain(bin) }
        isFirstFrame = false
    }

    private mutating func holdTransients() {
        let state = unsafe bandState.start
        transients.observe { band in unsafe state[band].power }
        for band in 0..<bands.count {
            bandState[band].release = transients.gain(band: band, power: bandState[band].power)
        }
    }

    /// Powers of signal and noise, by bins and by bands; returns the noise's sum.
    private mutating func gatherPowers(isDamped: Bool) -> Float {
        powers.write(powersOf: frames.transform.real, frames.transform.imaginary)
        powers.scale(in: 0..<powers.count, by: 1, adding: silentPower)
        tracker.take(powers, isDamped: isDamped)
        for band in 0..<bands.count { bandState[band].power = bands.sum(of: powers, in: band) }
        return tracker.power.sum
    }

    /// Sums of what each band has, octave by octave.
    @inline(__always)
    private func byOctave(_ value: (Int) -> Float) -> SIMD8<Float> {
        var sums = SIMD8<Float>()
        for octave in 0..<octaveBands.count - 1 {
            for band in octaveBands[octave]..<octaveBands[octave + 1] { sums[octave] += value(band) }
        }
        return sums
    }

    /// SNRs before and after the observation.
    @inline(__always)
    private func ratios(power: Float, noise: Float, clean: Float) -> (prior: Float, posterior: Float) {
        let over = min(power / noise - 1, Rule.largestRatio)
        let known = clean / (clean + noise)
        let weight = Rule.leastWeight + (0.99 - Rule.leastWeight) * known * known
        let prior = min(weight * max(0, over) + (1 - weight) * clean / noise, Rule.largestRatio)
        return (prior, over + 1)
    }

    /// Gains and presence in the critical bands.
    private mutating func judgeBands() {
        var mean: Float = 0
        for index in 0..<bands.count {
            var band = bandState[index]
            band.noise = bands.sum(of: tracker.power, in: index)
            if isFirstFrame { band.clean = band.power }
            let (prior, posterior) = ratios(power: band.power, noise: band.noise, clean: band.clean)
            band.ratio = Rule.ratioMemory * band.ratio + (1 - Rule.ratioMemory) * prior
            band.gain = estimator.gain(prior: prior, posterior: posterior)
            let kept = band.gain * band.gain * band.power
            band.clean = Rule.cleanMemory * band.clean + (1 - Rule.cleanMemory) * kept
            if index < bands.speechCount { mean += band.ratio }
            // The likelihood of the observation, which the frame's presence is weighed into below.
            band.presence = (1 + prior) * expf(-min(prior / (1 + prior) * posterior, 50))
            bandState[index] = band
        }
        let frame = Self.presence(mean / Float(bands.speechCount))
        for index in 0..<bands.count {
            let band = bandState[index]
            let prior = (0.1 + 0.899 * frame) * (0.199 + 0.8 * Self.presence(band.ratio))
            bandState[index].presence = 1 / (1 + (1 - prior) / prior * band.presence)
        }
    }

    /// How sure speech is, 0...1, at an SNR.
    private static func presence(_ ratio: Float) -> Float { ratio / (ratio + Rule.evenRatio) }

    /// A bin's gain: between the estimate and the floor by the presence in its bands.
    @inline(__always)
    private mutating func gain(_ bin: Int) -> Float {
        let place = bands.places[bin]
        let (lower, upper) = (bandState[place.lower], bandState[place.lower + 1])
        let presence = lower.presence + place.upperShare * (upper.presence - lower.presence)
        let around = lower.gain + place.upperShare * (upper.gain - lower.gain)
        let power = powers[bin]
        let clean = isFirstFrame ? power : cleanPower[bin]
        let (prior, posterior) = ratios(power: power, noise: tracker.power[bin], clean: clean)
        let estimate = min(estimator.gain(prior: prior, posterior: max(posterior, 1e-3)), Rule.peak * around)
        cleanPower[bin] = Rule.cleanMemory * clean + (1 - Rule.cleanMemory) * estimate * estimate * power
        // Square roots: nearer to loudness, in which the mean of two gains is heard as one between them.
        let root = presence * max(estimate, floor).squareRoot() + (1 - presence) * floor.squareRoot()
        let release = lower.release + place.upperShare * (upper.release - lower.release)
        return max(root * root * release, floor)
    }

    /// Multiplies the spectrum; returns what that took of the power, dB.
    private mutating func applyGains() -> Float {
        floor += Self.floorWeight * (Self.floor(of: mode) - floor)
        var (before, after): (Float, Float) = (0, 0)
        for bin in 0..<gains.count {
            let gain = gains[bin]
            frames.transform.real[bin] *= gain
            frames.transform.imaginary[bin] *= gain
            before += powers[bin]
            after += gain * gain * powers[bin]
        }
        return 10 * log10f(before / after)
    }

    /// How fast the floor follows the mode: within about 50 ms.
    private static let floorWeight: Float = 0.1
}
