internal import CLinuxRealtime
public import Synchronization

#if canImport(Glibc)
    internal import Glibc
#endif

/// A ring of records of any length, from one thread to one other: a record is written piece by piece and handed over
/// whole, or not at all.
///
/// Overflow: a piece that finds no room spoils its record, which is dropped as the *newest* and counted. The memory is
/// mapped twice in a row, so that no record is split at the end of the ring.
@frozen
public struct RecordRing: ~Copyable {
    /// The end that writes. Move it to its thread.
    public var producer: RecordProducer
    /// The end that reads. Move it to its thread.
    public var consumer: RecordConsumer

    /// A ring that holds at least `minimumBytes`; the capacity is a power of two and at least a page. Not real-time
    /// safe.
    public init(minimumBytes: Int) throws(RingError) {
        precondition(minimumBytes > 0)
        let capacity = max(minimumBytes.roundedUpToPowerOfTwo, dv_page_size())
        guard let memory = unsafe dv_mirrored_map(capacity) else { throw .memoryRefused(errno: errno) }
        let indices = unsafe RingIndices.make()
        unsafe producer = RecordProducer(indices: indices, memory: memory, capacity: capacity)
        unsafe consumer = RecordConsumer(indices: indices, memory: memory, capacity: capacity)
    }

    static func release(
        _ indices: UnsafeMutablePointer<RingIndices>, _ memory: UnsafeMutableRawPointer, _ capacity: Int
    ) {
        guard unsafe RingIndices.release(indices) else { return }
        unsafe dv_mirrored_unmap(memory, capacity)
        unsafe RingIndices.free(indices)
    }
}

/// The writing end of a ``RecordRing``. Every method but the deinitializer is real-time safe and wait-free.
@safe @frozen
public struct RecordProducer: ~Copyable, @unchecked Sendable {
    /// Where each piece begins: at a multiple of so many bytes.
    @inlinable public static var alignment: Int { @_noLocks @_noAllocation get { 8 } }

    @usableFromInline let indices: UnsafeMutablePointer<RingIndices>
    @usableFromInline let memory: UnsafeMutableRawPointer
    /// How many bytes the ring holds.
    public let capacity: Int
    @usableFromInline var written = 0
    /// The end of what was written of the record that is not handed over yet.
    @usableFromInline var pending = 0
    @usableFromInline var readSeen = 0
    @usableFromInline var isSpoilt = false

    init(indices: UnsafeMutablePointer<RingIndices>, memory: UnsafeMutableRawPointer, capacity: Int) {
        unsafe self.indices = indices
        unsafe self.memory = memory
        self.capacity = capacity
    }

    deinit { unsafe RecordRing.release(indices, memory, capacity) }

    /// Room for a piece of `bytes` bytes behind those of the record so far; nil where there is none, which spoils the
    /// record.
    @_noLocks @_noAllocation
    @inlinable
    @unsafe
    public mutating func piece(_ bytes: Int) -> UnsafeMutableRawPointer? {
        let length = (bytes &+ Self.alignment &- 1) & ~(Self.alignment &- 1)
        if capacity &- (pending &- readSeen) < length {
            readSeen = unsafe indices.pointee.read.load(ordering: .acquiring)
        }
        guard !isSpoilt, bytes >= 0, capacity &- (pending &- readSeen) >= length else {
            isSpoilt = true
            return nil
        }
        let place = unsafe memory + (pending & (capacity &- 1))
        pending &+= length
        return unsafe place
    }

    /// Has the record be dropped.
    @_noLocks @_noAllocation
    @inlinable
    public mutating func spoil() { isSpoilt = true }

    /// Hands the record over. False where it was spoilt: then it is dropped, and counted.
    @_noLocks @_noAllocation
    @inlinable
    public mutating func commit() -> Bool {
        if isSpoilt {
            pending = written
            isSpoilt = false
            unsafe indices.pointee.dropped.wrappingAdd(1, ordering: .relaxed)
            return false
        }
        written = pending
        unsafe indices.pointee.written.store(written, ordering: .releasing)
        return true
    }
}

/// The reading end of a ``RecordRing``.
@safe @frozen
public struct RecordConsumer: ~Copyable, @unchecked Sendable {
    @usableFromInline let indices: UnsafeMutablePointer<RingIndices>
    @usableFromInline let memory: UnsafeMutableRawPointer
    /// How many bytes the ring holds.
    public let capacity: Int
    @usableFromInline var read = 0

    init(indices: UnsafeMutablePointer<RingIndices>, memory: UnsafeMutableRawPointer, capacity: Int) {
        unsafe self.indices = indices
        unsafe self.memory = memory
        self.capacity = capacity
    }

    deinit { unsafe RecordRing.release(indices, memory, capacity) }

    /// How many bytes of whole records can be read.
    @inlinable
    public var available: Int { unsafe indices.pointee.written.load(ordering: .acquiring) - read }

    /// The whole records that lie in the ring, to look at only; they stay until ``release(_:)``.
    @_lifetime(borrow self)
    @inlinable
    public func peek() -> RawSpan {
        let span = unsafe RawSpan(_unsafeStart: memory + (read & (capacity - 1)), byteCount: available)
        return unsafe _overrideLifetime(span, borrowing: self)
    }

    /// Gives the first `bytes` bytes back to the producer. To give back more than are there is a programming error.
    @inlinable
    public mutating func release(_ bytes: Int) {
        precondition(bytes >= 0 && bytes <= available, "released more than was there")
        read += bytes
        unsafe indices.pointee.read.store(read, ordering: .releasing)
    }

    /// How many records have been dropped so far because the ring was full.
    @inlinable
    public var droppedRecords: Int { unsafe indices.pointee.dropped.load(ordering: .relaxed) }
}
