package import VoiceRealtime

/// The pointers of a ``ClientDevice``: its transfers, for code that holds no references.
@safe
package struct ClientTransfers: BitwiseCopyable, @unchecked Sendable {
    private let captureGate = TransferGate.make()
    private let playbackGate = TransferGate.make()
    /// Touched only inside the gate of their direction, or while that is closed.
    private let captureEnd: UnsafeMutablePointer<ClientCaptureEnd>
    private let playbackEnd: UnsafeMutablePointer<ClientPlaybackEnd>

    init() {
        unsafe captureEnd = .allocate(capacity: 1)
        unsafe captureEnd.initialize(to: ClientCaptureEnd())
        unsafe playbackEnd = .allocate(capacity: 1)
        unsafe playbackEnd.initialize(to: ClientPlaybackEnd())
    }

    func free() {
        captureGate.free()
        playbackGate.free()
        unsafe captureEnd.deinitialize(count: 1)
        unsafe captureEnd.deallocate()
        unsafe playbackEnd.deinitialize(count: 1)
        unsafe playbackEnd.deallocate()
    }

    /// Lets transfers through to these ends. Both gates must be closed.
    func open(_ capture: consuming ClientCaptureEnd, _ playback: consuming ClientPlaybackEnd) {
        unsafe captureEnd.pointee = capture
        unsafe playbackEnd.pointee = playback
        captureGate.open()
        playbackGate.open()
    }

    /// Closes both gates, once a transfer that is under way has ended, and gives the ports back.
    func close() {
        captureGate.close()
        playbackGate.close()
        unsafe captureEnd.pointee = ClientCaptureEnd()
        unsafe playbackEnd.pointee = ClientPlaybackEnd()
    }

    /// As ``ClientDevice/sendAudioData(_:time:)``. A `MutableSpan`, though nothing is written: Swift 6.3's proof takes
    /// the end of a `Span` that its caller made for one of memory.
    @_noLocks @_noAllocation
    package func send(_ frames: borrowing MutableSpan<Float>, time: MonotonicTime?) -> Int {
        guard captureGate.enter() else { return 0 }
        let taken = unsafe captureEnd.pointee.send(frames, time: time)
        captureGate.leave()
        return taken
    }

    /// As ``ClientDevice/pullPlayback(into:time:)``.
    @_noLocks @_noAllocation
    package func pull(into output: inout MutableSpan<Float>, time: MonotonicTime?) -> Int {
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

    /// As ``ClientDevice/sendReferenceData(_:time:)``.
    @_noLocks @_noAllocation
    package func sendReference(_ frames: borrowing MutableSpan<Float>, time: MonotonicTime?) -> Int {
        guard playbackGate.enter() else { return 0 }
        let taken = unsafe playbackEnd.pointee.sendReference(frames, time: time)
        playbackGate.leave()
        return taken
    }
}

/// What the capture thread of the client works on.
struct ClientCaptureEnd: ~Copyable {
    var port: CapturePort?
    var origin = MonotonicTime(nanoseconds: 0)
    var frames = 0

    init() {}

    init(port: consuming CapturePort, origin: MonotonicTime) {
        self.port = consume port
        self.origin = origin
    }

    @_noLocks @_noAllocation
    mutating func send(_ samples: borrowing MutableSpan<Float>, time: MonotonicTime?) -> Int {
        let counted = origin.advanced(byFrames: frames, sampleRate: 48_000)
        frames += samples.count
        return port?.deliver(samples, adcTime: time ?? counted) ?? 0
    }
}

/// What the playback thread of the client works on.
struct ClientPlaybackEnd: ~Copyable {
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
    mutating func sendReference(_ samples: borrowing MutableSpan<Float>, time: MonotonicTime?) -> Int {
        let counted = origin.advanced(byFrames: referenceFrames, sampleRate: 48_000)
        referenceFrames += samples.count
        return port?.deliverReference(samples, dacTime: time ?? counted) ?? 0
    }
}
