internal import CLinuxRealtime
internal import Glibc
internal import VoicePeers
internal import VoiceRealtime
internal import VoiceRooms
internal import VoiceWire

/// Datagrams for one recvmmsg or sendmmsg, and buffers to receive into. Allocates when made, and never again.
@safe
struct DatagramBatch: ~Copyable {
    /// Bytes of a buffer: the payload of an Ethernet frame, more than any path carries unfragmented.
    static let bufferSize = 1500

    let capacity: Int
    private let batch: OpaquePointer
    private let buffers: UnsafeMutablePointer<UInt8>

    init(capacity: Int) throws(ThreadError) {
        guard let made = unsafe dv_batch_create(Int32(capacity)) else { throw .refused(errno: ENOMEM) }
        self.capacity = capacity
        unsafe batch = made
        unsafe buffers = .allocate(capacity: capacity * Self.bufferSize)
        unsafe buffers.initialize(repeating: 0, count: capacity * Self.bufferSize)
    }

    deinit {
        unsafe dv_batch_free(batch)
        unsafe buffers.deallocate()
    }

    /// Receives what has arrived, at most `capacity`; negative: minus errno.
    mutating func receive(from socket: Int32) -> Int {
        for index in 0..<capacity {
            unsafe dv_batch_place(batch, Int32(index), buffers + index * Self.bufferSize, Self.bufferSize, nil)
        }
        return unsafe Int(dv_batch_receive(batch, socket, Int32(capacity)))
    }

    /// The first bytes of a received datagram.
    @_lifetime(borrow self)
    func datagram(_ index: Int, count: Int) -> Span<UInt8> {
        precondition(0..<capacity ~= index && 0...Self.bufferSize ~= count)
        let span = unsafe Span<UInt8>(_unsafeStart: buffers + index * Self.bufferSize, count: count)
        return unsafe _overrideLifetime(span, borrowing: self)
    }

    /// The bytes of a received datagram, to be changed in place; none when it was too long for its buffer.
    @_lifetime(&self)
    mutating func mutableDatagram(_ index: Int) -> MutableSpan<UInt8> {
        buffer(index, count: length(index))
    }

    /// Bytes of a received datagram; 0 when it was too long for its buffer.
    func length(_ index: Int) -> Int { unsafe min(dv_batch_length(batch, Int32(index)), Self.bufferSize) }

    /// The first bytes of a buffer, to write a datagram into.
    @_lifetime(&self)
    mutating func buffer(_ index: Int, count: Int = bufferSize) -> MutableSpan<UInt8> {
        precondition(0..<capacity ~= index && 0...Self.bufferSize ~= count)
        let span = unsafe MutableSpan<UInt8>(_unsafeStart: buffers + index * Self.bufferSize, count: count)
        return unsafe _overrideLifetime(span, mutating: &self)
    }

    /// Copies the first bytes of a buffer of `other` to one here.
    mutating func copy(_ index: Int, from other: borrowing DatagramBatch, _ buffer: Int, count: Int) {
        precondition(0...Self.bufferSize ~= count)
        unsafe copy(index, UnsafeRawBufferPointer(start: other.buffers + buffer * Self.bufferSize, count: count))
    }

    /// Copies bytes to a buffer: at most as many as it has room for.
    @unsafe
    mutating func copy(_ index: Int, _ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        unsafe UnsafeMutableRawPointer(buffers + index * Self.bufferSize).copyMemory(
            from: start, byteCount: min(bytes.count, Self.bufferSize))
    }

    /// Takes the packet that is the first `count` bytes of the same buffer of `other`, without the earlier ones that it
    /// repeats (RFC 2198). Returns its length; nil where it is not as it should be.
    mutating func takeWithoutCopies(_ index: Int, from other: borrowing DatagramBatch, count: Int) -> Int? {
        copy(index, from: other, index, count: count)
        var packet = buffer(index, count: count)
        return try? RedundantAudioWriter.removeCopies(from: &packet, payloadType: RoomProtocol.payloadType)
    }

    /// Where a received datagram is from, and which of this machine's addresses it came to.
    func source(_ index: Int, to locals: inout LocalAddresses) -> EndpointAddress {
        var address = dv_address()
        var local = dv_address()
        unsafe dv_batch_source(batch, Int32(index), &address)
        guard unsafe dv_batch_local(batch, Int32(index), &local) != 0 else { return EndpointAddress(address) }
        return EndpointAddress(address, local: locals.number(of: EndpointAddress(local)))
    }

    /// When the kernel got the datagram.
    func arrival(_ index: Int) -> MonotonicTime {
        unsafe MonotonicTime(nanoseconds: dv_batch_arrival(batch, Int32(index)))
    }

    /// Places the first `count` bytes of a buffer here, for a connected socket.
    mutating func place(_ index: Int, count: Int) {
        let start = unsafe buffers + index * Self.bufferSize
        unsafe dv_batch_place(batch, Int32(index), start, count, nil)
    }

    /// Places the first `count` bytes of a buffer here, to leave from that one of this machine's addresses by which the
    /// destination talks with it.
    mutating func place(_ index: Int, count: Int, to destination: EndpointAddress, from locals: LocalAddresses) {
        unsafe place(index, buffers + index * Self.bufferSize, count: count, to: destination, from: locals)
    }

    /// Places the first `count` bytes in a buffer of `other`.
    mutating func place(
        _ index: Int, from other: borrowing DatagramBatch, _ buffer: Int, count: Int, to destination: EndpointAddress,
        from locals: LocalAddresses
    ) {
        precondition(0...Self.bufferSize ~= count)
        unsafe place(
            index, other.buffers + buffer * Self.bufferSize, count: count, to: destination, from: locals)
    }

    @unsafe
    private mutating func place(
        _ index: Int, _ bytes: UnsafeMutablePointer<UInt8>, count: Int, to destination: EndpointAddress,
        from locals: LocalAddresses
    ) {
        var address = destination.system
        unsafe dv_batch_place(batch, Int32(index), bytes, count, &address)
        guard var local = locals[destination.local]?.system else { return }
        unsafe dv_batch_place_from(batch, Int32(index), &local)
    }

    /// Sends the placed datagrams; a datagram that is refused is skipped. How many were sent.
    mutating func send(_ count: Int, through socket: Int32) -> Int {
        var first = 0
        var sent = 0
        while first < count {
            let result = unsafe Int(dv_batch_send(batch, socket, Int32(first), Int32(count)))
            if result > 0 {
                first += result
                sent += result
            } else {
                // Voice that cannot go now is too late later: what fails is lost, as on any other part of the path.
                first += 1
            }
        }
        return sent
    }
}
