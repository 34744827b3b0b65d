/// A packet that waits, without its payload.
struct StoredPacket: BitwiseCopyable {
    /// Unwrapped sequence number on the buffer's own continuous count.
    var sequence: Int64
    /// Where its sound begins on the buffer's own media timeline, frames.
    var position: Int64
    /// Its unwrapped RTP timestamp.
    var timestamp: Int64
    /// When it arrived, on the pull clock.
    var arrival: Int64
    var framing: OpusFraming
    /// Whether another stream begins with it, for which the decoder starts afresh.
    var startsStream: Bool
    /// Whether it is a copy that a later packet carried.
    var isCopy: Bool
    /// Which generation of the stream it is of.
    var generation: UInt32
    var byteCount: Int

    /// Where its sound ends on the media timeline.
    var end: Int64 { position + Int64(framing.frames) }
}

/// The packets that wait, by sequence number, in slots made once.
///
/// Overflow: the owner lets the oldest go before it keeps one that is ``capacity`` or more ahead of it. The slots are
/// looked through 64 at a time, so that the distance between two packets costs next to nothing.
@safe struct PacketStore: ~Copyable {
    /// No payload is longer: one Ethernet frame.
    static let payloadBytes = 1500

    let capacity: Int
    /// Packets waiting.
    private(set) var count = 0
    /// The newest sequence number that waits or waited.
    private(set) var newest: Int64 = .min
    private let slots: UnsafeMutablePointer<StoredPacket>
    private let payloads: UnsafeMutablePointer<UInt8>
    /// One bit for each slot, set where a packet waits.
    private let occupied: UnsafeMutablePointer<UInt64>
    /// A power of two, at least a word of bits.
    private let slotCount: Int

    private static let empty = Int64.min

    init(capacity: Int) {
        self.capacity = capacity
        var slotCount = UInt64.bitWidth
        while slotCount < capacity { slotCount *= 2 }
        self.slotCount = slotCount
        unsafe slots = .allocate(capacity: slotCount)
        unsafe payloads = .allocate(capacity: slotCount * Self.payloadBytes)
        unsafe occupied = .allocate(capacity: slotCount / UInt64.bitWidth)
        let nothing = StoredPacket(
            sequence: Self.empty, position: 0, timestamp: 0, arrival: 0,
            framing: OpusFraming.none, startsStream: false, isCopy: false, generation: 0, byteCount: 0)
        unsafe slots.initialize(repeating: nothing, count: slotCount)
        unsafe payloads.initialize(repeating: 0, count: slotCount * Self.payloadBytes)
        unsafe occupied.initialize(repeating: 0, count: slotCount / UInt64.bitWidth)
    }

    deinit {
        unsafe slots.deallocate()
        unsafe payloads.deallocate()
        unsafe occupied.deallocate()
    }

    subscript(sequence: Int64) -> StoredPacket? {
        let slot = unsafe slots[index(sequence)]
        return slot.sequence == sequence ? slot : nil
    }

    /// Whether nothing waits in a packet's slot.
    func isFree(_ sequence: Int64) -> Bool { unsafe slots[index(sequence)].sequence == Self.empty }

    /// The payload of a packet that waits, or that was let go since one was last kept.
    @_lifetime(borrow self)
    func payload(_ sequence: Int64) -> Span<UInt8> {
        let at = index(sequence)
        let span = unsafe Span(_unsafeStart: payloads + at * Self.payloadBytes, count: slots[at].byteCount)
        return unsafe _overrideLifetime(span, borrowing: self)
    }

    /// Keeps a packet; whatever its slot held is gone.
    mutating func keep(_ packet: StoredPacket, payload: Span<UInt8>) {
        precondition(payload.count <= Self.payloadBytes && packet.byteCount == payload.count)
        let at = index(packet.sequence)
        if unsafe slots[at].sequence == Self.empty { count += 1 }
        unsafe slots[at] = packet
        let word = at / UInt64.bitWidth
        // Not |=, which Swift 6.3 compiles wrongly with --sanitize=thread.
        unsafe occupied[word] = occupied[word] | 1 << UInt64(at % UInt64.bitWidth)
        let destination = unsafe UnsafeMutableRawPointer(payloads + at * Self.payloadBytes)
        unsafe payload.withUnsafeBytes { bytes in
            guard let source = bytes.baseAddress else { return }
            unsafe destination.copyMemory(from: source, byteCount: bytes.count)
        }
        newest = max(newest, packet.sequence)
    }

    /// Puts a packet that waits to another place of the same stream; true where it was to begin one.
    mutating func move(_ sequence: Int64, to position: Int64) -> Bool {
        let at = index(sequence)
        guard unsafe slots[at].sequence == sequence else { return false }
        unsafe slots[at].position = position
        defer { unsafe slots[at].startsStream = false }
        return unsafe slots[at].startsStream
    }

    /// Moves when those that wait arrived: the clock that this is told on has jumped.
    mutating func shiftArrivals(by frames: Int64) {
        guard count > 0 else { return }
        for word in 0..<slotCount / UInt64.bitWidth {
            var bits = unsafe occupied[word]
            while bits != 0 {
                let at = word * UInt64.bitWidth + bits.trailingZeroBitCount
                unsafe slots[at].arrival = slots[at].arrival + frames
                bits = bits & (bits - 1)
            }
        }
    }

    /// Lets a packet go.
    mutating func remove(_ sequence: Int64) {
        let at = index(sequence)
        guard unsafe slots[at].sequence == sequence else { return }
        unsafe slots[at].sequence = Self.empty
        let word = at / UInt64.bitWidth
        unsafe occupied[word] = occupied[word] & ~(1 << UInt64(at % UInt64.bitWidth))
        count -= 1
    }

    /// Makes the store as new: lets every packet go.
    mutating func reset() {
        for at in 0..<slotCount { unsafe slots[at].sequence = Self.empty }
        for word in 0..<slotCount / UInt64.bitWidth { unsafe occupied[word] = 0 }
        count = 0
        newest = .min
    }

    /// The first packet that waits at or after a sequence number.
    func first(from sequence: Int64) -> StoredPacket? {
        guard count > 0, newest >= sequence else { return nil }
        var candidate = max(sequence, newest - Int64(capacity) + 1)
        while candidate <= newest {
            let bits = unsafe occupied[index(candidate) / UInt64.bitWidth] >> UInt64(candidate & 63)
            // What is left of this word of bits is empty.
            guard bits != 0 else {
                candidate = (candidate | 63) + 1
                continue
            }
            candidate += Int64(bits.trailingZeroBitCount)
            if let packet = self[candidate] { return candidate <= newest ? packet : nil }
            candidate += 1
        }
        return nil
    }

    private func index(_ sequence: Int64) -> Int { Int(sequence & Int64(slotCount - 1)) }
}
