import COpenSSL
import Foundation
import Synchronization
import TestCases
import Testing

@testable import VoiceWeb

@Suite("WebSockets over loopback", .serialized, .timeLimit(.minutes(2)))
struct WebSocketLiveTests {
    private static func request(_ url: String) throws -> WebSocketRequest {
        WebSocketRequest(try #require(WebAddress(url)))
    }

    /// How a connection ends, after the messages that it brings.
    private static func end(of client: WebSocketClient) async -> (messages: Int, WebSocketFailure?) {
        var messages = 0
        while let event = await client.link.next() {
            switch event {
            case .opened: break
            case .message: messages += 1
            case .ended(let failure): return (messages, failure)
            }
        }
        return (messages, nil)
    }

    /// A server that says back what it is told.
    private static func echo(
        certificate: String? = nil, privateKey: String? = nil
    ) throws -> WebSocketServer {
        try WebSocketServer(interface: "127.0.0.1", port: 0, certificate: certificate, privateKey: privateKey) { link in
            Task {
                while let event = await link.next() {
                    if case .message(let message) = event { link.send(message) }
                }
            }
        }
    }

    @Test("messages of all sizes go there and back in order, and closing is no failure")
    func echo() async throws {
        let server = try Self.echo()
        let client = try WebSocketClient(try Self.request("ws://127.0.0.1:\(server.port)/path?q"))
        #expect(await client.link.next() == .opened)
        let messages = [0, 1, 125, 126, 65_535, 65_536, 300_000, 7].map { count in
            [UInt8](repeating: UInt8(ascii: "a") + UInt8(count % 26), count: count)
        }
        // An empty one is not told from none.
        for message in messages.dropFirst() { #expect(client.link.send(message)) }
        for message in messages.dropFirst() { #expect(await client.link.next() == .message(message)) }
        client.link.close()
        #expect(await client.link.next() == .ended(nil))
        #expect(await client.link.next() == nil)
        #expect(!client.link.send([1]))
    }

    @Test("a server with a key takes those who bring it; one without takes no page of another host")
    func keys() async throws {
        let keyed = try WebSocketServer(interface: "127.0.0.1", port: 0, key: "sk-1") { _ in }
        let open = try WebSocketServer(interface: "127.0.0.1", port: 0) { _ in }
        func outcome(_ port: UInt16, _ name: String, _ value: String) async throws -> WebSocketEvent? {
            var request = try Self.request("ws://127.0.0.1:\(port)/")
            request.headers = [(name, value)]
            let client = try WebSocketClient(request)
            return await client.link.next()
        }
        #expect(try await outcome(keyed.port, "Authorization", "Bearer sk-1") == .opened)
        for wrong in ["Bearer sk-2", "Bearer sk-1 ", "Bearer sk-", "sk-1", String(repeating: "x", count: 3_000)] {
            let refused = try await outcome(keyed.port, "Authorization", wrong)
            #expect(refused == .ended(.refused(status: 401)), "\(wrong.prefix(20))")
        }
        #expect(try await outcome(keyed.port, "X-Other", "y") == .ended(.refused(status: 401)))
        #expect(try await outcome(open.port, "Origin", "http://localhost:3000") == .opened)
        for stranger in ["https://example.org", "http://localhost.example.org", "null"] {
            #expect(try await outcome(open.port, "Origin", stranger) == .ended(.refused(status: 403)), "\(stranger)")
        }
        #expect(throws: WebSocketFailure.self) {
            try WebSocketServer(interface: "127.0.0.1", port: 0, key: String(repeating: "k", count: 5_000)) { _ in }
        }
    }

    @Test("more than a slow consumer's queue holds waits at the server, and none is lost")
    func backPressure() async throws {
        let count = 400
        let message = [UInt8](repeating: 65, count: 20_000)
        var limits = WebSocketLimits()
        limits.outgoing = 10 << 20
        let server = try WebSocketServer(interface: "127.0.0.1", port: 0, limits: limits) { link in
            for _ in 0..<count { link.send(message) }
        }
        var request = try Self.request("ws://127.0.0.1:\(server.port)/")
        request.limits.incoming = 100_000
        let client = try WebSocketClient(request)
        #expect(await client.link.next() == .opened)
        while client.link.waitingBytes < request.limits.incoming { try await Task.sleep(for: .milliseconds(5)) }
        try await Task.sleep(for: .milliseconds(300))
        // What is in flight when reading stops is one message and the buffer of a fragment.
        #expect(client.link.waitingBytes <= 130_000)
        for _ in 0..<count { #expect(await client.link.next() == .message(message)) }
    }

    /// What openssl says to these arguments.
    @discardableResult
    private static func openssl(_ arguments: String...) throws -> String {
        try TestProgram.run("/usr/bin/openssl", arguments).text
    }

    /// The files of localhost's certificate and key, in a folder.
    static func makeCertificate(in folder: URL) throws -> (certificate: String, key: String) {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (certificate, key) = (folder.appending(path: "c.pem").path(), folder.appending(path: "k.pem").path())
        try openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate)
        return (certificate, key)
    }

    static var newFolder: URL {
        URL(filePath: NSTemporaryDirectory()).appending(path: "dv-web-\(UUID().uuidString)")
    }

    @Test("HTTP/2, whose WebSockets nobody upgrades, is not spoken")
    func noHTTP2() throws {
        let folder = Self.newFolder
        defer { try? FileManager.default.removeItem(at: folder) }
        let (certificate, key) = try Self.makeCertificate(in: folder)
        let server = try WebSocketServer(
            interface: "127.0.0.1", port: 0, certificate: certificate, privateKey: key, key: "sk-1"
        ) { _ in }
        let address = "127.0.0.1:\(server.port)"
        #expect(
            try Self.openssl("s_client", "-connect", address, "-alpn", "http/1.1").contains("ALPN protocol: http/1.1"))
        #expect(try !Self.openssl("s_client", "-connect", address, "-alpn", "h2").contains("ALPN protocol: h2"))
    }

    @Test("strangers who ask for a tunnel are put out, and those who say nothing keep nobody out")
    func strangers() async throws {
        let server = try WebSocketServer(interface: "127.0.0.1", port: 0, key: "sk-1") { _ in }
        let silent = try (0..<40).map { _ in try RawConnection(port: server.port) }
        let tunnels = try (0..<40).map { _ in try RawConnection(port: server.port) }
        for tunnel in tunnels { tunnel.write(Array("CONNECT / HTTP/1.1\r\nHost: x\r\n\r\n".utf8)) }
        for tunnel in tunnels { tunnel.waitForEnd() }
        var request = try Self.request("ws://127.0.0.1:\(server.port)/")
        request.headers = [("Authorization", "Bearer sk-1")]
        let client = try WebSocketClient(request)
        #expect(await client.link.next() == .opened)
        for connection in silent + tunnels { close(connection.descriptor) }
    }

    @Test("what asks for no WebSocket is answered so and put out, before it says who it is")
    func noWebSocket() throws {
        let server = try WebSocketServer(interface: "127.0.0.1", port: 0, key: "sk-1") { _ in }
        let requests = [
            "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
            // All of its body has come: no timeout would end it.
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nAuthorization: Bearer sk-1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                + "HTTP2-Settings: AAMAAABkAAQAAP__\r\nAuthorization: Bearer sk-1\r\n\r\n",
        ]
        for request in requests {
            let connection = try RawConnection(port: server.port)
            defer { close(connection.descriptor) }
            connection.write(Array(request.utf8))
            let answer = String(decoding: connection.read(), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 426 "), "\(request): \(answer)")
            connection.waitForEnd()
        }
    }

    @Test("a server whose certificate nobody signed is refused; with its authority's file it is taken")
    func certificates() async throws {
        let folder = Self.newFolder
        defer { try? FileManager.default.removeItem(at: folder) }
        let (certificate, key) = try Self.makeCertificate(in: folder)
        let server = try Self.echo(certificate: certificate, privateKey: key)
        let stranger = try WebSocketClient(try Self.request("wss://localhost:\(server.port)/"))
        let refusal = await Self.end(of: stranger).1
        guard case .untrusted? = refusal else {
            Issue.record("not refused: \(String(describing: refusal))")
            return
        }
        var known = try Self.request("wss://localhost:\(server.port)/")
        known.authorities = certificate
        let client = try WebSocketClient(known)
        #expect(await client.link.next() == .opened)
        #expect(client.link.send(Array("secret".utf8)))
        #expect(await client.link.next() == .message(Array("secret".utf8)))
        // The certificate is localhost's, not the address's.
        var other = try Self.request("wss://127.0.0.1:\(server.port)/")
        other.authorities = certificate
        let otherRefusal = await Self.end(of: try WebSocketClient(other)).1
        guard case .untrusted? = otherRefusal else {
            Issue.record("another host's certificate: \(String(describing: otherRefusal))")
            return
        }
    }

    @Test("what is made while a TLS handshake goes on elsewhere in the process does not disturb it")
    func sharedTLS() async throws {
        // Given the number by which libwebsockets keeps what is its own with OpenSSL's connections
        func nextNumber() -> Int32 {
            // For functions to be given that there are none of.
            var nothing = 0
            return unsafe CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL, 0, &nothing, nil, nil, nil)
        }
        let first = try Self.echo()
        let number = nextNumber()
        // When others are made, of every kind
        let second = try Self.echo()
        let client = try WebSocketClient(try Self.request("ws://127.0.0.1:\(second.port)/"))
        #expect(await client.link.next() == .opened)
        let address = try #require(WebAddress(http: "http://127.0.0.1:\(first.port)/"))
        let fetch = try WebFetch(WebSocketRequest(address), body: Array("{}".utf8))
        for await _ in fetch.events {}
        withExtendedLifetime((first, fetch)) {}
        // Then it has taken no other, by which handshakes under way would not find it
        #expect(nextNumber() == number + 1)
    }

    @Test("who is not there, or speaks something else, is told apart")
    func unreachable() async throws {
        let nobody = try WebSocketClient(try Self.request("ws://127.0.0.1:1/"))
        guard case .unreachable? = await Self.end(of: nobody).1 else {
            Issue.record("a closed port")
            return
        }
        let unknown = try WebSocketClient(try Self.request("ws://no-such-host.invalid/"))
        let failure = await Self.end(of: unknown).1
        switch failure {
        case .unknownHost?, .unreachable?: break
        default: Issue.record("an unknown host: \(String(describing: failure))")
        }
    }

    @Test("a frame that says it is 1 GB is refused before it comes")
    func hugeFrame() async throws {
        let server = try RawServer { connection in
            connection.write(connection.header(length: 1 << 30) + [UInt8](repeating: 65, count: 5_000))
            connection.waitForEnd()
        }
        let client = try WebSocketClient(try Self.request("ws://127.0.0.1:\(server.port)/"))
        let end = await Self.end(of: client)
        #expect(end.messages == 0)
        #expect(end.1 == .tooLarge(limit: 1 << 20))
    }

    @Test("a message that never ends is refused at the limit")
    func endlessMessage() async throws {
        let server = try RawServer { connection in
            let piece = [UInt8](repeating: UInt8(ascii: "["), count: 60_000)
            var isFirst = true
            while connection.write(
                connection.header(length: 60_000, opcode: isFirst ? 1 : 0, isFinal: false) + piece)
            { isFirst = false }
        }
        let client = try WebSocketClient(try Self.request("ws://127.0.0.1:\(server.port)/"))
        #expect(await Self.end(of: client).1 == .tooLarge(limit: 1 << 20))
    }

    @Test("a message that drips ends in time")
    func drip() async throws {
        let server = try RawServer { connection in
            connection.write(connection.header(length: 1, isFinal: false) + [65])
            while connection.write(connection.header(length: 1, opcode: 0, isFinal: false) + [65]) { usleep(100_000) }
        }
        var request = try Self.request("ws://127.0.0.1:\(server.port)/")
        request.limits.messageSeconds = 1
        let client = try WebSocketClient(request)
        #expect(await Self.end(of: client).1 == .tooSlow)
    }

    @Test("frames that are none, and binary ones, end the connection")
    func malformed() async throws {
        for (bytes, isBinary) in [([UInt8(0x8F), 1, 0], false), ([0xC1, 1, 65], false), ([0x82, 1, 7], true)] {
            let server = try RawServer { connection in
                connection.write(bytes)
                connection.waitForEnd()
            }
            let client = try WebSocketClient(try Self.request("ws://127.0.0.1:\(server.port)/"))
            let end = await Self.end(of: client)
            #expect(end.messages == 0)
            #expect(isBinary ? end.1 == .notText : end.1 != nil)
        }
    }

    @Test("a peer that reads nothing is given up when too much waits for it")
    func slowReader() async throws {
        let isOver = Mutex(false)
        let server = try RawServer { _ in for _ in 0..<2_000 where !isOver.withLock({ $0 }) { usleep(10_000) } }
        defer { isOver.withLock { $0 = true } }
        let client = try WebSocketClient(try Self.request("ws://127.0.0.1:\(server.port)/"))
        #expect(await client.link.next() == .opened)
        let message = [UInt8](repeating: 65, count: 100_000)
        var taken = 0
        while taken < 200, client.link.send(message) { taken += 1 }
        #expect(taken < 200)
        #expect(await client.link.next() == .ended(.overflow))
        withExtendedLifetime(server) {}
    }

    @Test("a client that is let go is gone, whatever it waits for")
    func letGo() async throws {
        let ends = Mutex(0)
        let server = try RawServer {
            $0.waitForEnd()
            ends.withLock { $0 += 1 }
        }
        for _ in 0..<5 {
            let client = try WebSocketClient(try Self.request("ws://127.0.0.1:\(server.port)/"))
            let waiting = Task { await client.link.next() }
            #expect(await waiting.value == .opened)
        }
        while ends.withLock({ $0 }) < 5 { try await Task.sleep(for: .milliseconds(2)) }
        withExtendedLifetime(server) {}
    }
}
