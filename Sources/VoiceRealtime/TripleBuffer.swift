public import Synchronization

/// The latest value of something, from one thread to one other, without either ever waiting: statistics.
///
/// The writer fills a slot that nobody else sees and swaps it with the one in the middle; the reader swaps the middle
/// with its own when the middle is newer. Values in between are lost, which is the point.
@frozen
public struct TripleBuffer<Value: BitwiseCopyable & Sendable>: ~Copyable {
    /// The end that publishes. Move it to its thread.
    public var writer: TripleBufferWriter<Value>
    /// The end that looks. Move it to its thread.
    public var reader: TripleBufferReader<Value>

    /// One for the writer, one for the reader, one in the middle.
    static var slotCount: Int { 3 }

    /// A buffer that reads as `initial` until something is published. Not real-time safe.
    public init(_ initial: Value) {
        let slots = unsafe LockedPages.allocate(Value.self, count: Self.slotCount)
        unsafe slots.initialize(repeating: initial, count: Self.slotCount)
        let indices = unsafe RingIndices.make()
        unsafe indices.pointee.written.store(1, ordering: .relaxed)
        unsafe writer = TripleBufferWriter(indices: indices, slots: slots)
        unsafe reader = TripleBufferReader(indices: indices, slots: slots)
    }
}

/// How `RingIndices.written` names the slot in the middle: its number, and a bit that is set while it is unread.
@usableFromInline
enum MiddleSlot {
    @usableFromInline static var number: Int { @_noLocks @_noAllocation @inlinable get { 3 } }
    @usableFromInline static var isFresh: Int { @_noLocks @_noAllocation @inlinable get { 4 } }
}

/// The publishing end of a ``TripleBuffer``. Its method is wait-free.
@safe @frozen
public struct TripleBufferWriter<Value: BitwiseCopyable & Sendable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let indices: UnsafeMutablePointer<RingIndices>
    @usableFromInline let slots: UnsafeMutablePointer<Value>
    @usableFromInline var own = 0

    init(indices: UnsafeMutablePointer<RingIndices>, slots: UnsafeMutablePointer<Value>) {
        unsafe self.indices = indices
        unsafe self.slots = slots
    }

    deinit {
        guard unsafe RingIndices.release(indices) else { return }
        unsafe LockedPages.free(slots, count: TripleBuffer<Value>.slotCount)
        unsafe RingIndices.free(indices)
    }

    /// Makes `value` the latest.
    @inlinable
    public mutating func publish(_ value: Value) {
        unsafe slots[own] = value
        let middle = unsafe indices.pointee.written.exchange(own | MiddleSlot.isFresh, ordering: .acquiringAndReleasing)
        own = middle & MiddleSlot.number
    }
}

/// The looking end of a ``TripleBuffer``. Its method is wait-free.
@safe @frozen
public struct TripleBufferReader<Value: BitwiseCopyable & Sendable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let indices: UnsafeMutablePointer<RingIndices>
    @usableFromInline let slots: UnsafeMutablePointer<Value>
    @usableFromInline var own = 2

    init(indices: UnsafeMutablePointer<RingIndices>, slots: UnsafeMutablePointer<Value>) {
        unsafe self.indices = indices
        unsafe self.slots = slots
    }

    deinit {
        guard unsafe RingIndices.release(indices) else { return }
        unsafe LockedPages.free(slots, count: TripleBuffer<Value>.slotCount)
        unsafe RingIndices.free(indices)
    }

    /// The latest published value.
    @inlinable
    public mutating func latest() -> Value {
        if unsafe indices.pointee.written.load(ordering: .relaxed) & MiddleSlot.isFresh != 0 {
            let middle = unsafe indices.pointee.written.exchange(own, ordering: .acquiringAndReleasing)
            own = middle & MiddleSlot.number
        }
        return unsafe slots[own]
    }
}
