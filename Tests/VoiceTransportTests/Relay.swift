import CLinuxRealtime
import Foundation
import Synchronization
import VoicePeers
import VoiceRealtime

@testable import VoiceTransport

/// A router with address translation between one client and a server on loopback: the server sees a port of the router
/// for each port of the client, and the router can forget which.
final class Relay: Sendable {
    private struct State {
        /// The socket towards the server, by the client's port.
        var outward: [UInt16: Int32] = [:]
        var silenced: Set<UInt16> = []
        var lastPort: UInt16 = 0
        var isStopped = false
    }

    private static let bufferSize: Int32 = 1 << 18

    /// Where the client finds it.
    let port: UInt16
    private let front: Int32
    private let server: EndpointAddress
    private let state = Mutex(State())
    private let ended = Mutex(false)

    init?(to server: EndpointAddress) {
        guard let loopback = EndpointAddress(numeric: "127.0.0.1", port: 0) else { return nil }
        var local = loopback.system
        front = unsafe dv_udp_open(&local, nil, Self.bufferSize)
        var bound = dv_address()
        guard front >= 0, unsafe dv_udp_local(front, &bound) == 0 else { return nil }
        port = EndpointAddress(bound).port
        self.server = server
        // A thread of its own: tasks may have to wait for other tests.
        Thread { [self] in
            while carry() { waitForDatagrams() }
            ended.withLock { $0 = true }
        }.start()
    }

    /// Forgets the server's side: the client's packets leave from another port, and what comes to the former one is
    /// lost.
    func rebind() {
        state.withLock {
            for socket in $0.outward.values { dv_udp_close(socket) }
            $0.outward = [:]
        }
    }

    /// Carries nothing of the client's present port from now on, in either direction.
    func silencePresentPort() { state.withLock { _ = $0.silenced.insert($0.lastPort) } }

    /// Ports of the client that were seen and carried.
    var carriedPorts: Int { state.withLock { $0.outward.count } }

    func stop() async throws {
        state.withLock { $0.isStopped = true }
        _ = try await eventually { ended.withLock { $0 } }
        rebind()
        dv_udp_close(front)
    }

    /// Carries what is there, both ways; false when stopped.
    private func carry() -> Bool {
        state.withLock { state in
            while let (datagram, port) = receive(from: front) {
                guard !state.silenced.contains(port) else { continue }
                state.lastPort = port
                if state.outward[port] == nil {
                    var remote = server.system
                    state.outward[port] = unsafe dv_udp_open(nil, &remote, Self.bufferSize)
                }
                guard let socket = state.outward[port], socket >= 0 else { continue }
                _ = unsafe datagram.withUnsafeBytes { unsafe Foundation.send(socket, $0.baseAddress, $0.count, 0) }
            }
            for (port, socket) in state.outward {
                while let (datagram, _) = receive(from: socket) {
                    if !state.silenced.contains(port) { send(datagram, toClientAt: port) }
                }
            }
            return !state.isStopped
        }
    }

    /// Waits until there is something to carry; looks again after some time, whether it is to stop or its sockets are
    /// others.
    private func waitForDatagrams() {
        var all = ([front] + state.withLock { Array($0.outward.values) }).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        _ = unsafe poll(&all, nfds_t(all.count), 20)
    }

    /// A datagram and the port that it came from.
    private func receive(from socket: Int32) -> ([UInt8], UInt16)? {
        var bytes = [UInt8](repeating: 0, count: 2_048)
        var source = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe withUnsafeMutablePointer(to: &source) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe recvfrom(socket, buffer.baseAddress, buffer.count, 0, $0, &length)
                }
            }
        }
        return count < 0 ? nil : (Array(bytes[..<count]), UInt16(bigEndian: source.sin_port))
    }

    private func send(_ datagram: [UInt8], toClientAt port: UInt16) {
        var destination = sockaddr_in()
        destination.sin_family = sa_family_t(AF_INET)
        destination.sin_port = port.bigEndian
        destination.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        _ = unsafe datagram.withUnsafeBytes { bytes in
            unsafe withUnsafePointer(to: destination) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe sendto(
                        front, bytes.baseAddress, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
    }
}
