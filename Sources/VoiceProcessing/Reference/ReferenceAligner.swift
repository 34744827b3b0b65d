import VoiceSignal

/// Gives each microphone block the reference block that was in the air when it was recorded.
///
/// It knows when each reference frame left the DAC and when each microphone frame entered the ADC, both on one
/// monotonic clock, and smooths both with a delay-locked loop. So the canceller sees an echo path that begins at a
/// small constant delay, whatever the buffers in between do: a playback that pauses, an underrun, a device that
/// re-buffers by 120 ms.
///
///     played(frames, DAC time) ──> history, FrameTimeline ──┐
///                                                           ├──> block, remaining delay
///     recorded(ADC time) ────────> FrameTimeline ───────────┘
///
/// The two clocks never agree. The reading position is a fraction of a frame and moves by their ratio, so the reference
/// is resampled continuously: there is no slip and no step while the clocks drift, and blocks join without a seam. What
/// is left of the timing error is taken out by bending the step by at most ``Configuration/steepestCorrection``; only
/// an error beyond ``Configuration/slipThreshold``, which no drift explains, moves the position at once.
///
/// Pure: reads no clock. One owner; nothing is allocated after `init`.
public struct ReferenceAligner: ~Copyable {
    /// What is chosen at the start.
    package struct Configuration: BitwiseCopyable, Equatable, Sendable {
        /// How far the block runs ahead of what was in the air, so that it is causal whatever the timing error: more
        /// than `slipThreshold`. Seconds. Where the playback is handed over less far ahead than that, the lead shrinks
        /// by itself.
        package var lead: Double
        /// Timing error at which the reading position is moved at once, seconds.
        package var slipThreshold: Double
        /// Blocks in a row for which it must be exceeded.
        package var slipPatience: Int
        /// How much faster or slower than the clocks' ratio the reference is read to take out a timing error; 0.001 is
        /// 1000 ppm, less than two cents of pitch.
        package var steepestCorrection: Double
        /// Reference that is kept, seconds: longer than the playback and capture buffers together.
        package var history: Double

        /// A configuration.
        package init(
            lead: Double = 0.004, slipThreshold: Double = 0.003, slipPatience: Int = 5,
            steepestCorrection: Double = 0.001, history: Double = 1.5
        ) {
            self.lead = lead
            self.slipThreshold = slipThreshold
            self.slipPatience = slipPatience
            self.steepestCorrection = steepestCorrection
            self.history = history
        }
    }

    /// What came with a block.
    package struct Alignment: BitwiseCopyable, Equatable, Sendable {
        /// Frames from the entry of a reference frame to the earliest arrival of its echo: the lead less the timing
        /// error. The sound's way through the air comes on top.
        package var delay: Int
        /// Frames of the block that were not known or not played, and are silence.
        package var missing: Int
        /// Whether this block does not continue the one before it.
        package var discontinuity: Bool
    }

    /// How well it works.
    public struct Statistics: BitwiseCopyable, Equatable, Sendable {
        /// Times that the position was moved at once for a timing error that no drift explains.
        public var slips = 0
        /// Jumps in the times of the reference and of the microphone.
        public var jumps = 0
        /// Frames that were asked for and not known or not played.
        public var missingFrames: Int64 = 0
        /// Frames of the last block's timing error: positive when the block is older than it should be.
        public var timingError: Double = 0
        /// Seconds by which the blocks run ahead at present: ``Configuration/lead``, or less where playback is handed
        /// over later.
        public var lead = 0.0
        /// How much faster the playback's clock runs than the microphone's, ppm; nil before it is worth reading.
        public var driftPPM: Double?
        /// RMS jitter of the time stamps, nanoseconds: the larger of both; nil before any.
        public var jitterNanoseconds: Double?
        /// 0...1: both clocks have settled, their jitter is small against the slip threshold, the reference is there.
        public var confidence: Float = 0
    }

    /// Seconds of time stamps after which the drift is worth reading, and a clock has settled.
    private static let driftAge = 10.0
    private static let settledAge = 1.0
    /// Blocks over which the share of missing reference is averaged, for the confidence.
    private static let presenceWeight: Float = 0.02
    /// Share of the timing error that is taken out in each block: a time constant of 0.2 s, quicker than the clocks'
    /// own loops move.
    private static let followWeight = 0.05
    /// Most that two crystals differ: twice the ±300 ppm of the worst that were measured.
    private static let largestDrift = 0.0006

    /// Blocks in a row whose end was not handed over yet, until the lead shrinks; and the lead that is not worth
    /// halving, seconds.
    private static let shortPatience = 2
    private static let leastLead = 0.000_25
    /// What should be left between a block's end and the end of what was handed over, when the reading position is
    /// found anew: a period, by whose phase it varies. And the lead that is not given up for it. Seconds.
    private static let reserve = 0.003
    private static let worthwhileLead = 0.001

    /// Frames that interpolation reads beyond a block, and those that a step off 1 adds to one.
    private static let margin = 2 * SincInterpolator.reach + 8
    private static func longestBlock(_ rate: Int) -> Int { rate / 50 }

    private let rate: Int
    private let configuration: Configuration
    private var history: ReferenceHistory
    private var playback: FrameTimeline
    private var recording: FrameTimeline
    private var recorded: Int64 = 0
    private let interpolator = SincInterpolator()
    /// The stretch of history that a block is interpolated from.
    private var stretch: RealVector
    /// Where in the history the next block begins; nil before the first.
    private var position: Double?
    private var generation = 0
    private var impatience = 0
    private var shortBlocks = 0
    private var lead: Double
    private var presence: Float = 0

    /// What happened so far.
    package private(set) var statistics = Statistics()

    /// An aligner for one pair of streams.
    package init(sampleRate: Int, configuration: Configuration = Configuration()) {
        rate = sampleRate
        self.configuration = configuration
        lead = configuration.lead
        statistics.lead = lead
        history = ReferenceHistory(capacity: Int(Double(sampleRate) * configuration.history))
        playback = FrameTimeline(sampleRate: sampleRate)
        recording = FrameTimeline(sampleRate: sampleRate)
        stretch = RealVector(count: Self.longestBlock(sampleRate) + Self.margin)
    }

    /// Takes reference frames in the order of playing, any number of them.
    ///
    /// - Parameters:
    ///   - frames: what was handed to the device, after the last gain.
    ///   - nanoseconds: when the first of them leaves or left the DAC, monotonic clock.
    package mutating func played(_ frames: Span<Float>, at nanoseconds: Int64) {
        guard !frames.isEmpty else { return }
        playback.update(frame: history.end, time: nanoseconds)
        history.append(frames)
    }

    /// Another device plays from the next frames on: their times have nothing to do with those before.
    package mutating func playbackChanged() {
        playback.breakOff()
        lead = configuration.lead
        statistics.lead = lead
    }

    /// Another device records from the next block on.
    package mutating func recordingChanged() {
        recording.breakOff()
        // The next block is looked for where its time says, and not where the last one ended.
        position = nil
    }

    /// Finds the reference for a microphone block; call it for each block, in order.
    ///
    /// - Parameters:
    ///   - nanoseconds: when the block's first frame entered the ADC, monotonic clock.
    ///   - reference: as many frames as the microphone block has, 20 ms at most.
    package mutating func recorded(
        at nanoseconds: Int64, reference: inout MutableSpan<Float>
    ) -> Alignment {
        let count = reference.count
        recording.update(frame: recorded, time: nanoseconds)
        defer { recorded += Int64(count) }
        precondition(count <= Self.longestBlock(rate), "a block is 20 ms at most")
        let now = recording.clock?.time(of: recorded) ?? Double(nanoseconds)
        guard let place = playback.place(at: now + lead * 1e9) else {
            let delay = Int(lead * Double(rate))
            return finish(&reference, missing: Self.silence(&reference), delay: delay, discontinuity: false)
        }
        let moved = locate(place)
        let error = place.frame - (position ?? 0)
        statistics.timingError = error
        let step = stepFollowing(error, count: count)
        let shrunk = shrinkLead(place, step: step, count: count, isAnew: moved)
        let first = position ?? 0
        let missing = Self.read(
            from: first, step: step, within: place.first..<place.end, of: history, through: &stretch, interpolator,
            into: &reference)
        position = first + step * Double(count)
        let delay = max(0, Int((lead * Double(rate) - error).rounded()))
        return finish(&reference, missing: missing, delay: delay, discontinuity: moved || shrunk)
    }

    /// Runs less far ahead where the end of the block has not been handed over yet: a reference that ends in silence
    /// every now and then is worse than one that moves once. What lacks more than the lead is no such thing, but a
    /// playback that has stopped.
    ///
    /// Where the position was found anew it costs nothing, so then some is kept in reserve.
    ///
    /// - Returns: whether the reading position was moved.
    private mutating func shrinkLead(
        _ place: FrameTimeline.Place, step: Double, count: Int, isAnew: Bool
    ) -> Bool {
        let last = (position ?? 0) + step * Double(count) + Double(SincInterpolator.reach)
        let lacking = (last - Double(history.end)) / Double(rate)
        guard place.end == .max, lacking < lead else {
            shortBlocks = 0
            return false
        }
        if isAnew { return setLead(max(min(lead, Self.worthwhileLead), lead - max(0, lacking + Self.reserve))) }
        shortBlocks = lacking > 0 ? shortBlocks + 1 : 0
        guard shortBlocks >= Self.shortPatience else { return false }
        let next = min(lead / 2, lead - lacking)
        return setLead(next < Self.leastLead ? 0 : next)
    }

    private mutating func setLead(_ next: Double) -> Bool {
        guard next < lead else { return false }
        position = position.map { $0 - (lead - next) * Double(rate) }
        lead = next
        statistics.lead = next
        shortBlocks = 0
        return true
    }

    /// Keeps the reading position, or moves it to where the clocks say.
    ///
    /// - Returns: whether it was moved.
    private mutating func locate(_ place: FrameTimeline.Place) -> Bool {
        guard let present = position, generation == place.generation else {
            let continues = position.map { abs($0 - place.frame) < 0.5 } ?? false
            position = place.frame
            generation = place.generation
            impatience = 0
            return !continues
        }
        let error = abs(place.frame - present) / Double(rate)
        impatience = error > configuration.slipThreshold ? impatience + 1 : 0
        // An error of ten thresholds is no drift: a jump of the recording's clock, say. It is not waited out.
        guard impatience >= configuration.slipPatience || error > 10 * configuration.slipThreshold else { return false }
        impatience = 0
        position = place.frame
        statistics.slips += 1
        return true
    }

    /// Reference frames per microphone frame: the clocks' ratio, bent so that the timing error goes away.
    private mutating func stepFollowing(_ error: Double, count: Int) -> Double {
        var ratio = 1.0
        if let playing = playback.clock, let listening = recording.clock {
            let drift = listening.period / playing.period - 1
            ratio += max(-Self.largestDrift, min(Self.largestDrift, drift))
        }
        let bend = Self.followWeight * error / Double(count)
        return ratio + max(-configuration.steepestCorrection, min(configuration.steepestCorrection, bend))
    }

    /// Interpolates a block out of the history.
    ///
    /// - Returns: frames that were not known or not played.
    private static func read(
        from first: Double, step: Double, within played: Range<Int64>, of history: borrowing ReferenceHistory,
        through stretch: inout RealVector, _ interpolator: borrowing SincInterpolator,
        into reference: inout MutableSpan<Float>
    ) -> Int {
        let count = reference.count
        let whole = Int64(first.rounded(.down))
        let begin = whole - Int64(SincInterpolator.reach)
        var all = stretch.mutableSpan
        var source = all._mutatingExtracting(0..<count + margin)
        _ = history.read(from: begin, within: played, into: &source)
        unsafe source.withUnsafeMutableBufferPointer { from in
            unsafe reference.withUnsafeMutableBufferPointer { to in
                guard let from = from.baseAddress, let to = to.baseAddress else { return }
                unsafe interpolator.read(from, from: first - Double(begin), step: step, into: to, count: count)
            }
        }
        let known = max(history.start, played.lowerBound)..<max(history.start, min(history.end, played.upperBound))
        return count - known.clamped(to: whole..<whole + Int64(count)).count
    }

    private mutating func finish(
        _ reference: inout MutableSpan<Float>, missing: Int, delay: Int, discontinuity: Bool
    ) -> Alignment {
        statistics.missingFrames += Int64(missing)
        statistics.jumps = playback.jumps + recording.jumps
        let share = reference.isEmpty ? 0 : 1 - Float(missing) / Float(reference.count)
        presence += Self.presenceWeight * (share - presence)
        if let playing = playback.clock, let listening = recording.clock {
            judge(playing, listening)
        }
        return Alignment(delay: delay, missing: missing, discontinuity: discontinuity)
    }

    private mutating func judge(_ playing: FrameClock, _ listening: FrameClock) {
        let age = min(playing.age, listening.age)
        let jitter = max(playing.jitter, listening.jitter)
        statistics.driftPPM = age >= Self.driftAge ? (listening.period / playing.period - 1) * 1e6 : statistics.driftPPM
        statistics.jitterNanoseconds = jitter
        let settled = Float(min(1, age / Self.settledAge))
        // The loop leaves about a twentieth of the jitter in the times.
        let steady = Float(max(0, 1 - jitter / 20 / (configuration.slipThreshold * 1e9)))
        statistics.confidence = settled * steady * presence
    }

    private static func silence(_ reference: inout MutableSpan<Float>) -> Int {
        for index in reference.indices { reference[index] = 0 }
        return reference.count
    }
}
