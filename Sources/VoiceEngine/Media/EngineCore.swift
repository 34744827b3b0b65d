internal import Synchronization
internal import VoiceCoding
package import VoiceDevices
internal import VoiceProcessing
package import VoiceRealtime

/// The engine without its threads: rings, pipeline and a running device.
///
/// Whoever drives it, the media thread or a simulation, calls ``run(now:)``, from one thread at a time; and so does the
/// route thread, or a simulation, with ``attendToDevices(now:report:)``. Commands may be sent from any thread.
/// Everything else is for the control side, one caller at a time.
package final class EngineCore: @unchecked Sendable {
    /// Wakes whoever calls ``run(now:)``.
    package let mediaWake: WakeSignal
    /// The network's side of the packets.
    package let link: PacketLink
    /// What the device granted at the start.
    package let formats: DeviceFormats
    /// Writes what is needed to run the media work again; nil where nobody asked for it.
    package let recorder: FlightRecorder?
    /// What the device counts.
    package let counters: DeviceCounters
    /// The final output gain.
    package let playback: PlaybackControl

    let routes: DeviceRoutes
    let routeRequest: Mutex<RouteRequest>
    private var pipeline: MediaPipeline
    private let commands: Mutex<ValueProducer<MediaCommand>>
    private var events: ValueConsumer<MediaEvent>
    private var farEndNews: ValueConsumer<FarEndNews>
    let farEnds = FarEndRegistry()
    /// The conversation that is under way, kept by whoever began it.
    let conversation = Mutex<ConversationReference>(ConversationReference())
    private let waitingOrders = Mutex(WaitingOrders())
    private var reader: TripleBufferReader<MediaStatistics>

    /// Starts the configured device and makes the pipeline for what it granted. Allocates, and blocks while the device
    /// starts.
    ///
    /// - Parameters:
    ///   - environment: of the routes; nil for this machine.
    ///   - keepsDeadlines: whether whoever drives the core calls ``run(now:)`` when that has said, and not only when a
    ///     device has moved. If not,
    ///     what is played is pulled a device period earlier.
    ///   - eventWake: signalled when ``nextEvent()`` has something; must outlive the core.
    ///   - deviceEvents: called on a thread of the device's.
    package init(
        _ configuration: EngineConfiguration, environment: RouteEnvironment? = nil, keepsDeadlines: Bool = false,
        eventWake: WakeHandle?,
        deviceEvents: @escaping @Sendable (DeviceEvent) -> Void
    ) throws(EngineError) {
        try configuration.validate()
        let rings = try MediaRings()
        let mediaWake = try WakeSignal.made()
        let networkWake = try WakeSignal.made()

        counters = DeviceCounters()
        playback = PlaybackControl()
        let margin = configuration.playoutMargin
        routes = try DeviceRoutes(
            configuration,
            ports: Self.makePorts(rings.devices, wake: mediaWake, control: playback, counters: counters),
            environment: environment ?? .machine(priority: configuration.mediaPriority), events: deviceEvents,
            accepts: { formats throws(DeviceError) in try Self.checkPeriods(of: formats, playoutMargin: margin) })
        do throws(DeviceError) { formats = try routes.start() } catch {
            throw .device(error)
        }
        let routeRequest = RouteRequest(configuration, route: routes.route)
        var configuration = configuration
        configuration.processing = routeRequest.processing
        do {
            let devicePeriod = formats.playback?.active.periodAt48Kilohertz ?? Uplink.longestBlock
            let recorder = try Self.makeRecorder(
                configuration, devicePeriod: devicePeriod, keepsDeadlines: keepsDeadlines)
            self.recorder = recorder
            var recorderEnd: RunRecorder?
            if let recorder { recorderEnd = recorder.takeEnd() }
            pipeline = try MediaPipeline(
                rings.pipeline, configuration, devicePeriod: devicePeriod, keepsDeadlines: keepsDeadlines,
                networkWake: networkWake.handle, eventWake: eventWake, counters: counters, watch: recorder?.stages,
                recorder: recorderEnd.take())
        } catch {
            routes.stop()
            throw error
        }
        self.routeRequest = Mutex(routeRequest)
        self.mediaWake = mediaWake
        link = PacketLink(received: rings.control.received, sending: rings.control.sending, wake: networkWake)
        commands = Mutex(rings.control.commands)
        events = rings.control.events
        farEndNews = rings.control.farEndNews
        reader = rings.control.statistics
    }

    private static func makePorts(
        _ ends: consuming MediaRings.DeviceEnds, wake: WakeSignal, control: PlaybackControl, counters: DeviceCounters
    ) -> RoutePorts {
        let capture = CapturePort(ring: ends.capture, wake: wake, counters: counters)
        var playback = PlaybackPort(
            playout: ends.playout, reference: ends.reference, wake: wake, control: control, counters: counters)
        playback.rendered = .some(ends.rendered)
        return RoutePorts(capture: PortDock(capture), playback: PortDock(playback))
    }

    private static func makeRecorder(
        _ configuration: EngineConfiguration, devicePeriod: Int, keepsDeadlines: Bool
    ) throws(EngineError) -> FlightRecorder? {
        guard let recording = configuration.recording else { return nil }
        let settings = RecordedSettings(
            configuration, includesSound: recording.includesSound, devicePeriod: devicePeriod,
            keepsDeadlines: keepsDeadlines)
        return try FlightRecorder(recording, settings: settings)
    }

    deinit { stopDevice() }

    /// Does all the media work that is due, in simulated time. Returns when it must be called next if no device moves
    /// before; nil where nothing becomes due by time alone. `ownsThread` says that the calling thread does nothing
    /// else, so that its CPU time need not be read for each run.
    @discardableResult
    package func run(now: MonotonicTime, ownsThread: Bool = false) -> MonotonicTime? {
        pipeline.run(RunClock(start: now, isLive: false, ownsThread: ownsThread))
    }

    /// Does all the media work that is due; the media thread's. Returns as ``run(now:)``.
    func run() -> MonotonicTime? { pipeline.run(RunClock(start: .now(), isLive: true, ownsThread: true)) }

    /// Stops the devices and waits for their threads. Safe to call again; nobody may be in
    /// ``attendToDevices(now:report:)``.
    package func stopDevice() {
        routes.stop()
        farEnds.end()
    }

    /// Tells the media thread; throws where it has not taken commands for a while. From any thread.
    package func send(_ command: MediaCommand) throws(EngineError) {
        let isTaken = commands.withLock { $0.push(command) }
        guard isTaken else { throw .overloaded }
        mediaWake.signal()
    }

    /// Tells the media thread what a conversation orders, behind all that waits; nil: what waits. Where there is no room
    /// it waits on, and is sent by ``nextEvent()`` at the latest: whoever has ordered it may be gone by then. From any
    /// thread.
    ///
    /// - Returns: whether nothing waits any more.
    @discardableResult
    func order(_ command: MediaCommand?) -> Bool {
        waitingOrders.withLock { waiting in
            if let command { waiting.append(command) }
            while let next = waiting.first {
                do throws(EngineError) { try send(next) } catch { return false }
                waiting.removeFirst()
            }
            return true
        }
    }

    /// The oldest event of the media thread that has not been looked at. What there is of far ends in this process goes
    /// to them.
    package func nextEvent() -> MediaEvent? {
        order(nil)
        while let news = farEndNews.pop() { farEnds.handle(news) }
        let event = events.pop()
        if let event { conversation.withLock { $0.core }?.take(event) }
        return event
    }

    /// What the media thread last published; it does so every 50 ms while sound runs.
    package func statistics() -> MediaStatistics { reader.latest() }

    /// Frames of 48 kHz: the playout ring is filled up to a period and the margin, to within a block.
    static func longestPlaybackPeriod(with margin: PlayoutMargin) -> Int {
        MediaRings.playoutFrames - margin.maximum.frames - Uplink.longestBlock
    }

    /// The rings were there before the devices, whose periods are known only when they run.
    private static func checkPeriods(of formats: DeviceFormats, playoutMargin: PlayoutMargin) throws(DeviceError) {
        let captured = formats.capture?.active.periodAt48Kilohertz ?? 0
        let played = formats.playback?.active.periodAt48Kilohertz ?? 0
        guard captured <= MediaRings.captureFrames / 2 else {
            throw .invalidConfiguration(
                message: "a capture period of \(captured) frames; use \(MediaRings.captureFrames / 2) or less")
        }
        let longest = longestPlaybackPeriod(with: playoutMargin)
        guard played <= longest else {
            throw .invalidConfiguration(message: "a playback period of \(played) frames; use \(longest) or less")
        }
    }
}

extension FrameRing {
    /// A ring of at least `frames` frames of 48 kHz.
    static func made(frames: Int) throws(EngineError) -> FrameRing {
        do throws(RingError) { return try FrameRing(minimumCapacity: frames) } catch {
            throw .resourcesExhausted("no memory for a ring of \(frames) frames: \(error)")
        }
    }
}

extension WakeSignal {
    /// A signal at rest.
    static func made() throws(EngineError) -> WakeSignal {
        do throws(ThreadError) { return try WakeSignal() } catch {
            throw .resourcesExhausted("no file descriptor for waking a thread: \(error)")
        }
    }
}

extension StreamFormat {
    /// How long a period is, in frames of 48 kHz, rounded up.
    var periodAt48Kilohertz: Int { (periodFrames * 48_000 + sampleRate - 1) / sampleRate }
}
