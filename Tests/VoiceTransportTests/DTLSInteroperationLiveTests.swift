import Foundation
import Glibc
import Testing
import VoicePeers
import VoiceRealtime

@testable import VoiceTransport

private let program = "/usr/bin/openssl"
private let ffmpeg = "/usr/bin/ffmpeg"

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

    /// Keys by one program, decoding by another, with an SRTP of its own: nothing of ours but the packets.
    @Test(
        "what we protect is heard by ffmpeg, with the keys that openssl exports",
        .enabled(
            if: [program, ffmpeg].allSatisfy { FileManager.default.isExecutableFile(atPath: $0) },
            "needs the programs openssl and ffmpeg"))
    func media() throws {
        // Given a handshake with s_client, which tells the keys (RFC 5764 section 4.2)
        let folder = try TestFolder()
        let server = try Server()
        let client = Process()
        client.executableURL = URL(filePath: program)
        client.arguments = [
            "s_client", "-dtls1_2", "-connect", "127.0.0.1:\(server.port)", "-alpn", "duplex-room/1", "-use_srtp",
            "SRTP_AES128_CM_SHA1_80", "-mtu", "1200", "-keymatexport", "EXTRACTOR-dtls_srtp", "-keymatexportlen", "60",
        ]
        let (input, output) = (Pipe(), Pipe())
        client.standardInput = input
        client.standardOutput = output
        client.standardError = FileHandle.nullDevice
        try client.run()
        defer { if client.isRunning { client.terminate() } }
        try input.fileHandleForWriting.write(contentsOf: Data("hello\n".utf8))
        server.run { !server.end.controls().isEmpty }
        try #require(server.end.state == .open)
        var said = ""
        while !said.contains(/Keying material: [0-9A-F]{120}/) {
            let more = output.fileHandleForReading.availableData
            try #require(!more.isEmpty, "\(said)")
            said += String(decoding: more, as: UTF8.self)
        }
        let digits = try #require(said.firstMatch(of: /Keying material: ([0-9A-F]{120})/)).output.1
        let material = stride(from: 0, to: 120, by: 2).compactMap { UInt8(digits.dropFirst($0).prefix(2), radix: 16) }
        // The server's key and salt
        let key = Data(material[16..<32] + material[46..<60]).base64EncodedString()

        // When ffmpeg listens with them, and we send mu-law as the server
        let listener = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(listener) }
        let port = 20_000 + UInt16(getpid() % 20_000) * 2
        let description = try folder.write(
            "call.sdp",
            Array(
                """
                v=0
                o=- 0 0 IN IP4 127.0.0.1
                s=-
                c=IN IP4 127.0.0.1
                t=0 0
                m=audio \(port) RTP/SAVP 0
                a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:\(key)

                """.utf8))
        let heard = folder.path + "/heard.ul"
        let decoder = Process()
        decoder.executableURL = URL(filePath: ffmpeg)
        decoder.arguments = [
            "-nostdin", "-loglevel", "error", "-protocol_whitelist", "file,udp,rtp,srtp,crypto", "-analyzeduration",
            "0", "-probesize", "32", "-i", description, "-t", "0.5", "-c", "copy", "-f", "mulaw", heard,
        ]
        try decoder.run()
        defer { if decoder.isRunning { decoder.terminate() } }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var (sent, random): ([UInt8], SplitMix) = ([], SplitMix(state: 1))
        // No roll-over, which nobody could know who comes later.
        var number: UInt16 = 1
        let deadline = MonotonicTime.now().sinceEpoch + .seconds(60)
        while decoder.isRunning, MonotonicTime.now().sinceEpoch < deadline {
            let payload = (0..<160).map { _ in UInt8(random.below(256)) }
            sent += payload
            let time = UInt32(sent.count)
            var packet: [UInt8] = [0x80, 0, UInt8(number >> 8), UInt8(number & 0xFF)]
            for word in [time, 0xCAFE] { packet += (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
            number &+= 1
            let count = packet.count + payload.count
            packet += payload + [UInt8](repeating: 0, count: DTLSSecurity.mediaOverhead)
            var room = packet.mutableSpan
            let length = try #require(server.end.security.protect(&room, count: count, .sound, at: 0))
            #expect(length == count + 10)
            let size = socklen_t(MemoryLayout<sockaddr_in>.size)
            _ = unsafe withUnsafePointer(to: &address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe sendto(listener, packet, length, 0, $0, size)
                }
            }
            _ = poll(nil, 0, 20)
        }
        // Then it has heard half a second of it, each byte
        let bytes = try [UInt8](Data(contentsOf: URL(filePath: heard)))
        #expect(bytes.count >= 4_000)
        #expect(sent.firstRange(of: bytes) != nil)
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
