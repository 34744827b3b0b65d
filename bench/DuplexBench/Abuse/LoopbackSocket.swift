import CLinuxRealtime
import Glibc

/// A UDP socket towards one port of this machine, many datagrams in one system call. Waits only where it is told to.
@safe
final class LoopbackSocket {
    /// Datagrams in one system call.
    static let batch = 64
    private static let slotBytes = 1_500
    /// A second of the fastest attack's answers.
    private static let bufferBytes: Int32 = 4 << 20

    private let socket: Int32
    private let outgoing: OpaquePointer
    private let incoming: OpaquePointer
    private let slots: UnsafeMutablePointer<UInt8>
    private let inbox: UnsafeMutablePointer<UInt8>

    /// A socket at an address of this machine's own 127.0.0.0/8, towards 127.0.0.1.
    init(from address: String = "127.0.0.1", to port: UInt16) throws {
        var local = dv_address()
        var remote = dv_address()
        guard unsafe dv_address_parse(&local, address, 0) == 0,
            unsafe dv_address_parse(&remote, "127.0.0.1", port) == 0, dv_address_isLocal(local)
        else { throw AbuseFailure("\(address) is no address of this machine alone") }
        let opened = unsafe dv_udp_open(&local, &remote, Self.bufferBytes)
        guard opened >= 0 else { throw AbuseFailure("no socket at \(address): errno \(-opened)") }
        socket = opened
        guard let outgoing = unsafe dv_batch_create(Int32(Self.batch)),
            let incoming = unsafe dv_batch_create(Int32(Self.batch))
        else { throw AbuseFailure("no memory for a batch") }
        unsafe self.outgoing = outgoing
        unsafe self.incoming = incoming
        unsafe slots = .allocate(capacity: Self.batch * Self.slotBytes)
        unsafe slots.initialize(repeating: 0, count: Self.batch * Self.slotBytes)
        unsafe inbox = .allocate(capacity: Self.batch * Self.slotBytes)
        unsafe inbox.initialize(repeating: 0, count: Self.batch * Self.slotBytes)
    }

    deinit {
        dv_udp_close(socket)
        unsafe dv_batch_free(outgoing)
        unsafe dv_batch_free(incoming)
        unsafe slots.deallocate()
        unsafe inbox.deallocate()
    }

    /// Sends datagrams, at most ``batch`` of them; how many went.
    @discardableResult
    func send(_ datagrams: [[UInt8]]) -> Int {
        precondition(datagrams.count <= Self.batch)
        for (index, datagram) in datagrams.enumerated() {
            precondition(datagram.count <= Self.slotBytes)
            let slot = unsafe slots + index * Self.slotBytes
            for byte in datagram.indices { unsafe slot[byte] = datagram[byte] }
            unsafe dv_batch_place(outgoing, Int32(index), slot, datagram.count, nil)
        }
        return unsafe Int(max(0, dv_batch_send(outgoing, socket, 0, Int32(datagrams.count))))
    }

    /// Waits until something arrives; false where nothing does for so long.
    func wait(milliseconds: Int32) -> Bool {
        var awaited = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&awaited, 1, milliseconds) > 0
    }

    /// What has arrived, at most ``batch`` datagrams.
    func receive() -> [[UInt8]] {
        for index in 0..<Self.batch {
            unsafe dv_batch_place(incoming, Int32(index), inbox + index * Self.slotBytes, Self.slotBytes, nil)
        }
        let count = unsafe Int(max(0, dv_batch_receive(incoming, socket, Int32(Self.batch))))
        return (0..<count).map { index in
            let length = unsafe dv_batch_length(incoming, Int32(index))
            let start = unsafe inbox + index * Self.slotBytes
            return unsafe Array(UnsafeBufferPointer(start: start, count: length))
        }
    }
}

/// Whether what is sent from there can leave this machine.
private func dv_address_isLocal(_ address: dv_address) -> Bool {
    var address = address
    return unsafe dv_address_is_loopback(&address) != 0
}

/// Why an attack could not be measured.
struct AbuseFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
