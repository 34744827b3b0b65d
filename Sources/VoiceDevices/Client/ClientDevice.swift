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
    /// For real-time code, which may not count references; to be used no longer than the device lives.
    package let transfers = ClientTransfers()
    private let isRunning = Mutex(false)
    private let epoch: MonotonicTime?

    /// A device at rest. `epoch` is the time of frame 0 for transfers without a time; nil for the moment of the start.
    public init(epoch: MonotonicTime? = nil) {
        self.epoch = epoch
    }

    private struct Ends: ~Copyable {
        let capture: ClientCaptureEnd
        let playback: ClientPlaybackEnd
    }

    deinit { transfers.free() }

    /// Opens both directions for transfers. Never emits an event.
    public func start(
        capture: consuming CapturePort, playback: consuming PlaybackPort,
        events: @escaping @Sendable (DeviceEvent) -> Void
    ) throws(DeviceError) -> DeviceFormats {
        let origin = epoch ?? .now()
        // A closure cannot consume what it captures, so the ends go in through optionals.
        var ends: Ends? = Ends(
            capture: ClientCaptureEnd(port: capture, origin: origin),
            playback: ClientPlaybackEnd(port: playback, origin: origin))
        // Opened under the lock, so that a stop meanwhile closes them behind that.
        let mayStart = isRunning.withLock { running in
            guard !running, let ends = ends.take() else { return false }
            running = true
            transfers.open(ends.capture, ends.playback)
            return true
        }
        guard mayStart else { throw .alreadyRunning }
        let format = StreamFormat(
            sampleRate: 48_000, channels: 1, periodFrames: 0, bufferFrames: 0, sampleFormat: .float32)
        let negotiated = NegotiatedFormat(requested: format, active: format)
        return DeviceFormats(capture: negotiated, playback: negotiated)
    }

    /// Closes both directions, once a transfer that is under way has ended.
    public func stop() {
        isRunning.withLock { running in
            guard running else { return }
            transfers.close()
            running = false
        }
    }

    /// Brings `frames` from the microphone, the first of which was at the ADC at `time`. Returns how many were taken;
    /// the rest is dropped and counted. Real-time safe.
    @_noLocks @_noAllocation
    @discardableResult
    public func sendAudioData(_ frames: Span<Float>, time: MonotonicTime? = nil) -> Int {
        guard let samples = unsafe frames.start else { return 0 }
        return transfers.send(unsafe MutableSpan(_unsafeStart: samples, count: frames.count), time: time)
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
        transfers.pull(into: &output, time: time)
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
        guard let samples = unsafe frames.start else { return 0 }
        return transfers.sendReference(unsafe MutableSpan(_unsafeStart: samples, count: frames.count), time: time)
    }

    /// The same from an array.
    @discardableResult
    public func sendReferenceData(_ frames: [Float], time: MonotonicTime? = nil) -> Int {
        sendReferenceData(frames.span, time: time)
    }
}

extension Span where Element == Float {
    /// For a `MutableSpan` of the same samples that nobody writes through.
    fileprivate var start: UnsafeMutablePointer<Float>? {
        @_noLocks @_noAllocation get {
            unsafe UnsafeMutablePointer(mutating: withUnsafeBufferPointer { $0.baseAddress })
        }
    }
}
