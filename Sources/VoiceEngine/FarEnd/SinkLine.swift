internal import VoiceDevices
internal import VoiceRealtime
internal import VoiceSignal

/// The memory of a sink, which both the client and the media thread use: the line lives until both have let go of it.
final class SinkLine: @unchecked Sendable {
    let cells: FarEndCells
    let waiters = Waiters()
    let gate: TransferGate
    /// Touched by the media thread alone.
    let tap: OwnedMemory<SoundTap>
    /// Touched inside the gate alone.
    let sink: OwnedMemory<SoundSink>
    let rate: SoundRate

    init(rate: SoundRate) throws(EngineError) {
        let ring = try FrameRing.made(frames: SoundTap.capacity)
        let marks = ValueRing<SoundMark>(minimumCapacity: SoundTap.markCapacity)
        let made: SoundSink
        do throws(RateConverterError) {
            made = try SoundSink(ring: ring.consumer, marks: marks.consumer, rate: rate)
        } catch {
            throw .resourcesExhausted("\(error)")
        }
        cells = FarEndCells.make()
        gate = TransferGate.make()
        self.rate = rate
        sink = OwnedMemory(made)
        tap = OwnedMemory(SoundTap(ring: ring.producer, marks: marks.producer, cells: cells))
        gate.open()
    }

    deinit {
        gate.free()
        cells.free()
    }

    var droppedFrames: Int {
        guard gate.enter() else { return 0 }
        defer { gate.leave() }
        return unsafe sink.pointer.pointee.droppedFrames
    }

    /// For tasks: takes what is there; nothing where another takes at this moment.
    func take(into output: inout MutableSpan<Float>, continuing: Bool) -> SoundTake {
        guard gate.enter() else { return SoundTake() }
        defer { gate.leave() }
        return unsafe sink.pointer.pointee.take(into: &output, continuing: continuing)
    }
}

/// The pointers of a sink's line, for real-time code, which may not count references; to be used no longer than the
/// sink lives.
@safe
struct SinkAccess: BitwiseCopyable, @unchecked Sendable {
    private let gate: TransferGate
    private let sink: UnsafeMutablePointer<SoundSink>

    init(_ line: SinkLine) {
        gate = line.gate
        unsafe sink = line.sink.pointer
    }

    /// Takes what is there; nothing where another call is under way.
    @_noLocks @_noAllocation
    func take(into output: inout MutableSpan<Float>) -> SoundTake {
        guard gate.enter() else { return SoundTake() }
        let take = unsafe sink.pointee.take(into: &output)
        gate.leave()
        return take
    }
}
