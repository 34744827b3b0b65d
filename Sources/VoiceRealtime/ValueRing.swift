public import Synchronization

/// A ring of small values, from one thread to one other: commands to the media thread, events from it.
///
/// Overflow: ``ValueProducer/push(_:)`` answers false and counts; the *newest* value is dropped. Generic, and so not
/// provable by the compiler; specialised to a concrete element it neither locks nor allocates.
@frozen
public struct ValueRing<Value: BitwiseCopyable & Sendable>: ~Copyable {
    /// The end that writes. Move it to its thread.
    public var producer: ValueProducer<Value>
    /// The end that reads. Move it to its thread.
    public var consumer: ValueConsumer<Value>

    /// A ring of at least `minimumCapacity` values. Not real-time safe.
    public init(minimumCapacity: Int) {
        precondition(minimumCapacity > 0)
        let capacity = minimumCapacity.roundedUpToPowerOfTwo
        let values = unsafe LockedPages.allocate(Value.self, count: capacity)
        let indices = unsafe RingIndices.make()
        unsafe producer = ValueProducer(indices: indices, values: values, mask: capacity - 1)
        unsafe consumer = ValueConsumer(indices: indices, values: values, mask: capacity - 1)
    }
}

/// The writing end of a ``ValueRing``.
@safe @frozen
public struct ValueProducer<Value: BitwiseCopyable & Sendable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let indices: UnsafeMutablePointer<RingIndices>
    @usableFromInline let values: UnsafeMutablePointer<Value>
    @usableFromInline let mask: Int
    @usableFromInline var written = 0

    init(indices: UnsafeMutablePointer<RingIndices>, values: UnsafeMutablePointer<Value>, mask: Int) {
        unsafe self.indices = indices
        unsafe self.values = values
        self.mask = mask
    }

    deinit {
        guard unsafe RingIndices.release(indices) else { return }
        unsafe LockedPages.free(values, count: mask + 1)
        unsafe RingIndices.free(indices)
    }

    /// How many values there is room for.
    @inlinable
    public var room: Int { unsafe mask + 1 - (written - indices.pointee.read.load(ordering: .acquiring)) }

    /// Appends `value`; false where the ring is full, which is counted.
    @inlinable
    @discardableResult
    public mutating func push(_ value: Value) -> Bool {
        guard unsafe written - indices.pointee.read.load(ordering: .acquiring) <= mask else {
            unsafe indices.pointee.dropped.wrappingAdd(1, ordering: .relaxed)
            return false
        }
        unsafe (values + (written & mask)).initialize(to: value)
        written += 1
        unsafe indices.pointee.written.store(written, ordering: .releasing)
        return true
    }
}

/// The reading end of a ``ValueRing``.
@safe @frozen
public struct ValueConsumer<Value: BitwiseCopyable & Sendable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let indices: UnsafeMutablePointer<RingIndices>
    @usableFromInline let values: UnsafeMutablePointer<Value>
    @usableFromInline let mask: Int
    @usableFromInline var read = 0
    /// Values from this one on are not seen before the next ``look()``; `max` where that was never called.
    @usableFromInline var horizon = Int.max

    init(indices: UnsafeMutablePointer<RingIndices>, values: UnsafeMutablePointer<Value>, mask: Int) {
        unsafe self.indices = indices
        unsafe self.values = values
        self.mask = mask
    }

    deinit {
        guard unsafe RingIndices.release(indices) else { return }
        unsafe LockedPages.free(values, count: mask + 1)
        unsafe RingIndices.free(indices)
    }

    /// The oldest value, or nil where there is none.
    @inlinable
    public mutating func pop() -> Value? {
        guard read < horizon, unsafe indices.pointee.written.load(ordering: .acquiring) > read else { return nil }
        let value = unsafe values[read & mask]
        read += 1
        unsafe indices.pointee.read.store(read, ordering: .releasing)
        return value
    }

    /// From now on sees what lies in the ring at this moment, and nothing that comes later until the next look. Before
    /// the first call all is seen as it comes.
    @inlinable
    public mutating func look() { horizon = unsafe indices.pointee.written.load(ordering: .acquiring) }

    /// How many values can be read.
    @inlinable
    public var available: Int {
        let written = unsafe indices.pointee.written.load(ordering: .acquiring)
        return (written < horizon ? written : horizon) - read
    }

    /// How many values have been read so far.
    @inlinable
    public var readValues: Int { read }

    /// The value `offset` places ahead, which stays; `offset` is below ``available``.
    @inlinable
    public func peek(ahead offset: Int) -> Value { unsafe values[(read + offset) & mask] }

    /// How many values have been dropped so far because the ring was full.
    @inlinable
    public var droppedValues: Int { unsafe indices.pointee.dropped.load(ordering: .relaxed) }
}
