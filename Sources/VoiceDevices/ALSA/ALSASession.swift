internal import Synchronization
internal import VoiceRealtime

/// A sound card while it runs, from opening to closing.
final class ALSASession: Sendable {
    let formats: DeviceFormats
    private let events: DeviceEventThread
    private let threads: [(direction: DeviceDirection, thread: DeviceThread)]

    /// Opens, primes and starts the card. Throws what stands in the way, with nothing left open.
    init(
        _ configuration: ALSADeviceConfiguration, capture: consuming CapturePort, playback: consuming PlaybackPort,
        events handler: @escaping @Sendable (DeviceEvent) -> Void, limit: Duration
    ) throws(DeviceError) {
        let output = try ALSADirection.playback(configuration, port: playback)
        let input = try ALSADirection.capture(configuration, port: capture)
        let directions = [output, input].compactMap { $0 }
        formats = DeviceFormats(capture: input?.format, playback: output?.format)
        for direction in directions { try direction.prime() }

        let start: ALSAStart
        var threads: [(direction: DeviceDirection, thread: DeviceThread)] = []
        do {
            start = try ALSAStart(directions.map(\.stream))
            events = try DeviceEventThread(handler: handler)
            for direction in directions {
                let thread = try direction.startThread(
                    start: start, leads: threads.isEmpty, report: events.reporter(direction.stream.direction))
                threads.append((direction.stream.direction, thread))
            }
        } catch {
            for entry in threads { _ = entry.thread.stop(limit: limit) }
            throw .io(message: "no thread for the sound card: \(error)")
        }
        self.threads = threads
        for entry in threads {
            if case .ordinaryAfterRefusal(let errno) = entry.thread.scheduling {
                events.reporter(entry.direction).post(.schedulingRefused, entry.direction, errno: errno)
            }
        }
        if let failure = start.release(limit: limit) {
            stop(limit: limit)
            let name = failure.direction == .capture ? configuration.captureName : configuration.playbackName
            throw DeviceError(alsa: failure.error, name: name ?? "", step: "starting")
        }
    }

    /// Ends the threads and closes the card, within about `limit`.
    func stop(limit: Duration) {
        // Both are asked before either is waited for.
        for entry in threads { entry.thread.requestStop() }
        for entry in threads where !entry.thread.stop(limit: limit / 2) {
            events.reporter(entry.direction).post(.stuck, entry.direction)
        }
        events.stop()
    }
}

/// One direction of a card, opened and not yet running.
struct ALSADirection {
    let stream: ALSAStream
    let format: NegotiatedFormat
    let name: String
    private let priority: Int
    private let stop: StopRequest
    /// Runs the loop, whose stream has just been started.
    private let run: @Sendable (StopRequest, DeviceEventReporter) -> Void
    /// Makes the loop's stream ready to be started. 0 or a negative errno.
    private let primeLoop: @Sendable () -> Int32

    private init<Loop: ALSALoop & ~Copyable>(
        _ loop: consuming Loop, stream: ALSAStream, format: NegotiatedFormat, name: String, priority: Int,
        stop: StopRequest, holdsClockless: Bool
    ) {
        self.stream = stream
        self.format = format
        self.name = name
        self.priority = priority
        self.stop = stop
        let state = ThreadState(loop)
        run = { stop, report in
            state.withState { loop in
                var runner = ALSARunner(stop: stop, report: report, holdsClockless: holdsClockless)
                runner.run(&loop)
            }
        }
        primeLoop = { state.withState { $0.prime() } }
    }

    static func playback(
        _ configuration: ALSADeviceConfiguration, port: consuming PlaybackPort
    ) throws(DeviceError) -> ALSADirection? {
        guard let name = configuration.playbackName else { return nil }
        let most = max(configuration.playbackPeriods, configuration.maximumPlaybackPeriods)
        let request = request(configuration, periods: most)
        let stop = try stopRequest()
        let stream = try openStream(name, .playback, request, mix: .average, stop)
        let held = stream.format.bufferFrames / stream.format.periodFrames
        let loop = try ALSAPlaybackLoop(
            stream: stream, port: port, periods: min(configuration.playbackPeriods, held)...min(most, held),
            quiet: configuration.latencyTuningQuiet)
        let delay = loop.conversionDelay
        let format = NegotiatedFormat(requested: request, active: stream.format, conversionDelay: delay)
        return ALSADirection(
            loop, stream: stream, format: format, name: name, priority: configuration.playbackPriority, stop: stop,
            holdsClockless: configuration.holdsToMonotonicClock)
    }

    static func capture(
        _ configuration: ALSADeviceConfiguration, port: consuming CapturePort
    ) throws(DeviceError) -> ALSADirection? {
        guard let name = configuration.captureName else { return nil }
        let mix = configuration.captureChannels
        let request = request(
            configuration, periods: configuration.capturePeriods, channels: mix.wantedChannels)
        let stop = try stopRequest()
        let stream = try openStream(name, .capture, request, mix: mix, stop)
        let loop = try ALSACaptureLoop(stream: stream, port: port, backlogLimit: configuration.captureBacklogLimit)
        let delay = loop.conversionDelay
        let format = NegotiatedFormat(requested: request, active: stream.format, conversionDelay: delay)
        return ALSADirection(
            loop, stream: stream, format: format, name: name, priority: configuration.capturePriority, stop: stop,
            holdsClockless: configuration.holdsToMonotonicClock)
    }

    private static func openStream(
        _ name: String, _ direction: DeviceDirection, _ request: StreamFormat, mix: ChannelMix, _ stop: StopRequest
    ) throws(DeviceError) -> ALSAStream {
        try ALSAOpening.run(name, direction, discard: { (stream: ALSAStream) in stream.close() }) {
            () throws(DeviceError) in
            try ALSAStream(name: name, direction: direction, request: request, mix: mix, wake: stop.wake)
        }
    }

    func prime() throws(DeviceError) {
        let error = primeLoop()
        if error < 0 { throw DeviceError(alsa: error, name: name, step: "preparing") }
    }

    func startThread(start: ALSAStart, leads: Bool, report: DeviceEventReporter) throws(ThreadError) -> DeviceThread {
        let run = run
        return try DeviceThread(name: "alsa-\(stream.direction)", priority: priority, stop: stop) { stop in
            guard start.enter(leads: leads, stop: stop) else { return }
            run(stop, report)
        }
    }

    static func request(_ configuration: ALSADeviceConfiguration, periods: Int, channels: Int = 1) -> StreamFormat {
        StreamFormat(
            sampleRate: 48_000, channels: channels, periodFrames: configuration.periodFrames,
            bufferFrames: periods * configuration.periodFrames, sampleFormat: .float32)
    }

    private static func stopRequest() throws(DeviceError) -> StopRequest {
        do { return try StopRequest() } catch { throw .io(message: "no file descriptor left: \(error)") }
    }
}
