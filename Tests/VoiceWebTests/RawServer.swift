import COpenSSL
import Foundation
import Glibc
import VoiceRealtime

/// A server that accepts one connection after the other, answers the WebSocket's opening, and then writes whatever its
/// script says.
final class RawServer: Sendable {
    let port: UInt16
    private let listener: Int32
    private let thread: RealtimeThread

    /// - Parameter script: writes to the connection; what it returned from is closed.
    init(_ script: @escaping @Sendable (RawConnection) -> Void) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = unsafe withUnsafeMutableBytes(of: &address) { bytes -> UInt16? in
            guard let place = unsafe bytes.assumingMemoryBound(to: sockaddr.self).baseAddress,
                unsafe bind(listener, place, size) == 0, listen(listener, 8) == 0
            else { return nil }
            var size = size
            guard unsafe getsockname(listener, place, &size) == 0 else { return nil }
            return unsafe bytes.assumingMemoryBound(to: sockaddr_in.self).baseAddress?.pointee.sin_port.bigEndian
        }
        guard let port else { throw POSIXError(.EADDRINUSE) }
        self.port = port
        self.listener = listener
        thread = try RealtimeThread(name: "raw-server", priority: 0) { _ in
            while case let accepted = accept(listener, nil, nil), accepted >= 0 {
                let connection = RawConnection(accepted)
                if connection.answerOpening() { script(connection) }
                close(accepted)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }
}

/// One connection of a ``RawServer``.
struct RawConnection {
    let descriptor: Int32

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        // A client that has gone is a failed write, not a signal.
        signal(SIGPIPE, SIG_IGN)
    }

    /// A connection to a server on this machine, from 127.0.0.`host`.
    init(port: UInt16, host: UInt32 = 1) throws {
        self.init(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        func address(_ host: UInt32, _ port: UInt16) -> sockaddr_in {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = (UInt32(0x7F00_0000) + host).bigEndian
            return address
        }
        var (here, there) = (address(host, 0), address(1, port))
        let isConnected = unsafe withUnsafeBytes(of: &here) { here in
            unsafe withUnsafeBytes(of: &there) { there in
                unsafe bind(descriptor, here.assumingMemoryBound(to: sockaddr.self).baseAddress, size) == 0
                    && connect(descriptor, there.assumingMemoryBound(to: sockaddr.self).baseAddress, size) == 0
            }
        }
        guard isConnected else { throw POSIXError(.ECONNREFUSED) }
    }

    /// False where the peer has gone.
    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes[done...].withUnsafeBytes {
                unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    func read() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        return Array(bytes.prefix(max(0, count)))
    }

    /// Waits until the peer has closed.
    func waitForEnd() { while !read().isEmpty {} }

    /// The opening handshake (RFC 6455, section 4.2.2).
    fileprivate func answerOpening() -> Bool {
        var request: [UInt8] = []
        while !String(decoding: request, as: UTF8.self).contains("\r\n\r\n") {
            let more = read()
            guard !more.isEmpty, request.count < 10_000 else { return false }
            request += more
        }
        let lines = String(decoding: request, as: UTF8.self).components(separatedBy: "\r\n")
        guard
            let line = lines.first(where: { $0.lowercased().hasPrefix("sec-websocket-key:") }),
            let key = line.split(separator: ":").last?.trimmingCharacters(in: .whitespaces)
        else { return false }
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        unsafe text.withUnsafeBufferPointer { text in
            unsafe digest.withUnsafeMutableBufferPointer {
                _ = unsafe SHA1(text.baseAddress, text.count, $0.baseAddress)
            }
        }
        let accept = Data(digest).base64EncodedString()
        return write(
            Array(
                ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    + "Sec-WebSocket-Accept: \(accept)\r\n\r\n").utf8))
    }

    /// A frame's header: an unmasked text frame (opcode 1), or what continues one (0).
    func header(length: UInt64, opcode: UInt8 = 1, isFinal: Bool = true) -> [UInt8] {
        let first = (isFinal ? 0x80 : 0) | opcode
        if length < 126 { return [first, UInt8(length)] }
        return [first, 127] + (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * $0)) }
    }
}
