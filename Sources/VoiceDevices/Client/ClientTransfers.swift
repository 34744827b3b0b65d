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

/// When a client's frames pass a converter: as it tells, or else counted on from when the device was started.
struct CountedClock: BitwiseCopyable {
    private let origin: MonotonicTime
    private var frames = 0

    init(origin: MonotonicTime) { self.origin = origin }

    /// The time of the first of the next `count` frames.
    @_noLocks @_noAllocation
    mutating func time(of count: Int, told: MonotonicTime?) -> MonotonicTime {
        let counted = origin.advanced(byFrames: frames, sampleRate: 48_000)
        frames += count
        return told ?? counted
    }
}

/// What the capture thread of the client works on.
struct ClientCaptureEnd: ~Copyable {
    var port: CapturePort?
    private var clock: CountedClock

    init() { self.init(port: nil, origin: MonotonicTime(nanoseconds: 0)) }

    init(port: consuming CapturePort?, origin: MonotonicTime) {
        self.port = consume port
        clock = CountedClock(origin: origin)
    }

    @_noLocks @_noAllocation
    mutating func send(_ samples: borrowing MutableSpan<Float>, time: MonotonicTime?) -> Int {
        let time = clock.time(of: samples.count, told: time)
        return port?.deliver(samples, adcTime: time) ?? 0
    }
}

/// What the playback thread of the client works on.
struct ClientPlaybackEnd: ~Copyable {
    var port: PlaybackPort?
    private var clock: CountedClock
    private var referenceClock: CountedClock

    init() { self.init(port: nil, origin: MonotonicTime(nanoseconds: 0)) }

    init(port: consuming PlaybackPort?, origin: MonotonicTime) {
        self.port = consume port
        clock = CountedClock(origin: origin)
        referenceClock = clock
    }

    @_noLocks @_noAllocation
    mutating func pull(into output: inout MutableSpan<Float>, time: MonotonicTime?) -> Int {
        let time = clock.time(of: output.count, told: time)
        return port?.render(into: &output, dacTime: time) ?? 0
    }

    @_noLocks @_noAllocation
    mutating func sendReference(_ samples: borrowing MutableSpan<Float>, time: MonotonicTime?) -> Int {
        let time = referenceClock.time(of: samples.count, told: time)
        return port?.deliverReference(samples, dacTime: time) ?? 0
    }
}
