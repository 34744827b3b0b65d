internal import VoiceRealtime

/// The insides of a duplex device with one clock: a queue of N periods towards the loudspeaker, and air between the two
/// ends.
///
///     render at t ──> [ N-1 periods wait ] ──> air during [t+(N-1)P, t+NP) ──> deliver at t+NP, ADC time t+(N-1)P
///
/// At the wake-up at t the frames of [t-P, t) are delivered, and the frames rendered reach the air (N-1)P later; so the
/// way through is N periods, to the sample. The queue is full of silence at the start, as a card that is pre-rolled.
struct DuplexClockwork<Air: AcousticAir & ~Copyable>: ~Copyable {
    var air: Air
    private(set) var isRunning = false
    private let configuration: SimulatedDeviceConfiguration
    private var ports: DevicePorts?
    private var queue: [Float]
    private var head = 0
    private var microphone: [Float]
    private var origin = MonotonicTime(nanoseconds: 0)
    private(set) var startTime: MonotonicTime?
    private var periodsDone = 0

    /// From where a clock's age does not matter any more (``DirectionCounts/clockAgeSeconds``).
    private let settledSeconds = 80.0

    init(air: consuming Air, configuration: SimulatedDeviceConfiguration) {
        self.air = air
        self.configuration = configuration
        queue = Array(repeating: 0, count: configuration.periods * configuration.periodFrames)
        microphone = Array(repeating: 0, count: configuration.periodFrames)
    }

    mutating func start(_ ports: consuming DevicePorts, at time: MonotonicTime) {
        ports.capture.recordDrift(ppm: configuration.driftPPM)
        ports.playback.recordDrift(ppm: configuration.driftPPM)
        // The rate is not learnt here: it is what was asked for, as well known as after any time.
        ports.capture.recordClock(uncertaintyPPM: 0, ageSeconds: settledSeconds, jitterNanoseconds: 0)
        ports.playback.recordClock(uncertaintyPPM: 0, ageSeconds: settledSeconds, jitterNanoseconds: 0)
        ports.playback.recordFillTarget(frames: configuration.periods * configuration.periodFrames)
        self.ports = consume ports
        isRunning = true
        startTime = time
        prime(at: time)
    }

    /// Lets the ports go. With `draining`, what was rendered but not heard yet goes through the air first.
    mutating func stop(draining: Bool) {
        guard isRunning else { return }
        if draining {
            for _ in 0..<configuration.periods {
                sound()
                advanceHead()
            }
        }
        isRunning = false
        ports = nil
    }

    /// When the next period is due.
    var nextWake: MonotonicTime { time(ofPeriod: periodsDone + 1) }

    /// Runs every period that is due at `now`, with the exact times that it has on the device's clock. Returns how
    /// many.
    mutating func advance(to now: MonotonicTime) -> Int {
        var count = 0
        while isRunning, nextWake <= now {
            runPeriod(lateness: 0)
            count += 1
        }
        return count
    }

    /// Runs every period that is due, as a card would: true where that came too late and the device had to start anew.
    mutating func catchUp(to now: MonotonicTime) -> Bool {
        while isRunning, nextWake <= now {
            let lateness = now.nanoseconds - nextWake.nanoseconds
            // What was queued has run out once the N-1 periods behind the one now due have been played.
            let slack = time(ofPeriod: periodsDone + configuration.periods).nanoseconds - nextWake.nanoseconds
            if lateness > slack {
                let (before, silentSince) = (periodsDone, time(ofPeriod: periodsDone + configuration.periods))
                soundThrough(now)
                // The queue begins anew as long as it was: the microphone's gap and the loudspeaker's are alike.
                ports?.recordXrun(
                    lateness: lateness, gapFrames: (periodsDone - before) * configuration.periodFrames,
                    dacTime: silentSince)
                prime(at: time(ofPeriod: periodsDone))
                return true
            }
            runPeriod(lateness: lateness)
        }
        return false
    }

    /// The room goes on while the device has run dry: what was queued sounds, then silence, in whole periods up to
    /// `now`, and nobody hears the microphone. So the air's frames stay in step with the clock.
    private mutating func soundThrough(_ now: MonotonicTime) {
        let passed = periods(until: now)
        for _ in 0..<min(configuration.periods, passed - periodsDone) {
            sound()
            advanceHead()
            periodsDone += 1
        }
        // Not period for period: a machine that slept stood still for hours.
        let silent = passed - periodsDone
        guard silent > 0 else { return }
        air.pass(frames: silent * configuration.periodFrames, period: configuration.periodFrames)
        periodsDone = passed
    }

    /// How many whole periods have passed by `now` since the last start.
    private func periods(until now: MonotonicTime) -> Int {
        let seconds = Double(now.nanoseconds - origin.nanoseconds) / 1e9
        let rate = 48_000 * (1 + configuration.driftPPM * 1e-6)
        var count = Int(seconds * rate) / configuration.periodFrames
        // What the rounding of a long time has made one too many or too few.
        while time(ofPeriod: count) > now { count -= 1 }
        while time(ofPeriod: count + 1) <= now { count += 1 }
        return count
    }

    private mutating func prime(at time: MonotonicTime) {
        origin = time
        periodsDone = 0
        head = 0
        for index in queue.indices { queue[index] = 0 }
    }

    private mutating func runPeriod(lateness: Int64) {
        sound()
        let adcTime = time(ofPeriod: periodsDone)
        periodsDone += 1
        let dacTime = time(ofPeriod: periodsDone + configuration.periods - 1)
        let period = head..<(head + configuration.periodFrames)
        advanceHead()
        ports?.exchange(
            microphone: microphone, playing: &queue, period: period, adcTime: adcTime, dacTime: dacTime,
            lateness: lateness)
    }

    /// The period at the head of the queue sounds.
    private mutating func sound() {
        let period = head..<(head + configuration.periodFrames)
        Self.pass(queue, period, through: &air, into: &microphone)
    }

    private static func pass(
        _ queue: [Float], _ period: Range<Int>, through air: inout Air, into microphone: inout [Float]
    ) {
        var heard = microphone.mutableSpan
        air.process(speaker: queue.span.extracting(period), into: &heard)
    }

    private mutating func advanceHead() {
        head += configuration.periodFrames
        if head == queue.count { head = 0 }
    }

    /// When `period` periods have passed on the device's clock, rounded to the nanosecond without a growing error.
    private func time(ofPeriod period: Int) -> MonotonicTime {
        let frames = period * configuration.periodFrames
        guard configuration.driftPPM != 0 else { return origin.advanced(byFrames: frames, sampleRate: 48_000) }
        let nanoseconds = Double(frames) * 1e9 / (48_000 * (1 + configuration.driftPPM * 1e-6))
        return MonotonicTime(nanoseconds: origin.nanoseconds + Int64(nanoseconds.rounded()))
    }
}

/// The two ports of a duplex device, moved about as one.
struct DevicePorts: ~Copyable {
    var capture: CapturePort
    var playback: PlaybackPort

    init(capture: consuming CapturePort, playback: consuming PlaybackPort) {
        self.capture = capture
        self.playback = playback
    }

    mutating func exchange(
        microphone: borrowing [Float], playing: inout [Float], period: Range<Int>, adcTime: MonotonicTime,
        dacTime: MonotonicTime, lateness: Int64
    ) {
        capture.recordWakeUp(latenessNanoseconds: lateness)
        playback.recordWakeUp(latenessNanoseconds: lateness)
        capture.deliver(microphone.span, adcTime: adcTime)
        var queue = playing.mutableSpan
        var room = queue._mutatingExtracting(period)
        playback.render(into: &room, dacTime: dacTime)
    }

    /// Counts an xrun and the gap that it has left; the loudspeaker's begins at `dacTime`.
    mutating func recordXrun(lateness: Int64, gapFrames: Int, dacTime: MonotonicTime) {
        capture.recordWakeUp(latenessNanoseconds: lateness)
        playback.recordWakeUp(latenessNanoseconds: lateness)
        capture.recordXrun()
        playback.recordXrun()
        capture.recordRestart()
        playback.recordRestart()
        capture.recordGap(frames: gapFrames)
        playback.recordGap(frames: gapFrames, dacTime: dacTime)
    }
}
