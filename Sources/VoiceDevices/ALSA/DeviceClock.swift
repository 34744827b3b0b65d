internal import VoiceRealtime
internal import VoiceSignal

/// Follows a device's own clock: from the jittery times at which periods were seen to a smooth map of frames to times,
/// and to the rate's deviation in ppm.
///
/// Two delay-locked loops run on the same observations. A quick one gives times: it forgives the monotonic clock being
/// slewed. A slow one gives the drift, which needs a minute of averaging to be worth a few ppm under a millisecond of
/// jitter. Both begin as the least-squares line does, with a bandwidth that falls with the time observed, and stop
/// falling at their floors; when the two come apart by more than jitter explains, the rate has changed, and the slow
/// one starts over from the quick one. Value type; every method is real-time safe.
struct DeviceClock: BitwiseCopyable, Sendable {
    /// Nominal frames per second.
    let sampleRate: Int
    /// The widest error that still counts as jitter; a larger one is a jump, and times start anew from it while the
    /// rate is kept.
    static let jumpNanoseconds: Double = 20_000_000

    /// Below this the quick loop does not go, in Hz: 3 s of memory, 6 % of the jitter left at 10 ms periods.
    private static var timeFloorHertz: Double { @_noLocks @_noAllocation get { 0.05 } }
    /// Below this the slow loop does not go, in Hz: half a minute of memory.
    private static var rateFloorHertz: Double { @_noLocks @_noAllocation get { 0.005 } }
    /// For how long after a jump the slow loop runs free, to learn the new offset without taking it for a change of
    /// rate.
    private static var settlingSeconds: Double { @_noLocks @_noAllocation get { 2 } }

    /// How far the slow loop's time may be from the quick one's, as a part of the mean jitter: seven times what white
    /// jitter leaves between them, and a floor in nanoseconds for devices without any.
    private static var disagreement: Double { @_noLocks @_noAllocation get { 0.5 } }
    private static var disagreementNanoseconds: Double { @_noLocks @_noAllocation get { 50_000 } }

    private let nominal: Double
    private var time: Loop
    private var rate: Loop
    private var origin: Int64 = 0
    private var frame = 0
    private var isRunning = false
    private var settling = Settling()
    /// How often times had to start anew because of a jump, or because the frame counter ran backwards.
    private(set) var jumps = 0

    /// A loop at rest for a device of `sampleRate` Hz.
    @_noLocks @_noAllocation
    init(sampleRate: Int) {
        precondition(sampleRate > 0)
        self.sampleRate = sampleRate
        nominal = 1e9 / Double(sampleRate)
        time = Loop(period: nominal)
        rate = Loop(period: nominal)
    }

    /// Takes note that the device's frame counter stood at `frame` at `time`, and returns the smoothed time of that
    /// frame. A counter that has not moved changes nothing.
    @_noLocks @_noAllocation
    mutating func update(frame: Int, time seen: MonotonicTime) -> MonotonicTime {
        guard isRunning else {
            isRunning = true
            anchor(frame: frame, at: seen)
            return seen
        }
        let advanced = Double(frame &- self.frame)
        if advanced == 0 { return time(ofFrame: frame) }
        let observed = Double(seen.nanoseconds &- origin)
        let error = observed - time.loop.time(after: advanced)
        if advanced < 0 || error.magnitude > Self.jumpNanoseconds {
            jumps += 1
            anchor(frame: frame, at: seen)
            settling = Settling(seconds: Self.settlingSeconds)
            return seen
        }
        self.frame = frame
        let elapsed = advanced * nominal * 1e-9
        time.follow(observed, advanced: advanced, elapsed: elapsed, floor: Self.timeFloorHertz)
        if settling.seconds > 0 {
            rate.loop.time = rate.loop.time(after: advanced)
            settling.note(observed - rate.loop.time, elapsed: elapsed)
            if settling.seconds <= 0 { rate.loop.time += settling.meanError }
        } else {
            rate.follow(observed, advanced: advanced, elapsed: elapsed, floor: Self.rateFloorHertz)
            let apart = (time.loop.time - rate.loop.time).magnitude
            if apart > Self.disagreement * time.meanError + Self.disagreementNanoseconds { rate = time }
        }
        return time(ofFrame: frame)
    }

    /// Counts the device's frames anew: `frame` passes at `time`. The rate stays as it was learnt, since the crystal is
    /// the same. For a stream that is started anew, whose first frame's time is known; not counted in ``jumps``.
    @_noLocks @_noAllocation
    mutating func restart(frame: Int, time seen: MonotonicTime) {
        anchor(frame: frame, at: seen)
        settling = Settling(seconds: isRunning ? Self.settlingSeconds : 0)
        isRunning = true
    }

    /// The smoothed time of `frame`, which may lie a little ahead of or behind the last update. Meaningless before the
    /// first.
    @_noLocks @_noAllocation
    func time(ofFrame frame: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: origin &+ Int64(time.loop.time(after: Double(frame &- self.frame))))
    }

    /// How much faster than nominal the device runs, in parts per million of the monotonic clock. 0 at first; under 2
    /// ms of jitter at 10 ms periods its standard deviation is 1 ppm after one minute and below that later.
    var driftPPM: Double {
        @_noLocks @_noAllocation get { (nominal / rate.loop.period - 1) * 1e6 }
    }

    /// One standard deviation of ``driftPPM``, as the jitter and the length of the observation let expect; infinite at
    /// first.
    ///
    /// That of a least-squares line's slope through as many observations, sqrt(12 / n) / T times their jitter: what the
    /// slow loop comes to until its bandwidth stops falling, and stays at then. Real-time safe, though the compiler
    /// cannot prove the square root.
    var driftUncertaintyPPM: Double { rate.slopeError * 1e6 }

    /// For how long the rate has been learnt, in seconds, up to where its bandwidth stops falling (78 s); starts over
    /// when the rate is seen to have changed.
    var ageSeconds: Double { @_noLocks @_noAllocation get { rate.seconds } }

    /// The mean distance between the times at which periods were seen and the smoothed ones, in nanoseconds.
    var jitterNanoseconds: Double { @_noLocks @_noAllocation get { time.meanError } }

    @_noLocks @_noAllocation
    private mutating func anchor(frame: Int, at seen: MonotonicTime) {
        self.frame = frame
        origin = seen.nanoseconds
        time = Loop(period: rate.loop.period)
        rate.loop.time = 0
    }
}

extension DeviceClock {
    /// One delay-locked loop, whose bandwidth falls as a least-squares line's would.
    fileprivate struct Loop: BitwiseCopyable, Sendable {
        /// In nanoseconds since the clock's origin.
        var loop: DelayLockedLoop
        /// The mean magnitude of the observations' errors over the last seconds: the jitter.
        private(set) var meanError: Double = 0
        /// For how long it has observed, as far as the floor of its bandwidth lets that matter.
        private(set) var seconds: Double = 0
        /// The mean time between observations, in seconds.
        private var interval: Double = 0

        /// Where the bandwidth starts, in Hz: a quarter of a second of memory.
        private static var openingHertz: Double { @_noLocks @_noAllocation get { 0.5 } }
        /// Bandwidth times the time observed with which the loop's gains come closest to those of a least-squares line
        /// over all of it: sqrt(6) / (2 pi), from the line's rate gain of 6 / k^2 after k observations.
        private static var leastSquares: Double { @_noLocks @_noAllocation get { 0.39 } }
        /// The mean magnitude of white jitter is this part of its standard deviation: sqrt(2 / pi).
        private static var meanOfDeviation: Double { @_noLocks @_noAllocation get { 0.797_884_560_802_865 } }

        @_noLocks @_noAllocation
        init(period: Double) { loop = DelayLockedLoop(time: 0, period: period) }

        /// The standard deviation of the rate, as a part of it.
        var slopeError: Double {
            guard seconds > 0 else { return .infinity }
            let deviation = meanError * 1e-9 / Self.meanOfDeviation
            return deviation * (12 * interval / seconds).squareRoot() / seconds
        }

        @_noLocks @_noAllocation
        mutating func follow(_ observed: Double, advanced: Double, elapsed: Double, floor: Double) {
            seconds = min(seconds + elapsed, Self.leastSquares / floor)
            let bandwidth = Self.leastSquares / (seconds + Self.leastSquares / Self.openingHertz)
            let omega = DelayLockedLoop.weight(bandwidth: bandwidth, seconds: elapsed)
            let error = loop.follow(observed, after: advanced, weight: omega)
            meanError += omega * (error.magnitude - meanError)
            interval = interval == 0 ? elapsed : interval + omega * (elapsed - interval)
        }
    }

    /// What the slow loop learns of its new offset after a jump.
    fileprivate struct Settling: BitwiseCopyable, Sendable {
        /// How much longer it lasts.
        private(set) var seconds: Double = 0
        private var errors: Double = 0
        private var count: Double = 0

        @_noLocks @_noAllocation
        init(seconds: Double = 0) { self.seconds = seconds }

        var meanError: Double { @_noLocks @_noAllocation get { errors / count } }

        @_noLocks @_noAllocation
        mutating func note(_ error: Double, elapsed: Double) {
            seconds -= elapsed
            errors += error
            count += 1
        }
    }
}
