import Foundation
import ScriptedRealtime
import TestCases
import Testing
import VoiceDialog
import VoiceWeb

@testable import RealtimePartner

/// Why no dialog with a server began, as the connection to it ended.
@Suite("Connections that fail have codes", .serialized, .timeLimit(.minutes(1)))
struct DialogFailureLiveTests {
    /// The code of what a connection ends with.
    private static func code(_ url: String, _ change: (inout WebSocketRequest) -> Void = { _ in }) async throws
        -> String
    {
        let address = try #require(WebAddress(url))
        var request = WebSocketRequest(address)
        change(&request)
        let client = try WebSocketClient(request)
        while let event = await client.link.next() {
            if case .ended(let failure) = event {
                return DialogError(try #require(failure), address).code.rawValue
            }
        }
        return "none"
    }

    @Test("a host that nobody knows")
    func unknownHost() async throws {
        // Where no name service can be asked, it is the machine that does not answer.
        #expect(
            ["dialog.unknownHost", "dialog.unreachable"].contains(try await Self.code("ws://no-such-host.invalid/")))
    }

    @Test("a proxy that lets nobody through")
    func proxyRefused() async throws {
        let proxy = try ScriptedChatServer { connection, _ in
            connection.write("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        }
        let code = try await Self.code("ws://server.invalid/") { $0.proxy = "127.0.0.1:\(proxy.port)" }
        #expect(code == "dialog.proxyRefused")
    }

    @Test("a certificate that nobody signed")
    func untrusted() async throws {
        let folder = URL(filePath: NSTemporaryDirectory()).appending(path: "dv-untrusted-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (certificate, key) = (folder.appending(path: "c.pem").path(), folder.appending(path: "k.pem").path())
        let made = try TestProgram.run(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=localhost", "-keyout", key, "-out", certificate,
            ])
        try #require(made.status == 0, "\(made.complaint)")
        let server = try WebSocketServer(
            interface: "127.0.0.1", port: 0, certificate: certificate, privateKey: key
        ) { _ in }
        #expect(try await Self.code("wss://localhost:\(server.port)/") == "dialog.untrusted")
    }
}
