internal import VoiceDevices
internal import VoiceRealtime

/// Hears sound as it passes, on the media thread itself; see ``VoiceEngine/listen(at:with:)``. For what may come some
/// milliseconds later, a ``SoundPointTap`` is the better choice: nothing waits for its reader.
///
///     final class Peak: SoundListener {
///         let peak = Atomic<Float>(0)
///
///         @_noLocks @_noAllocation
///         func hear(_ block: Span<Float>, at nanoseconds: Int64) {
///             for index in block.indices { peak.store(max(…), ordering: .relaxed) }
///         }
///     }
public protocol SoundListener: AnyObject, Sendable {
    /// Hears the next block.
    ///
    /// Called on the engine's media thread, which is real-time, one call at a time: all that an engine sends and plays
    /// waits for its return. It must not wait, lock, allocate, make system calls, write to a log or a file, call the
    /// engine, suspend or trap, and takes a small part of the block's length at most: 0.1 ms is much. Written with
    /// `@_noLocks @_noAllocation` the compiler proves most of that. What takes longer belongs to another thread, behind
    /// an atomic or a wait-free ring.
    ///
    /// - Parameters:
    ///   - block: mono, 48 kHz, full scale ±1, up to 10 ms; valid during the call only.
    ///   - nanoseconds: when the first of its frames was at the ADC, or, of a participant and of
    ///     ``SoundPoint/mix``, will be at the DAC, as predicted; on the monotonic clock, since its epoch.
    func hear(_ block: Span<Float>, at nanoseconds: Int64)
}

/// A ``SoundListener`` that hears a point of the sound's way, or a participant, as long as this lives; the engine's stop
/// ends it too.
public final class SoundListening: Sendable {
    /// How many can be open at once in an engine.
    public static let maximumListeners = 4

    private let line: ListenerLine

    init(_ line: ListenerLine) { self.line = line }

    deinit { close() }

    /// Ends it; may be called again. Once this has returned the listener is not called any more: it waits for a call
    /// that is under way. Any thread; on a thread of the engine's, as ``SoundListener/hear(_:at:)`` runs on, it does not
    /// wait, and the call under way is the last.
    public func close() {
        line.cells.close()
        if !RealtimeThread.isCurrent { line.gate.close() }
    }
}

/// The memory of a listener, which both the client and the media thread use: the line lives until both have let go of
/// it.
final class ListenerLine: @unchecked Sendable {
    let cells = FarEndCells.make()
    let gate = TransferGate.make()
    /// Read by the media thread alone.
    let listener: OwnedMemory<any SoundListener>

    init(_ listener: any SoundListener) {
        self.listener = OwnedMemory(listener)
        gate.open()
    }

    deinit {
        gate.free()
        cells.free()
    }
}

/// What the media thread keeps of a listener. Whoever opened it keeps the memory until the media thread says that it has
/// let go.
@safe
package struct ListenerHandle: BitwiseCopyable, @unchecked Sendable {
    let number: UInt64
    let source: SinkSource
    private let cells: FarEndCells
    private let gate: TransferGate
    private let listener: UnsafeMutablePointer<any SoundListener>

    init(_ line: ListenerLine, number: UInt64, source: SinkSource) {
        self.number = number
        self.source = source
        cells = line.cells
        gate = line.gate
        unsafe listener = line.listener.pointer
    }

    var isClosed: Bool { cells.isClosed }

    func hear(_ block: Span<Float>, time: MonotonicTime) {
        guard !cells.isClosed, gate.enter() else { return }
        unsafe listener.pointee.hear(block, at: time.nanoseconds)
        gate.leave()
    }
}
