import Foundation
import Synchronization

/// A network that takes its time: carries one client's datagrams to a server on loopback and back, each so much later.
final class LongWay: Sendable {
    private struct Datagram {
        var due: ContinuousClock.Instant
        var bytes: [UInt8]
        var isForServer: Bool
    }

    /// Where the client finds the server.
    let port: UInt16
    private let delay: Duration
    /// Towards the client, and towards the server.
    private let sockets: (front: Int32, back: Int32)
    private let isStopped = Atomic(false)

    init(to server: UInt16, delay: Duration) {
        self.delay = delay
        let (front, back) = (Self.openSocket(), Self.openSocket())
        sockets = (front, back)
        var address = Self.loopback(port: 0)
        _ = unsafe Self.withPointer(to: &address) { unsafe bind(front, $0, $1) }
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = unsafe Self.withPointer(to: &address) { address, _ in unsafe getsockname(front, address, &size) }
        port = UInt16(bigEndian: address.sin_port)
        var remote = Self.loopback(port: server)
        _ = unsafe Self.withPointer(to: &remote) { unsafe connect(back, $0, $1) }
        Thread { [self] in carry() }.start()
    }

    func stop() { isStopped.store(true, ordering: .relaxed) }

    private func carry() {
        var underWay: [Datagram] = []
        var client = Self.loopback(port: 0)
        while !isStopped.load(ordering: .relaxed) {
            var all = [sockets.front, sockets.back].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let wait = underWay.first.map { $0.due - .now } ?? .milliseconds(20)
            _ = unsafe poll(&all, 2, Int32(max(0, wait / .milliseconds(1)).rounded(.up)))
            let due = ContinuousClock.now + delay
            while let bytes = receive(from: sockets.front, &client) {
                underWay.append(Datagram(due: due, bytes: bytes, isForServer: true))
            }
            var server = sockaddr_in()
            while let bytes = receive(from: sockets.back, &server) {
                underWay.append(Datagram(due: due, bytes: bytes, isForServer: false))
            }
            while let next = underWay.first, next.due <= .now {
                underWay.removeFirst()
                if next.isForServer {
                    _ = unsafe next.bytes.withUnsafeBytes { unsafe send(sockets.back, $0.baseAddress, $0.count, 0) }
                } else {
                    _ = unsafe next.bytes.withUnsafeBytes { bytes in
                        unsafe Self.withPointer(to: &client) {
                            unsafe sendto(sockets.front, bytes.baseAddress, bytes.count, 0, $0, $1)
                        }
                    }
                }
            }
        }
        close(sockets.front)
        close(sockets.back)
    }

    private func receive(from socket: Int32, _ source: inout sockaddr_in) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 2_048)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe Self.withPointer(to: &source) { address, _ in
                unsafe recvfrom(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT), address, &length)
            }
        }
        return count < 0 ? nil : Array(bytes[..<count])
    }

    private static func openSocket() -> Int32 { socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0) }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func withPointer<Result>(
        to address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        unsafe withUnsafeMutablePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
