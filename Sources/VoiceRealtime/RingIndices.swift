public import Synchronization

/// What the two ends of a single-producer, single-consumer ring share: one index each, on cache lines of its own.
///
/// Both indices count up for ever, which 64 bits allow, so the arithmetic on them needs no overflow checks; their
/// difference is the fill. The producer writes `written` with release after the data, the consumer reads it with
/// acquire before the data, and the other way round for `read` (Lamport, "Proving the Correctness of Multiprocess
/// Programs", 1977; the memory orders are those of the Linux kernel's `kfifo`, in C11's terms).
@usableFromInline
@safe
struct RingIndices: ~Copyable {
    /// Twice the 64-byte line, since x86 fetches lines in adjacent pairs.
    @usableFromInline static var alignment: Int { 128 }

    @usableFromInline let written = Atomic<Int>(0)
    @usableFromInline let dropped = Atomic<Int>(0)
    private let producerPadding = InlineArray<14, Int>(repeating: 0)
    @usableFromInline let read = Atomic<Int>(0)
    private let consumerPadding = InlineArray<15, Int>(repeating: 0)
    /// How many ends still exist; the last one frees the ring.
    private let ends = Atomic<Int>(2)

    /// New indices, on aligned memory of their own. Not real-time safe.
    static func make() -> UnsafeMutablePointer<RingIndices> {
        let raw = UnsafeMutableRawPointer.allocate(byteCount: MemoryLayout<RingIndices>.stride, alignment: alignment)
        let indices = unsafe raw.bindMemory(to: RingIndices.self, capacity: 1)
        unsafe indices.initialize(to: RingIndices())
        return unsafe indices
    }

    /// Called by each end once, as its last act: true for the one that must free the ring. Not real-time safe.
    static func release(_ indices: UnsafeMutablePointer<RingIndices>) -> Bool {
        unsafe indices.pointee.ends.subtract(1, ordering: .acquiringAndReleasing).newValue == 0
    }

    /// Frees what ``make()`` made.
    static func free(_ indices: UnsafeMutablePointer<RingIndices>) {
        unsafe indices.deinitialize(count: 1)
        unsafe UnsafeMutableRawPointer(indices).deallocate()
    }
}

extension Int {
    /// The smallest power of two that is not below this number.
    var roundedUpToPowerOfTwo: Int {
        self <= 1 ? 1 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount)
    }
}
