public import Synchronization

/// What travels with a packet through a ``PacketRing``.
@frozen
public struct PacketTag: BitwiseCopyable, Sendable {
    /// When the packet arrived, or was made; which of the two is the ring owner's to say.
    public var time: MonotonicTime
    /// Free for the ring's owner: which stream or participant the packet belongs to.
    public var stream: UInt32
    /// Free for the ring's owner: the utterance generation to which the packet belongs.
    public var generation: UInt32

    /// A tag with these values.
    @_noLocks @_noAllocation
    @inlinable
    public init(time: MonotonicTime, stream: UInt32 = 0, generation: UInt32 = 0) {
        self.time = time
        self.stream = stream
        self.generation = generation
    }
}

/// A ring of datagrams in fixed slots, from one thread to one other.
///
/// Overflow: ``PacketProducer/acquire()`` answers an empty span when every slot is taken; the *newest* packet is
/// dropped and counted.
@frozen
public struct PacketRing: ~Copyable {
    /// The end that writes. Move it to its thread.
    public var producer: PacketProducer
    /// The end that reads. Move it to its thread.
    public var consumer: PacketConsumer

    /// A ring of at least `minimumSlots` slots, each of `slotBytes` bytes: 1,500 hold any packet of an Ethernet path.
    /// Not real-time safe.
    public init(minimumSlots: Int, slotBytes: Int = 1_500) {
        precondition(minimumSlots > 0 && slotBytes > 0)
        let slots = minimumSlots.roundedUpToPowerOfTwo
        let headers = unsafe LockedPages.allocate(PacketSlot.self, count: slots)
        unsafe headers.initialize(repeating: PacketSlot(), count: slots)
        let bytes = unsafe LockedPages.allocate(UInt8.self, count: slots * slotBytes)
        unsafe bytes.initialize(repeating: 0, count: slots * slotBytes)
        let indices = unsafe RingIndices.make()
        unsafe producer = PacketProducer(
            indices: indices, headers: headers, bytes: bytes, slotBytes: slotBytes, mask: slots - 1)
        unsafe consumer = PacketConsumer(
            indices: indices, headers: headers, bytes: bytes, slotBytes: slotBytes, mask: slots - 1)
    }

    static func release(
        _ indices: UnsafeMutablePointer<RingIndices>, _ headers: UnsafeMutablePointer<PacketSlot>,
        _ bytes: UnsafeMutablePointer<UInt8>, slots: Int, slotBytes: Int
    ) {
        guard unsafe RingIndices.release(indices) else { return }
        unsafe LockedPages.free(headers, count: slots)
        unsafe LockedPages.free(bytes, count: slots * slotBytes)
        unsafe RingIndices.free(indices)
    }
}

@usableFromInline
struct PacketSlot: BitwiseCopyable {
    @usableFromInline var length = 0
    @usableFromInline var tag = PacketTag(time: MonotonicTime(nanoseconds: 0))
    init() {}
}

/// The writing end of a ``PacketRing``. Every method but the deinitializer is real-time safe and wait-free.
@safe @frozen
public struct PacketProducer: ~Copyable, @unchecked Sendable {
    @usableFromInline let indices: UnsafeMutablePointer<RingIndices>
    @usableFromInline let headers: UnsafeMutablePointer<PacketSlot>
    @usableFromInline let bytes: UnsafeMutablePointer<UInt8>
    /// The longest packet that a slot holds, in bytes.
    public let slotBytes: Int
    @usableFromInline let mask: Int
    @usableFromInline var written = 0
    @usableFromInline var readSeen = 0

    init(
        indices: UnsafeMutablePointer<RingIndices>, headers: UnsafeMutablePointer<PacketSlot>,
        bytes: UnsafeMutablePointer<UInt8>, slotBytes: Int, mask: Int
    ) {
        unsafe self.indices = indices
        unsafe self.headers = headers
        unsafe self.bytes = bytes
        self.slotBytes = slotBytes
        self.mask = mask
    }

    deinit {
        unsafe PacketRing.release(indices, headers, bytes, slots: mask + 1, slotBytes: slotBytes)
    }

    /// The next slot, whole; empty where the ring is full, which counts one packet as dropped.
    @_noLocks @_noAllocation
    @_lifetime(&self)
    @inlinable
    public mutating func acquire() -> MutableSpan<UInt8> {
        let room = takeSlot() ? slotBytes : 0
        let span = unsafe MutableSpan<UInt8>(_unsafeStart: bytes + (written & mask) * slotBytes, count: room)
        return unsafe _overrideLifetime(span, mutating: &self)
    }

    /// The first `length` bytes of the slot that ``acquire()`` gave, to look at only, before they are handed over.
    @_lifetime(borrow self)
    @inlinable
    public func acquired(_ length: Int) -> Span<UInt8> {
        let count = min(max(length, 0), slotBytes)
        let span = unsafe Span<UInt8>(_unsafeStart: bytes + (written & mask) * slotBytes, count: count)
        return unsafe _overrideLifetime(span, borrowing: self)
    }

    /// Whether the next slot is free; where it is not, one packet counts as dropped.
    @_noLocks @_noAllocation
    @inlinable
    mutating func takeSlot() -> Bool {
        if written - readSeen > mask {
            readSeen = unsafe indices.pointee.read.load(ordering: .acquiring)
        }
        if written - readSeen <= mask { return true }
        unsafe indices.pointee.dropped.wrappingAdd(1, ordering: .relaxed)
        return false
    }

    /// Hands the acquired slot over with its first `length` bytes. To commit more than was acquired is a programming
    /// error.
    @_noLocks @_noAllocation
    @inlinable
    public mutating func commit(length: Int, tag: PacketTag) {
        let isAcquired = written - readSeen <= mask && length >= 0 && length <= slotBytes
        precondition(isAcquired, "committed more than was acquired")
        let slot = unsafe headers + (written & mask)
        unsafe slot.pointee.length = length
        unsafe slot.pointee.tag = tag
        written += 1
        unsafe indices.pointee.written.store(written, ordering: .releasing)
    }

    /// Copies `packet` into the next slot. False where the ring is full or the packet longer than a slot; both count as
    /// dropped.
    @_noLocks @_noAllocation
    @inlinable
    public mutating func push(_ packet: Span<UInt8>, tag: PacketTag) -> Bool {
        if packet.count > slotBytes {
            unsafe indices.pointee.dropped.wrappingAdd(1, ordering: .relaxed)
            return false
        }
        guard takeSlot() else { return false }
        if packet.count > 0 {
            let source = unsafe packet.withUnsafeBufferPointer { $0.baseAddress }
            let target = unsafe UnsafeMutableRawPointer(bytes + (written & mask) * slotBytes)
            unsafe target.copyMemory(from: source.unsafelyUnwrapped, byteCount: packet.count)
        }
        commit(length: packet.count, tag: tag)
        return true
    }

    /// How many packets have been dropped so far.
    @inlinable
    public var droppedPackets: Int {
        @_noLocks @_noAllocation get { unsafe indices.pointee.dropped.load(ordering: .relaxed) }
    }

    /// How many packets have been given back by the consumer so far.
    @inlinable
    public var takenPackets: Int {
        @_noLocks @_noAllocation get { unsafe indices.pointee.read.load(ordering: .acquiring) }
    }
}

/// The reading end of a ``PacketRing``. Every method but the deinitializer is real-time safe and wait-free.
@safe @frozen
public struct PacketConsumer: ~Copyable, @unchecked Sendable {
    @usableFromInline let indices: UnsafeMutablePointer<RingIndices>
    @usableFromInline let headers: UnsafeMutablePointer<PacketSlot>
    @usableFromInline let bytes: UnsafeMutablePointer<UInt8>
    @usableFromInline let slotBytes: Int
    @usableFromInline let mask: Int
    @usableFromInline var read = 0
    @usableFromInline var writtenSeen = 0
    /// Packets from this one on are not seen before the next ``look()``; `max` where that was never called.
    @usableFromInline var horizon = Int.max

    init(
        indices: UnsafeMutablePointer<RingIndices>, headers: UnsafeMutablePointer<PacketSlot>,
        bytes: UnsafeMutablePointer<UInt8>, slotBytes: Int, mask: Int
    ) {
        unsafe self.indices = indices
        unsafe self.headers = headers
        unsafe self.bytes = bytes
        self.slotBytes = slotBytes
        self.mask = mask
    }

    deinit {
        unsafe PacketRing.release(indices, headers, bytes, slots: mask + 1, slotBytes: slotBytes)
    }

    /// How many packets can be read.
    @inlinable
    public var available: Int {
        @_noLocks @_noAllocation get {
            let written = unsafe indices.pointee.written.load(ordering: .acquiring)
            return (written < horizon ? written : horizon) - read
        }
    }

    /// From now on sees what lies in the ring at this moment, and nothing that comes later until the next look. Before
    /// the first call all is seen as it comes.
    @_noLocks @_noAllocation
    @inlinable
    public mutating func look() {
        horizon = unsafe indices.pointee.written.load(ordering: .acquiring)
    }

    /// How many packets have been given back to the producer so far.
    @inlinable
    public var readPackets: Int { @_noLocks @_noAllocation get { read } }

    /// The tag of the packet `offset` places ahead; `offset` is below ``available``.
    @_noLocks @_noAllocation
    @inlinable
    public func tag(ahead offset: Int = 0) -> PacketTag {
        unsafe headers[(read + offset) & mask].tag
    }

    /// The bytes of the packet `offset` places ahead; `offset` is below ``available``. They stay until ``release(_:)``
    /// and may be worked on in place.
    @_noLocks @_noAllocation
    @_lifetime(&self)
    @inlinable
    public mutating func acquire(ahead offset: Int = 0) -> MutableSpan<UInt8> {
        let slot = (read + offset) & mask
        let span = unsafe MutableSpan<UInt8>(_unsafeStart: bytes + slot * slotBytes, count: headers[slot].length)
        return unsafe _overrideLifetime(span, mutating: &self)
    }

    /// The bytes of the packet `offset` places ahead, to look at only; they stay until ``release(_:)``. Wait-free, but
    /// not for code that the compiler is to prove, which takes ``acquire(ahead:)``.
    @_lifetime(borrow self)
    @inlinable
    public func peek(ahead offset: Int = 0) -> Span<UInt8> {
        let slot = (read &+ offset) & mask
        let span = unsafe Span<UInt8>(_unsafeStart: bytes + slot * slotBytes, count: headers[slot].length)
        return unsafe _overrideLifetime(span, borrowing: self)
    }

    /// Where the bytes of the packet `offset` places ahead lie, for a vectored send; valid until ``release(_:)``.
    @inlinable
    @unsafe
    public func buffer(ahead offset: Int = 0) -> UnsafeMutableRawBufferPointer {
        let slot = (read + offset) & mask
        return unsafe UnsafeMutableRawBufferPointer(start: bytes + slot * slotBytes, count: headers[slot].length)
    }

    /// Gives the first `packets` packets back to the producer. To give back more than are there is a programming error.
    @_noLocks @_noAllocation
    @inlinable
    public mutating func release(_ packets: Int = 1) {
        if writtenSeen - read < packets { writtenSeen = unsafe indices.pointee.written.load(ordering: .acquiring) }
        precondition(packets >= 0 && packets <= writtenSeen - read, "released more than was there")
        read += packets
        unsafe indices.pointee.read.store(read, ordering: .releasing)
    }

    /// How many packets the producer has dropped so far.
    @inlinable
    public var droppedPackets: Int {
        @_noLocks @_noAllocation get { unsafe indices.pointee.dropped.load(ordering: .relaxed) }
    }
}
