internal import Foundation
internal import Glibc
internal import Synchronization
internal import VoiceRealtime

/// An HTTP server that answers each request by a script, and keeps what it was sent: one connection after the other.
package final class ScriptedChatServer: Sendable {
    package let port: UInt16
    private let listener: Int32
    private let asked: Requests
    private let thread: RealtimeThread

    private final class Requests: Sendable {
        let all = Mutex<[Request]>([])
    }

    package struct Request: Sendable {
        package var head: String
        package var body: [UInt8]
    }

    /// What it was sent.
    package var requests: [Request] { asked.all.withLock { $0 } }

    /// - Parameter script: writes the answer to the request of this number; what it returned from is closed.
    package init(_ script: @escaping @Sendable (ScriptedConnection, Int) -> Void) throws {
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
        let asked = Requests()
        self.asked = asked
        self.port = port
        self.listener = listener
        thread = try RealtimeThread(name: "chat-server", priority: 0) { _ in
            while case let accepted = accept(listener, nil, nil), accepted >= 0 {
                let connection = ScriptedConnection(descriptor: accepted)
                if let request = connection.readRequest() {
                    let number = asked.all.withLock { requests in
                        requests.append(request)
                        return requests.count
                    }
                    script(connection, number)
                }
                close(accepted)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }
}

/// A connection of a ``ScriptedChatServer``.
package struct ScriptedConnection: Sendable {
    let descriptor: Int32

    /// False where the peer has gone.
    @discardableResult
    package func write(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
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

    /// Whether the peer has closed, within so many seconds.
    package func isClosed(within seconds: Int) -> Bool {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var byte: UInt8 = 0
        return unsafe poll(&wanted, 1, Int32(seconds * 1_000)) > 0 && recv(descriptor, &byte, 1, 0) <= 0
    }

    /// The start of an answer whose body ends with the connection.
    package func begin(status: String = "200 OK", type: String = "text/event-stream") {
        write("HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\nConnection: close\r\n\r\n")
    }

    /// A piece of a streamed answer.
    @discardableResult
    package func say(_ text: String) -> Bool {
        write(
            "data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\(text)\"}}]}\n\n"
        )
    }

    fileprivate func readRequest() -> ScriptedChatServer.Request? {
        var bytes: [UInt8] = []
        while bytes.count < 1 << 20 {
            let text = String(decoding: bytes, as: UTF8.self)
            if let head = text.range(of: "\r\n\r\n") {
                let lines = text[..<head.lowerBound].lowercased().split(separator: "\r\n")
                let length = lines.first { $0.hasPrefix("content-length:") }.flatMap {
                    Int($0.dropFirst(15).drop { $0 == " " })
                }
                let body = Array(text[head.upperBound...].utf8)
                if body.count >= length ?? 0 {
                    return ScriptedChatServer.Request(head: String(text[..<head.lowerBound]), body: body)
                }
            }
            var piece = [UInt8](repeating: 0, count: 4_096)
            let count = unsafe piece.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { return nil }
            bytes += piece.prefix(count)
        }
        return nil
    }
}
