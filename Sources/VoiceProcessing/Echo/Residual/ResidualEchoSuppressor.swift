import CVoiceKernels
import Glibc
import VoiceSignal

/// Removes what the linear stage leaves, by a gain for each bin of 50 Hz of which there are three opinions.
///
/// One is an estimate. The residual echo's power is taken from two things that the linear stage knows: the power of its
/// own error, U, and a leakage that is learned, how much of the echo estimate's power stays in the error. The leakage
/// falls with what is seen and rises only while the far end alone is heard, so a near talker cannot raise it and
/// suppress themselves:
///
///     R = max(0.6 R, leak · (1 + o f²) |Y|² + μ U + s f² Q)        f: far end alone, 0...1 (``TalkState``); Q: ``ScatteredEcho``
///     Wiener gain, decision-directed (Ephraim and Malah, 1984), never below the noise floor
///
/// Another is ``ResidualEchoNetwork``'s, which looks at this estimate among other things. It knows what loudspeakers
/// leave that no such estimate expects, so it can take away more, but only while it hears no near end itself.
///
/// The third is ``DoubleTalkNetwork``'s, which looks at both and counts the more, the more of a near end is heard. It
/// knows what devices leave while both talk. The estimate keeps its part in that (``DoubleTalkShare``): it is as sure
/// of a talker who is like nobody that the networks have learned from.
///
/// The room's noise goes down with the echo, also where somebody talks (``NoiseBesideEcho``).
///
/// The gains are put to work as a filter in time: 4 ms of delay, no musical noise, no blocks to be heard. Its phase is
/// linear but beside a talker, of whom it then keeps the harmonics and not what lies between (``CrossfadedFilter``).
struct ResidualEchoSuppressor: ~Copyable {
    /// How much is suppressed.
    struct Tuning {
        /// Over-estimation while the far end alone is heard: of the leakage, and of what is scattered. The second
        /// trades a quiet talker for the echo of bad loudspeakers: with 0, 2, 4, 8 double talk at -10 dB had 9.3, 9.0,
        /// 8.9, 8.7 dB of SDR (evaluation seeds 1, 3, 7, 11), and the echo of the far end alone an AECMOS of 4.14,
        /// 4.26, 4.30, 4.33 (20 scenes with hard loudspeakers and rooms).
        var farOnly: Float = 30
        var scattered: Float = 4
        /// Likelihood of a near end below which the leakage may rise.
        var nearRise: Float = 0.5
        /// Weight of the filter's own error, μ.
        var uncertainty: Float = 1
        /// The weight is so much higher where the path is new, and falls by its tenth in so many blocks: while it
        /// learns quickly the filter takes its error for 7 dB less than it is.
        var doubt: Float = 5
        var doubtBlocks: Float = 60
        /// Lowest gain of the estimate, and of all.
        var floor: (estimate: Float, all: Float) = (0.01, 0.001)
        /// Power of the network's gain in the product of both while it hears no near end: more is less echo of a
        /// loudspeaker that is driven hard. With 0.5, 0.7, 1 the echo of the far end alone had an AECMOS of 4.56, 4.61,
        /// 4.64 with hard loudspeakers and rooms (37 scenes).
        var network: Float = 1
        /// Share of what is left, in amplitude, that the network takes for a near end, from which on the estimate alone
        /// counts.
        var nearShare: Float = 0.5
        /// Powers in the product of ``DoubleTalkNetwork``'s gain and of the other two's: where no near end is heard,
        /// and where one surely is, by the same share.
        var doubleTalk = DoubleTalkShare()
        var talk = TalkState.Tuning()
        /// Weight of the past in the decision-directed estimate.
        var decision: Float = 0.85
        /// Amplitude of the room's noise that is put back where it was suppressed with the echo: 10 dB below it. With
        /// 0, 0.35, 0.5, 0.7 the echo of the far end alone had an AECMOS of 4.63, 4.635, 4.645, 4.645 in the
        /// evaluation's rooms (seeds 1, 7), and of 3.7, 4.1, 4.1, and 4.4 with 1, with a loudspeaker driven hard; ERLE,
        /// which takes the noise for echo, fell from 41.3 to 38.9, 37.4, 35.5 dB.
        var comfortNoise: Float = 0.33
        /// Amplitude of the room's noise beside a near end, over the one beside an echo alone: a talker hides what is
        /// missing, and what is left is taken for something added to them (docs/decisions/112).
        var noiseBesideTalker: Float = 0.3
        /// Gain while an echo is assumed of which nothing is known.
        var unsure: Float = 0.03
        /// Whether the gains are put to work; otherwise what the linear stage leaves comes out, as late as ever.
        var isApplied = true

        /// More than the measured balance where more is asked for: less echo for more damage to the near end.
        func adjusted(to level: ProcessingSettings.EchoSuppression) -> Tuning {
            var tuning = self
            switch level {
            case .off, .soft, .auto: break
            case .medium: tuning.uncertainty *= 2
            case .aggressive:
                tuning.uncertainty *= 4
                tuning.floor.estimate *= 0.3
            }
            return tuning
        }
    }

    static let block = AnalysisLine.block
    /// Frames by which the output lags.
    static let delay = 64
    /// Frames that the filter looks back: all that gains of 50 Hz say.
    private static let filterTail = 159
    private static let bins = Spectrum.bins
    /// The leakage per block: weight of lower sight, growth while the far end is alone, and always; and its range.
    private static let leak: (fall: Float, rise: Float, creep: Float) = (0.2, 0.02, 0.0005)
    private static let leakRange: ClosedRange<Float> = 1e-4...1
    /// Noise floor: weight of lower sight and growth per block.
    private static let noise: (fall: Float, rise: Float) = (0.2, 0.003)
    /// Power below which a bin holds no noise of the room, as while a microphone is switched off: the floor stays.
    private let silentPower = ComfortNoise.silence * AnalysisLine.energy
    /// Lowest power of a noise over its mean, of which the noise floor is an estimate: -5 dB. The floor itself needs a
    /// minute to rise to it.
    private let lowNoise = RealVector(count: bins, repeating: 0.3)
    /// Gain below which none is told from another.
    private static let leastGain: Float = 1e-9
    /// Decay of the residual's power per block: the room's tail beyond the filter.
    private static let tail: Float = 0.6
    /// Share of what is left, in amplitude, which the first network takes for a near end, from which on there is one.
    private static let plainlyNear: Float = 0.7
    /// Weight of a block in what a network takes for a near end: 30 ms.
    private static let nearWeight: Float = 0.3

    var tuning: Tuning
    private var errorLine = AnalysisLine()
    private var echoLine = AnalysisLine()
    private var micLine = AnalysisLine()
    /// What the linear stage left of the newest frames.
    private(set) var error = Spectrum()
    private var echo = Spectrum()
    private var mic = Spectrum()
    /// Squared spectra of the newest block, and of what the linear stage left the amplitudes in the judged bins, and
    /// their sum.
    private var errorPower = RealVector(count: bins)
    private var echoPower = RealVector(count: bins)
    private var micPower = RealVector(count: bins)
    private var amplitudes = RealVector(count: bins)
    private var left: Float = 0
    private var talk: TalkState
    private var scattered = ScatteredEcho()
    private var comfort = ComfortNoise(windowEnergy: AnalysisLine.energy)
    private var leakage = RealVector(count: bins, repeating: 1)
    private var floor = RealVector(count: bins, repeating: 1e-7)
    /// Lowest power of the room's noise.
    private var room = RealVector(count: bins)
    private var estimate = ResidualEchoFeatures.Estimate()
    /// What the network looks at.
    private(set) var features = ResidualEchoFeatures()
    private var network = ResidualEchoNetwork()
    private var opinion = RealVector(count: bins)
    private var doubleTalk = DoubleTalkNetwork()
    private var talkGain = RealVector(count: bins)
    /// Share of what is left that this network takes for a near end, in amplitude, over 30 ms.
    private var ownNear: Float = 0
    private var noise = NoiseBesideEcho()
    private var gain = RealVector(count: bins, repeating: 1)
    private var response = Spectrum()
    private var filter = CrossfadedFilter(reach: delay, tail: filterTail, gain: 1)
    /// 0...1: how much of the gains' detail the filter is to have.
    private var detail: Float = 0
    private var input = RealVector(count: block)
    private var filtered = RealVector(count: block)

    /// By how much the filter's own error is weighed more than usual, as its path is new.
    var doubt: Float { estimate.doubt }
    /// Weight of the filter's own error.
    private var weight: Float { tuning.uncertainty * estimate.doubt }

    /// 0...1: the far end alone is heard.
    var farOnly: Float { talk.farOnly }
    /// Bins from 4 to 7 kHz, where it is judged what is to be done above 8 kHz.
    static let upper = 80..<140
    /// Share of the microphone's amplitude that is left there, 0...1, of the last block; and the echo's power there,
    /// smoothed.
    private(set) var upperPassed: Float = 1
    private(set) var upperEcho: Float = 0
    /// Share of what is left, in amplitude, that the first network takes for a near end.
    private(set) var near: Float = 0
    /// 0...1: the share of the output's power over the bins of speech that is expected to be echo.
    private var echoShare: Float = 0
    /// 0...1: how likely what is left is echo. More of it than was expected is left at once by a filter that has just
    /// lost a little; then the far end is still heard alone, and the first network finds no near end in what is left.
    var echoLikelihood: Float { max(echoShare, talk.farOnly * max(0, 1 - near / Self.plainlyNear)) }
    /// Mean gain of the last block over the bins of speech.
    private(set) var meanGain: Float = 1

    init(tuning: Tuning = Tuning()) {
        self.tuning = tuning
        talk = TalkState(tuning: tuning.talk)
    }

    /// The echo path is new: all of the echo estimate may be left for now.
    mutating func expectAnotherPath() {
        leakage.fill(Self.leakRange.upperBound)
        estimate.doubt = tuning.doubt
    }

    /// What was taken for a new path was a known one, elsewhere.
    mutating func expectKnownPath() { estimate.doubt = 1 }

    /// Suppresses in a block. `error` is what the linear stage leaves, `echo` its estimate, both after it learned;
    /// `presence` says how much of all this is to be heard; `isUnsure`, that nothing is known of the echo.
    mutating func run(
        error newError: borrowing RealVector, echo newEcho: borrowing RealVector, mic newMic: borrowing RealVector,
        uncertainty: borrowing RealVector, presence: borrowing EchoPresence, isUnsure: Bool,
        _ transform: inout BlockTransform, into output: inout MutableSpan<Float>
    ) {
        analyse(newError, newEcho, newMic, &transform)
        observePowers()
        estimate.uncertainty.copy(from: uncertainty)
        estimate.unexplained = presence.unexplained
        estimate.doubt += (1 - estimate.doubt) / tuning.doubtBlocks
        talk.observe(error: error, echo: echo, mic: mic)
        judgeNear()
        // Between two words the room stays as soft as beside them.
        let softness = 1 - talk.conversation * (1 - talk.farOnly) * (1 - tuning.noiseBesideTalker)
        // Beside an echo of which nothing is known, nothing is known of the room either.
        let isHeard = presence.isLive && tuning.isApplied && !isUnsure
        comfort.level = isHeard ? softness * tuning.comfortNoise / estimate.doubt : 0
        scattered.observe(error: error, echo: echo, talk: talk)
        findEstimate()
        // Where there can be no echo, the room is heard alone.
        if presence.isLive { comfort.listen(error, beside: estimate.residual) } else { comfort.listen(error) }
        // Where there can be no echo, a network that looks for one has nothing to say. It runs all the same: what it
        // remembers of a call must be there when the next echo comes.
        combineOpinions(presence.isLive ? tuning.doubleTalk : .none)
        if isUnsure {
            noise.leave()
        } else {
            noise.lower(&gain, of: error, by: comfort, softness: presence.isLive ? softness : nil)
        }
        makeFilter(presence: presence.presence, isUnsure: isUnsure, &transform)
        apply(newError, newMic, presence.presence, into: &output)
        comfort.add(to: &output)
    }

    private mutating func analyse(
        _ newError: borrowing RealVector, _ newEcho: borrowing RealVector, _ newMic: borrowing RealVector,
        _ transform: inout BlockTransform
    ) {
        errorLine.push(newError, &transform, into: &error)
        echoLine.push(newEcho, &transform, into: &echo)
        micLine.push(newMic, &transform, into: &mic)
    }

    private mutating func observePowers() {
        errorPower.write(powersOf: error)
        echoPower.write(powersOf: echo)
        micPower.write(powersOf: mic)
        left = 1e-9
        for bin in TalkState.judged {
            amplitudes[bin] = errorPower[bin].squareRoot()
            left += amplitudes[bin]
        }
    }

    private mutating func judgeNear() {
        let weight = weight
        var expected: Float = 0
        for bin in TalkState.judged {
            expected += leakage[bin] * talk.echoPower[bin] + weight * estimate.uncertainty[bin] + floor[bin]
        }
        talk.judgeNear(expected: expected)
    }

    private mutating func findEstimate() {
        let weight = weight
        let alone = talk.farOnly * (1 - talk.near)
        let over = 1 + tuning.farOnly * alone * alone
        let elsewhere = tuning.scattered * alone * alone * (1 - talk.conversation) * scattered.power
        let rise = talk.farOnly > 0.8 && talk.near < tuning.nearRise ? Self.leak.rise : 0
        var rule = vk_residual_rule(
            audible: 1e-6, fall: Self.leak.fall, growth: 1 + Self.leak.creep + rise,
            least: Self.leakRange.lowerBound, most: Self.leakRange.upperBound, over: over, weight: weight,
            elsewhere: elsewhere, tail: Self.tail, noise_fall: Self.noise.fall, noise_growth: 1 + Self.noise.rise,
            silence: silentPower, decision: tuning.decision, least_gain: tuning.floor.estimate)
        unsafe vk_residual(
            &rule, errorPower.start, echoPower.start, talk.errorPower.start, talk.echoPower.start,
            estimate.uncertainty.start, leakage.start, floor.start, estimate.residual.start, estimate.gain.start)
    }

    private mutating func combineOpinions(_ share: DoubleTalkShare) {
        features.observe(error: error, echo: echo, microphone: mic, talk: talk, estimate: estimate)
        network.run(features, into: &opinion)
        near = passed(by: opinion)
        features.add(opinion: opinion, ofNear: near)
        let power = tuning.network * max(0, 1 - near / tuning.nearShare)
        opinion.raise(to: power)
        doubleTalk.run(features, into: &talkGain)
        ownNear += Self.nearWeight * (passed(by: talkGain) - ownNear)
        let least = share.floor(
            of: DoubleTalkShare.Block(
                near: near, ownNear: ownNear, farOnly: talk.farOnly, doubt: estimate.doubt,
                unexplained: estimate.unexplained))
        // Where the far end is alone, or has jumped, the detail is chance: it would be heard as tones.
        detail = least * (1 - talk.farOnly)
        talkGain.bound(to: tuning.floor.all...1)
        opinion.scale(by: estimate.gain, notBelow: Self.leastGain)
        room.copy(from: floor)
        if comfort.isKnown { room.raise(toProductOf: comfort.noise, lowNoise) }
        share.writeFloor(
            least, gains: talkGain, leakage: leakage, power: talk.errorPower, noise: room, into: &gain)
        let powers = share.powers(near: near)
        talkGain.raise(to: powers.network)
        opinion.raise(to: powers.others)
        gain.raise(toProductOf: talkGain, opinion)
    }

    /// Of each of ``OctaveLevels/limits``, the bin with which it begins.
    private static let octaveBins: InlineArray<6, Int> = [2, 10, 20, 40, 80, 160]
    /// Mean square over the sum of a power spectrum.
    private static let powerScale = 2 / (Float(BlockTransform.frames) * AnalysisLine.energy)

    /// Levels octave by octave of what the linear stage left of the last block, and of its echo estimate, dBFS.
    var octaves: (left: SIMD8<Float>, echo: SIMD8<Float>) { (Self.levels(of: errorPower), Self.levels(of: echoPower)) }

    private static func levels(of power: borrowing RealVector) -> SIMD8<Float> {
        var levels = SIMD8<Float>(repeating: silenceLevel)
        for octave in 0..<OctaveLevels.count {
            var sum: Float = 0
            for bin in octaveBins[octave]..<octaveBins[octave + 1] { sum += power[bin] }
            levels[octave] = max(silenceLevel, decibelsFullScale(ofPower: powerScale * sum))
        }
        return levels
    }

    /// The share of what is left that gains let pass, in amplitude: what a network takes for a near end.
    private func passed(by gains: borrowing RealVector) -> Float {
        amplitudes.dot(gains, in: TalkState.judged) / left
    }

    private mutating func makeFilter(presence: Float, isUnsure: Bool, _ transform: inout BlockTransform) {
        if !tuning.isApplied {
            response.real.fill(1)
        } else if isUnsure {
            response.real.fill(1 - presence + presence * tuning.unsure)
        } else {
            unsafe vk_response(gain.start, tuning.floor.all, presence, response.real.start)
        }
        var sum: Float = 0
        var (left, echoed): (Float, Float) = (1e-12, 0)
        for bin in TalkState.judged {
            let passes = response.real[bin]
            sum += passes
            left += passes * passes * errorPower[bin]
            echoed += passes * passes * estimate.residual[bin]
        }
        echoShare = presence * min(1, echoed / left)
        meanGain = sum / Float(TalkState.judged.count)
        judgeUpper()
        comfort.shape(gains: response.real, most: talk.errorPower, &transform)
        filter.take(response: response, detail: detail, &transform)
    }

    private mutating func judgeUpper() {
        var (came, went, echoed): (Float, Float, Float) = (1e-12, 0, 0)
        for bin in Self.upper {
            came += micPower[bin]
            went += errorPower[bin] * response.real[bin] * response.real[bin]
            echoed += echoPower[bin]
        }
        upperPassed = tuning.isApplied ? min(1, (went / came).squareRoot()) : 1
        upperEcho += 0.02 * (echoed - upperEcho)
    }

    private mutating func apply(
        _ error: borrowing RealVector, _ mic: borrowing RealVector, _ presence: Float,
        into output: inout MutableSpan<Float>
    ) {
        for index in 0..<Self.block { input[index] = mic[index] - presence * (mic[index] - error[index]) }
        filter.run(input, into: &filtered)
        for index in 0..<Self.block { output[index] = filtered[index] }
    }
}
