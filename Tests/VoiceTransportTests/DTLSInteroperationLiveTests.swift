import Foundation
import Glibc
import Testing
import VoicePeers
import VoiceRealtime

@testable import VoiceTransport

private let program = "/usr/bin/openssl"

/// The program `openssl` over UDP: none of our code at the other end.
@Suite("DTLS with openssl s_client", .timeLimit(.minutes(2)))
struct DTLSInteroperationLiveTests {
    /// A server on loopback for one peer.
    private final class Server {
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

    @Test(
        "completes the handshake, is heard and told goodbye",
        .enabled(if: FileManager.default.isExecutableFile(atPath: program), "needs the program openssl"),
        arguments: ["SRTP_AEAD_AES_128_GCM", "SRTP_AES128_CM_SHA1_80"])
    func client(profile: String) throws {
        // Given
        let server = try Server()
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = [
            "s_client", "-dtls1_2", "-connect", "127.0.0.1:\(server.port)", "-alpn", "duplex-room/1", "-use_srtp",
            profile,
            "-mtu", "1200",
        ]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        defer { if process.isRunning { process.terminate() } }
        // When it speaks as soon as it can
        try input.fileHandleForWriting.write(contentsOf: Data("hello\n".utf8))
        var heard: [[UInt8]] = []
        server.run {
            heard += server.end.controls()
            return !heard.isEmpty
        }
        // Then
        #expect(heard == [Array("hello\n".utf8)])
        #expect(server.end.state == .open)
        // And when we speak and say goodbye
        #expect(server.end.send(Array("hello to you\n".utf8)))
        server.flush()
        server.end.security.close(0)
        server.flush()
        let said = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(said.contains("hello to you"))
        #expect(said.contains("ALPN protocol: duplex-room/1"))
        #expect(said.contains("SRTP Extension negotiated, profile=\(profile)"))
        #expect(said.contains("Protocol  : DTLSv1.2"), "\(said)")
    }

    /// Runs the program in a folder; it must succeed.
    private func run(_ arguments: String, in folder: TestFolder) throws {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments.split(separator: " ").map(String.init)
        process.currentDirectoryURL = URL(filePath: folder.path)
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(arguments)")
    }

    @Test(
        "an authority's chain is taken, with the certificate between, and without it not",
        .enabled(if: FileManager.default.isExecutableFile(atPath: program), "needs the program openssl"),
        arguments: ["ec -pkeyopt ec_paramgen_curve:P-256", "rsa:2048"])
    func chain(kind: String) throws {
        // Given a root that has signed an authority that has signed a server
        let folder = try TestFolder()
        let key = "-newkey \(kind) -nodes"
        try run("req -x509 \(key) -keyout root.key -out root.pem -days 9 -subj /CN=root", in: folder)
        _ = try folder.write("authority.ext", Array("basicConstraints=critical,CA:TRUE\n".utf8))
        _ = try folder.write("server.ext", Array("subjectAltName=DNS:voice.example,DNS:*.voice.example\n".utf8))
        for (name, issuer) in [("authority", "root"), ("server", "authority")] {
            try run("req \(key) -keyout \(name).key -out \(name).csr -subj /CN=\(name)", in: folder)
            try run(
                "x509 -req -in \(name).csr -CA \(issuer).pem -CAkey \(issuer).key -CAcreateserial -out \(name).pem "
                    + "-days 9 -extfile \(name).ext", in: folder)
        }
        let (leaf, between) = (try folder.read("server.pem"), try folder.read("authority.pem"))
        let whole = try folder.write("whole.pem", leaf + between)
        let alone = try folder.write("alone.pem", leaf)
        let keyFile = try folder.write("key.pem", try folder.read("server.key"))
        // When it is called by its name, by others, and without the certificate between
        for (certificates, host, expected) in [
            (whole, "voice.example", PeerSecurityState.open), (whole, "a.voice.example", .open),
            (whole, "b.a.voice.example", .closed(.identityRefused(.otherHost))),
            (whole, "server", .closed(.identityRefused(.otherHost))),
            (alone, "voice.example", .closed(.identityRefused(.untrusted))),
        ] {
            let identity = try ServerIdentitySource.files(certificates: certificates, key: keyFile).load()
            let server = DTLSEnd.server(identity)
            let client = try DTLSEnd.client(.authorities(host: host, file: folder.path + "/root.pem"))
            exchange(client, server)
            // Then
            #expect(client.state == expected, "\(host)")
        }
    }
}
