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
    var byteCount: Int

    /// Where its sound ends on the media timeline.
    var end: Int64 { position + Int64(framing.frames) }
}

/// The packets that wait, by sequence number, in slots made once.
///
/// Overflow: a packet too far ahead of the oldest is only taken after ``advance(to:)`` let the oldest go.
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

    private static let empty = Int64.min

    init(capacity: Int) {
        self.capacity = capacity
        unsafe slots = .allocate(capacity: capacity)
        unsafe payloads = .allocate(capacity: capacity * Self.payloadBytes)
        let nothing = StoredPacket(
            sequence: Self.empty, position: 0, timestamp: 0, arrival: 0,
            framing: OpusFraming.none, startsStream: false, isCopy: false, byteCount: 0)
        unsafe slots.initialize(repeating: nothing, count: capacity)
        unsafe payloads.initialize(repeating: 0, count: capacity * Self.payloadBytes)
    }

    deinit {
        unsafe slots.deallocate()
        unsafe payloads.deallocate()
    }

    subscript(sequence: Int64) -> StoredPacket? {
        let slot = unsafe slots[index(sequence)]
        return slot.sequence == sequence ? slot : nil
    }

    /// Whether nothing waits in a packet's slot.
    func isFree(_ sequence: Int64) -> Bool { unsafe slots[index(sequence)].sequence == Self.empty }

    /// The payload of a packet that waits.
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
        let destination = unsafe UnsafeMutableRawPointer(payloads + at * Self.payloadBytes)
        unsafe payload.withUnsafeBytes { bytes in
            guard let source = bytes.baseAddress else { return }
            unsafe destination.copyMemory(from: source, byteCount: bytes.count)
        }
        newest = max(newest, packet.sequence)
    }

    /// Lets a packet go.
    mutating func remove(_ sequence: Int64) {
        let at = index(sequence)
        guard unsafe slots[at].sequence == sequence else { return }
        unsafe slots[at].sequence = Self.empty
        count -= 1
    }

    /// Lets every packet go.
    mutating func removeAll() {
        for at in 0..<capacity { unsafe slots[at].sequence = Self.empty }
        count = 0
    }

    /// Makes the store as new.
    mutating func reset() {
        removeAll()
        newest = .min
    }

    /// The first packet that waits at or after a sequence number.
    func first(from sequence: Int64) -> StoredPacket? {
        guard count > 0, newest >= sequence else { return nil }
        for candidate in max(sequence, newest - Int64(capacity) + 1)...newest {
            if let packet = self[candidate] { return packet }
        }
        return nil
    }

    private func index(_ sequence: Int64) -> Int {
        let remainder = Int(sequence % Int64(capacity))
        return remainder < 0 ? remainder + capacity : remainder
    }
}
