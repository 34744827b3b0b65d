import Glibc
import Testing
import VoicePeers
import VoiceRealtime

@testable import VoiceTransport

/// A DTLS server on loopback for one peer, which need not be ours.
final class LoopbackDTLSServer {
    let end = DTLSEnd.server(TestIdentity.localhost.identity)
    let port: UInt16
    private let socket: Int32
    private var peer = sockaddr_in()

    init() throws {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        try #require(socket >= 0)
        self.socket = socket
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(socket, $0, size) == 0 && getsockname(socket, $0, &size) == 0
            }
        }
        #expect(isBound)
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(socket) }

    /// Answers until something is so, or 20 s are over.
    func run(until isDone: () -> Bool) {
        let deadline = MonotonicTime.now().sinceEpoch + .seconds(20)
        while !isDone(), MonotonicTime.now().sinceEpoch < deadline {
            let left = min(deadline, end.nextTimeout ?? deadline) - MonotonicTime.now().sinceEpoch
            var wait = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&wait, 1, Int32(max(0, left / .milliseconds(1))) + 1)
            let now = MonotonicTime.now().sinceEpoch
            while let datagram = receive() {
                if let answer = end.receive(datagram, now: now).answer { send(answer) }
            }
            end.security.handleTimeout(at: 0, now: now)
            flush()
        }
    }

    func flush() {
        guard end.hasPeer else { return }
        for record in end.records() { send(record) }
    }

    private func receive() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 1500)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = unsafe withUnsafeMutablePointer(to: &peer) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe recvfrom(socket, &bytes, bytes.count, 0, $0, &size)
            }
        }
        return count > 0 ? Array(bytes[..<count]) : nil
    }

    private func send(_ datagram: [UInt8]) {
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = unsafe withUnsafePointer(to: &peer) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe sendto(socket, datagram, datagram.count, 0, $0, size)
            }
        }
        #expect(count == datagram.count)
    }
}
