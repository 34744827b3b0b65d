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
    private let session = Mutex<FileSession?>(nil)
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
        guard session.withLock({ $0 == nil }) else { throw .alreadyRunning }
        let started = try FileSession(configuration, events: events)
        let formats = try started.start(capture: capture, playback: playback)
        let isFirst = session.withLock { session in
            guard session == nil else { return false }
            session = started
            return true
        }
        guard isFirst else {
            _ = started.stop(limit: stopLimit)
            throw .alreadyRunning
        }
        lastFailure.withLock { $0 = nil }
        return formats
    }

    /// Ends the device, writes what is left and closes the files. Whether that went well is in ``failure``.
    public func stop() {
        let running = session.withLock { session in
            let running = session
            session = nil
            return running
        }
        guard let running else { return }
        let failure = running.stop(limit: stopLimit)
        lastFailure.withLock { $0 = failure }
    }

    /// The first error of a file since the start; nil while all is well. Complete once ``stop()`` has returned.
    public var failure: AudioFileError? {
        session.withLock { $0?.failure } ?? lastFailure.withLock { $0 }
    }

    /// Virtual time: runs one period. False where the device does not run, or where the input has been heard to its
    /// end.
    @discardableResult
    package func step() -> Bool { session.withLock { $0 }?.step() ?? false }

    /// When the next period is due; nil where the device does not run.
    package var nextWake: MonotonicTime? { session.withLock { $0 }?.nextWake }
}

/// A file device while it runs.
private final class FileSession: Sendable {
    private let card: SimulatedDevice<FileAir>
    private let transfer: Mutex<FileTransfer>
    private let progress: FileProgress
    private let events: @Sendable (DeviceEvent) -> Void
    private let isPaced: Bool
    private let input: String?
    private let worker = Mutex<DeviceThread?>(nil)
    private let lastFailure = Mutex<AudioFileError?>(nil)

    /// How far the disk is read ahead and may lag behind: over a second at 48 kHz, as much as a busy disk may take.
    private static let ringFrames = 65_536
    /// How often the worker looks at the rings.
    private static let workerPeriod = Duration.milliseconds(20)
    /// How long the card waits for the input's beginning. A pipe may have none yet.
    private static let longestFill = Duration.seconds(1)

    init(_ configuration: FileDeviceConfiguration, events: @escaping @Sendable (DeviceEvent) -> Void)
        throws(DeviceError)
    {
        let progress = FileProgress(hasInput: configuration.input != nil)
        let frames = max(Self.ringFrames, 4 * configuration.card.periods * configuration.card.periodFrames)
        do {
            let input = try FrameRing(minimumCapacity: frames)
            let output = try FrameRing(minimumCapacity: frames)
            let gaps = ValueRing<OutputGap>(minimumCapacity: OutputGap.capacity)
            transfer = Mutex(
                try FileTransfer(
                    configuration, input: input.producer, output: output.consumer, gaps: gaps.consumer,
                    progress: progress))
            let air = FileAir(
                input: input.consumer, output: output.producer, gaps: gaps.producer, progress: progress)
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
        input = configuration.input
        if case .realTime = configuration.card.pacing { isPaced = true } else { isPaced = false }
    }

    func start(capture: consuming CapturePort, playback: consuming PlaybackPort) throws(DeviceError) -> DeviceFormats {
        if isPaced { try startWorker() } else { move() }
        do {
            return try card.start(capture: capture, playback: playback, events: events)
        } catch {
            stopWorker(limit: .seconds(1))
            throw error
        }
    }

    func stop(limit: Duration) -> AudioFileError? {
        card.stop()
        // One that is left behind holds the lock, and finishes by itself if it ever goes on.
        guard stopWorker(limit: limit) else {
            return failure ?? input.map { .unreadable(path: $0, reason: "nothing more came before the device stopped") }
        }
        work { $0.finish(events: $1) }
        return failure
    }

    /// Never waits for the files.
    var failure: AudioFileError? { lastFailure.withLock { $0 } }

    var nextWake: MonotonicTime? { card.nextWake }

    func step() -> Bool {
        guard !isPaced, let wake = card.nextWake else { return false }
        move()
        card.advance(to: wake)
        move()
        return !(progress.hasInput && progress.hasInputEnded)
    }

    private func move() { work { $0.run(events: $1) } }

    /// Tells of what happened only once the lock is free again, as the handler may stop the device.
    private func work(_ body: (inout FileTransfer, (DeviceEvent) -> Void) -> Void) {
        var happened: [DeviceEvent] = []
        let failure = transfer.withLock { transfer in
            body(&transfer) { happened.append($0) }
            return transfer.failure
        }
        lastFailure.withLock { $0 = failure }
        for event in happened { events(event) }
    }

    private func startWorker() throws(DeviceError) {
        do {
            let (stop, filled) = (try StopRequest(), try WakeSignal())
            let started = try DeviceThread(name: "file-device", priority: 0, stop: stop) { [self] stop in
                move()
                filled.signal()
                while !stop.isRaised {
                    stop.sleep(Self.workerPeriod)
                    move()
                }
                work { $0.finish(events: $1) }
            }
            worker.withLock { $0 = started }
            filled.wait(timeout: Self.longestFill)
        } catch {
            throw .io(message: "no thread for the files: \(error)")
        }
    }

    /// False where it was left behind, since a file does not answer.
    @discardableResult
    private func stopWorker(limit: Duration) -> Bool {
        let running = worker.withLock { worker in
            let running = worker
            worker = nil
            return running
        }
        return running?.stop(limit: limit) ?? true
    }
}
