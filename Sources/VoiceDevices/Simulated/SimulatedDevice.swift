internal import Synchronization
package import VoiceRealtime

/// A duplex sound card that exists in software: a period, a buffer of N periods, one clock, and air between loudspeaker
/// and microphone.
///
/// Either paced by the monotonic clock, or stepped by hand in virtual time, in which case two runs are the same to the
/// bit. The way from a frame's rendering to its delivery from the microphone is exactly N periods. A test device: it
/// takes an uncontended lock per period.
package final class SimulatedDevice<Air: AcousticAir & ~Copyable>: AudioDevice {
    /// As given.
    package let configuration: SimulatedDeviceConfiguration
    private let core: SimulatedCore<Air>
    private let thread = Mutex<DeviceThread?>(nil)

    /// A device at rest with `air` between its two ends. The air keeps its state over restarts.
    package init(air: consuming Air, configuration: SimulatedDeviceConfiguration) throws(DeviceError) {
        try configuration.validate()
        self.configuration = configuration
        core = SimulatedCore(DuplexClockwork(air: air, configuration: configuration), drainsOnStop: false)
    }

    init(fileAir air: consuming Air, configuration: SimulatedDeviceConfiguration) throws(DeviceError) {
        try configuration.validate()
        self.configuration = configuration
        core = SimulatedCore(DuplexClockwork(air: air, configuration: configuration), drainsOnStop: true)
    }

    deinit { stop() }

    /// Starts the device; see ``AudioDevice/start(capture:playback:events:)``. Never refused but where it runs already
    /// or no thread is to be had.
    package func start(
        capture: consuming CapturePort, playback: consuming PlaybackPort,
        events: @escaping @Sendable (DeviceEvent) -> Void
    ) throws(DeviceError) -> DeviceFormats {
        let ports = DevicePorts(capture: capture, playback: playback)
        switch configuration.pacing {
        case .virtual(let start):
            guard core.start(ports, at: start) else { throw .alreadyRunning }
        case .realTime(let priority):
            guard core.start(ports, at: .now()) else { throw .alreadyRunning }
            try startThread(priority: priority, events: events)
        }
        let format = StreamFormat(
            sampleRate: 48_000, channels: 1, periodFrames: configuration.periodFrames,
            bufferFrames: configuration.periods * configuration.periodFrames, sampleFormat: .float32)
        let negotiated = NegotiatedFormat(requested: format, active: format)
        return DeviceFormats(capture: negotiated, playback: negotiated)
    }

    /// Ends the device. Blocks for at most one period.
    package func stop() {
        let running = thread.withLock { thread in
            let running = thread
            thread = nil
            return running
        }
        // A thread that hangs in the air keeps the core as well.
        if running?.stop(limit: stopLimit) ?? true { core.stop() }
    }

    /// Virtual time: runs every period that is due at `time`, on the calling thread, with its exact times. Returns how
    /// many.
    @discardableResult
    package func advance(to time: MonotonicTime) -> Int { core.advance(to: time) }

    /// When the first frame of the air sounded, at the last start; nil before any. Frame n of the air sounds n frames
    /// of the device's clock later.
    package var startTime: MonotonicTime? { core.startTime }

    /// When the next period is due; nil where the device does not run.
    package var nextWake: MonotonicTime? { core.nextWake }

    /// Lets `body` look at the air, or change it, between two periods.
    package func withAir<Result>(_ body: (inout Air) -> Result) -> Result { core.withAir(body) }

    private func startThread(priority: Int, events: @escaping @Sendable (DeviceEvent) -> Void) throws(DeviceError) {
        let core = core
        do {
            let stop = try StopRequest()
            let started = try DeviceThread(name: "simulated-card", priority: priority, stop: stop) { stop in
                core.run(until: stop, events: events)
            }
            thread.withLock { $0 = started }
            if case .ordinaryAfterRefusal(let errno) = started.scheduling {
                events(.schedulingRefused(.capture, errno: errno))
                events(.schedulingRefused(.playback, errno: errno))
            }
        } catch {
            core.stop()
            throw .io(message: "no thread for the device: \(error)")
        }
    }
}

/// A device that hears nothing and plays to nobody, in real or virtual time.
package typealias NullDevice = SimulatedDevice<SilentAir>

/// What the device and its thread share.
final class SimulatedCore<Air: AcousticAir & ~Copyable>: Sendable {
    private let clockwork: Mutex<DuplexClockwork<Air>>
    private let drainsOnStop: Bool

    init(_ clockwork: consuming sending DuplexClockwork<Air>, drainsOnStop: Bool) {
        self.clockwork = Mutex(clockwork)
        self.drainsOnStop = drainsOnStop
    }

    func start(_ ports: consuming DevicePorts, at time: MonotonicTime) -> Bool {
        // A closure cannot consume what it captures, so the ports go in through an optional.
        var waiting: DevicePorts? = ports
        return clockwork.withLock { clockwork in
            guard !clockwork.isRunning, let ports = waiting.take() else { return false }
            clockwork.start(ports, at: time)
            return true
        }
    }

    func stop() { clockwork.withLock { $0.stop(draining: drainsOnStop) } }

    func advance(to time: MonotonicTime) -> Int { clockwork.withLock { $0.advance(to: time) } }

    var startTime: MonotonicTime? { clockwork.withLock { $0.startTime } }

    var nextWake: MonotonicTime? { clockwork.withLock { $0.isRunning ? $0.nextWake : nil } }

    func withAir<Result>(_ body: (inout Air) -> Result) -> Result {
        clockwork.withLock { body(&$0.air) }
    }

    func run(until stop: StopRequest, events: @Sendable (DeviceEvent) -> Void) {
        while !stop.isRaised, let wake = nextWake {
            stop.sleep(.nanoseconds(wake.nanoseconds - MonotonicTime.now().nanoseconds))
            if stop.isRaised { return }
            let restarted = clockwork.withLock { $0.catchUp(to: .now()) }
            if restarted {
                for direction in [DeviceDirection.capture, .playback] {
                    events(.xrun(direction))
                    events(.recovered(direction))
                }
            }
        }
    }
}
