internal import Synchronization
public import VoiceRealtime

/// Input and output that the client owns: it brings what it captured and fetches what it is to play, whenever its own
/// audio system asks.
///
/// For one capture thread and one playback thread of the client; both may be the same. The transfers are wait-free,
/// allocate nothing, and may be called from a real-time callback. They give 0 while the device does not run. All frames
/// are 48 kHz mono, full scale +-1.
///
/// **Times.** Each transfer takes the monotonic time of its first frame: at the ADC, or at the DAC. Without one the
/// time is that of the start plus the frames transferred in that direction so far, at 48 kHz; no clock is read. Then a
/// client whose two directions do not begin together, or which leaves frames out, must give times, or echo cancellation
/// has to find the offset by ear.
@safe
public final class ClientDevice: AudioDevice, @unchecked Sendable {
    private let captureGate = TransferGate.make()
    private let playbackGate = TransferGate.make()
    /// Touched only inside the gate of their direction.
    private let captureEnd: UnsafeMutablePointer<ClientCaptureEnd>
    private let playbackEnd: UnsafeMutablePointer<ClientPlaybackEnd>
    private let isRunning = Mutex(false)
    private let epoch: MonotonicTime?

    /// A device at rest. `epoch` is the time of frame 0 for transfers without a time; nil for the moment of the start.
    public init(epoch: MonotonicTime? = nil) {
        self.epoch = epoch
        unsafe captureEnd = .allocate(capacity: 1)
        unsafe captureEnd.initialize(to: ClientCaptureEnd())
        unsafe playbackEnd = .allocate(capacity: 1)
        unsafe playbackEnd.initialize(to: ClientPlaybackEnd())
    }

    deinit {
        captureGate.free()
        playbackGate.free()
        unsafe captureEnd.deinitialize(count: 1)
        unsafe captureEnd.deallocate()
        unsafe playbackEnd.deinitialize(count: 1)
        unsafe playbackEnd.deallocate()
    }

    /// Opens both directions for transfers. Never emits an event.
    public func start(
        capture: consuming CapturePort, playback: consuming PlaybackPort,
        events: @escaping @Sendable (DeviceEvent) -> Void
    ) throws(DeviceError) -> DeviceFormats {
        let mayStart = isRunning.withLock { running in
            defer { running = true }
            return !running
        }
        guard mayStart else { throw .alreadyRunning }
        let origin = epoch ?? .now()
        // Both gates are closed, so that nobody else looks at the ends.
        unsafe captureEnd.pointee = ClientCaptureEnd(port: capture, origin: origin)
        unsafe playbackEnd.pointee = ClientPlaybackEnd(port: playback, origin: origin)
        captureGate.open()
        playbackGate.open()
        let format = StreamFormat(
            sampleRate: 48_000, channels: 1, periodFrames: 0, bufferFrames: 0, sampleFormat: .float32)
        let negotiated = NegotiatedFormat(requested: format, active: format)
        return DeviceFormats(capture: negotiated, playback: negotiated)
    }

    /// Closes both directions, once a transfer that is under way has ended.
    public func stop() {
        isRunning.withLock { running in
            guard running else { return }
            captureGate.close()
            playbackGate.close()
            unsafe captureEnd.pointee = ClientCaptureEnd()
            unsafe playbackEnd.pointee = ClientPlaybackEnd()
            running = false
        }
    }

    /// Brings `frames` from the microphone, the first of which was at the ADC at `time`. Returns how many were taken;
    /// the rest is dropped and counted. Real-time safe.
    @_noLocks @_noAllocation
    @discardableResult
    public func sendAudioData(_ frames: Span<Float>, time: MonotonicTime? = nil) -> Int {
        guard captureGate.enter() else { return 0 }
        let taken = unsafe captureEnd.pointee.send(frames, time: time)
        captureGate.leave()
        return taken
    }

    /// The same from an array. Real-time safe, except that giving the array's last reference up frees it.
    @discardableResult
    public func sendAudioData(_ frames: [Float], time: MonotonicTime? = nil) -> Int {
        sendAudioData(frames.span, time: time)
    }

    /// Fills `output` with what is to be played, whose first frame will be at the DAC at `time`. Returns how many of
    /// the frames are sound; where there are too few the rest is a fade and silence, and counted. While the device does
    /// not run all of it is silence. Real-time safe.
    @_noLocks @_noAllocation
    @discardableResult
    public func pullPlayback(into output: inout MutableSpan<Float>, time: MonotonicTime? = nil) -> Int {
        guard playbackGate.enter() else {
            var index = 0
            while index < output.count {
                output[index] = 0
                index += 1
            }
            return 0
        }
        let given = unsafe playbackEnd.pointee.pull(into: &output, time: time)
        playbackGate.leave()
        return given
    }

    /// The same into an array. Real-time safe where nothing else refers to the array; otherwise it is copied.
    @discardableResult
    public func pullPlayback(into output: inout [Float], time: MonotonicTime? = nil) -> Int {
        var span = output.mutableSpan
        return pullPlayback(into: &span, time: time)
    }

    /// Brings what the loudspeaker plays, for a client that plays by another way than ``pullPlayback(into:time:)``; the
    /// first of `frames` is at the DAC at `time`. From the first call on it stands in place of what `pullPlayback`
    /// gives as the canceller's reference. To be called from the playback thread. Returns how many were taken.
    /// Real-time safe.
    @_noLocks @_noAllocation
    @discardableResult
    public func sendReferenceData(_ frames: Span<Float>, time: MonotonicTime? = nil) -> Int {
        guard playbackGate.enter() else { return 0 }
        let taken = unsafe playbackEnd.pointee.sendReference(frames, time: time)
        playbackGate.leave()
        return taken
    }

    /// The same from an array.
    @discardableResult
    public func sendReferenceData(_ frames: [Float], time: MonotonicTime? = nil) -> Int {
        sendReferenceData(frames.span, time: time)
    }
}

/// What the capture thread of the client works on.
private struct ClientCaptureEnd: ~Copyable {
    var port: CapturePort?
    var origin = MonotonicTime(nanoseconds: 0)
    var frames = 0

    init() {}

    init(port: consuming CapturePort, origin: MonotonicTime) {
        self.port = consume port
        self.origin = origin
    }

    @_noLocks @_noAllocation
    mutating func send(_ samples: Span<Float>, time: MonotonicTime?) -> Int {
        let counted = origin.advanced(byFrames: frames, sampleRate: 48_000)
        frames += samples.count
        return port?.deliver(samples, adcTime: time ?? counted) ?? 0
    }
}

/// What the playback thread of the client works on.
private struct ClientPlaybackEnd: ~Copyable {
    var port: PlaybackPort?
    var origin = MonotonicTime(nanoseconds: 0)
    var frames = 0
    var referenceFrames = 0

    init() {}

    init(port: consuming PlaybackPort, origin: MonotonicTime) {
        self.port = consume port
        self.origin = origin
    }

    @_noLocks @_noAllocation
    mutating func pull(into output: inout MutableSpan<Float>, time: MonotonicTime?) -> Int {
        let counted = origin.advanced(byFrames: frames, sampleRate: 48_000)
        frames += output.count
        return port?.render(into: &output, dacTime: time ?? counted) ?? 0
    }

    @_noLocks @_noAllocation
    mutating func sendReference(_ samples: Span<Float>, time: MonotonicTime?) -> Int {
        let counted = origin.advanced(byFrames: referenceFrames, sampleRate: 48_000)
        referenceFrames += samples.count
        return port?.deliverReference(samples, dacTime: time ?? counted) ?? 0
    }
}
