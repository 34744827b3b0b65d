internal import Synchronization
package import VoiceRealtime

/// Sound files in place of a sound card: the input becomes the microphone, and what is played becomes the output.
///
/// Frame `n` of the output sounded while frame `n` of the input was heard: the output begins with the silence of the
/// card's buffer, silence stands where the device stood still or the disk did not keep up, and input that is late is
/// skipped. In real time the disk is read ahead and written behind on a thread of its own; in virtual time ``step()``
/// does everything on the calling thread, as fast as it can. ``stop()`` writes everything that was rendered, and
/// completes the file.
public final class FileDevice: AudioDevice {
    /// As given.
    public let configuration: FileDeviceConfiguration
    private let slot = SessionSlot<FileSession>()
    private let lastFailure = Mutex<AudioFileError?>(nil)

    /// A device at rest. No file is opened yet.
    public init(_ configuration: FileDeviceConfiguration) { self.configuration = configuration }

    deinit { stop() }

    /// Opens the files and starts; see ``AudioDevice/start(capture:playback:events:)``. Replaces the output file. In
    /// virtual time events are called from within ``step()`` and ``stop()``.
    public func start(
        capture: consuming CapturePort, playback: consuming PlaybackPort,
        events: @escaping @Sendable (DeviceEvent) -> Void
    ) throws(DeviceError) -> DeviceFormats {
        try slot.begin()
        let started: FileSession
        let formats: DeviceFormats
        do throws(DeviceError) {
            started = try FileSession(configuration, events: events)
            formats = try started.start(capture: capture, playback: playback)
        } catch {
            slot.giveUp()
            throw error
        }
        lastFailure.withLock { $0 = nil }
        if !slot.fill(started) { stop(started) }
        return formats
    }

    /// Ends the device, writes what is left and closes the files. Whether that went well is in ``failure``.
    public func stop() {
        if let running = slot.take() { stop(running) }
    }

    private func stop(_ session: FileSession) {
        let failure = session.stop(limit: stopLimit)
        lastFailure.withLock { $0 = failure }
    }

    /// The first error of a file since the start; nil while all is well. Complete once ``stop()`` has returned.
    public var failure: AudioFileError? {
        slot.running?.failure ?? lastFailure.withLock { $0 }
    }

    /// Virtual time: runs one period. False where the device does not run, or where the input has been heard to its
    /// end.
    @discardableResult
    package func step() -> Bool { slot.running?.step() ?? false }

    /// When the next period is due; nil where the device does not run.
    package var nextWake: MonotonicTime? { slot.running?.nextWake }
}

/// A file device while it runs.
///
///     input ──► file-input ──► ring ──► card ──► ring ──► file-output ──► output
///
/// In real time each file has a thread of its own, since an input that is a pipe may bring nothing for long, and the
/// output must not wait for it.
private final class FileSession: Sendable {
    private let card: SimulatedDevice<FileAir>
    private let input: Mutex<FileInput>
    private let output: Mutex<FileOutput>
    private let progress: FileProgress
    private let configuration: FileDeviceConfiguration
    private let events: @Sendable (DeviceEvent) -> Void
    private let workers = Mutex(FileWorkers())
    private let firstFailure = Mutex<AudioFileError?>(nil)

    /// How far the disk is read ahead and may lag behind: over a second at 48 kHz, as much as a busy disk may take.
    private static let ringFrames = 65_536
    /// How often the workers look at the rings.
    private static let workerPeriod = Duration.milliseconds(20)
    /// How long the card waits for the input's beginning. A pipe may have none yet.
    private static let longestFill = Duration.seconds(1)

    init(_ configuration: FileDeviceConfiguration, events: @escaping @Sendable (DeviceEvent) -> Void)
        throws(DeviceError)
    {
        let progress = FileProgress(hasInput: configuration.input != nil)
        let frames = max(Self.ringFrames, 4 * configuration.card.periods * configuration.card.periodFrames)
        do {
            let inputRing = try FrameRing(minimumCapacity: frames)
            let outputRing = try FrameRing(minimumCapacity: frames)
            let gaps = ValueRing<OutputGap>(minimumCapacity: OutputGap.capacity)
            input = Mutex(try FileInput(configuration, ring: inputRing.producer, progress: progress))
            output = Mutex(
                try FileOutput(configuration, ring: outputRing.consumer, gaps: gaps.consumer, progress: progress))
            let air = FileAir(
                input: inputRing.consumer, output: outputRing.producer, gaps: gaps.producer, progress: progress)
            card = try SimulatedDevice(fileAir: air, configuration: configuration.card)
        } catch let error as AudioFileError {
            throw .file(error)
        } catch let error as DeviceError {
            throw error
        } catch {
            throw .io(message: "no memory for the rings of the files: \(error)")
        }
        self.progress = progress
        self.events = events
        self.configuration = configuration
    }

    private var isPaced: Bool { if case .realTime = configuration.card.pacing { true } else { false } }

    func start(capture: consuming CapturePort, playback: consuming PlaybackPort) throws(DeviceError) -> DeviceFormats {
        do {
            if isPaced { try startWorkers() } else { move() }
            return try card.start(capture: capture, playback: playback, events: events)
        } catch {
            _ = stopWorkers(limit: Self.longestFill)
            throw error
        }
    }

    func stop(limit: Duration) -> AudioFileError? {
        card.stop()
        guard isPaced else {
            write { $0.finish(events: $1) }
            return failure
        }
        let leftBehind = stopWorkers(limit: limit)
        return failure ?? leftBehind
    }

    /// Never waits for the files.
    var failure: AudioFileError? { firstFailure.withLock { $0 } }

    var nextWake: MonotonicTime? { card.nextWake }

    func step() -> Bool {
        guard !isPaced, let wake = card.nextWake else { return false }
        move()
        card.advance(to: wake)
        move()
        return !(progress.hasInput && progress.hasInputEnded)
    }

    private func move() {
        read(isStopped: { false })
        write { $0.drain(events: $1) }
    }

    private func read(isStopped: () -> Bool) {
        var happened: [DeviceEvent] = []
        let failure = input.withLock { input in
            input.fill(isStopped: isStopped) { happened.append($0) }
            return input.failure
        }
        tell(happened, failure)
    }

    private func write(_ body: (inout FileOutput, (DeviceEvent) -> Void) -> Void) {
        var happened: [DeviceEvent] = []
        let failure = output.withLock { output in
            body(&output) { happened.append($0) }
            return output.failure
        }
        tell(happened, failure)
    }

    /// Only once the locks are free again, as the handler may stop the device.
    private func tell(_ happened: [DeviceEvent], _ failure: AudioFileError?) {
        firstFailure.withLock { $0 = $0 ?? failure }
        for event in happened { events(event) }
    }

    private func startWorkers() throws(DeviceError) {
        do {
            try startOutput()
            if progress.hasInput { try startInput() }
        } catch {
            throw .io(message: "no thread for the files: \(error)")
        }
    }

    private func startOutput() throws(ThreadError) {
        let started = try DeviceThread(name: "file-output", priority: 0, stop: StopRequest()) { [self] stop in
            while !stop.isRaised {
                stop.sleep(Self.workerPeriod)
                write { $0.drain(events: $1) }
            }
            write { $0.finish(events: $1) }
        }
        workers.withLock { $0.output = started }
    }

    private func startInput() throws(ThreadError) {
        let filled = try WakeSignal()
        let started = try DeviceThread(name: "file-input", priority: 0, stop: StopRequest()) { [self] stop in
            read { stop.isRaised }
            filled.signal()
            while !stop.isRaised, !progress.isWholeInputThere {
                stop.sleep(Self.workerPeriod)
                read { stop.isRaised }
            }
        }
        workers.withLock { $0.input = started }
        filled.wait(timeout: Self.longestFill)
    }

    /// What is wrong with a file whose thread was left behind, since it does not answer. Such a thread ends by itself,
    /// should it ever go on.
    private func stopWorkers(limit: Duration) -> AudioFileError? {
        let running = workers.withLock { $0.take() }
        let limitNanoseconds = MonotonicTime.now().nanoseconds + limit.nanoseconds
        running.input?.requestStop()
        let isWritten = running.output?.stop(limit: limit) ?? true
        // The handler of an event, on that thread, may ask: it must find the file complete.
        if running.output?.isCurrent ?? false { write { $0.finish(events: $1) } }
        let left = max(limitNanoseconds - MonotonicTime.now().nanoseconds, 0)
        let isRead = running.input?.stop(limit: .nanoseconds(left)) ?? true
        if !isWritten, let path = configuration.output {
            return .unwritable(path: path, reason: "it took no more before the device stopped")
        }
        guard !isRead, let path = configuration.input else { return nil }
        return .unreadable(path: path, reason: "nothing more came before the device stopped")
    }
}

/// The threads of a file device.
private struct FileWorkers: Sendable {
    var input: DeviceThread?
    var output: DeviceThread?

    mutating func take() -> FileWorkers {
        defer { self = FileWorkers() }
        return self
    }
}
