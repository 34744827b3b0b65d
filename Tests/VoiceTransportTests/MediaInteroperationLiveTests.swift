import Foundation
import Glibc
import TestCases
import Testing
import VoicePeers
import VoiceRealtime
import VoiceWire

@testable import VoiceTransport

private let openssl = "/usr/bin/openssl"
private let ffmpeg = "/usr/bin/ffmpeg"
private let gstreamer = "/usr/bin/gst-launch-1.0"

/// Whether gst-launch is here with this element; looked for once, since gst-inspect takes its time.
private let hasGStreamerSRTP: Bool = {
    let inspected = try? TestProgram.run("/usr/bin/gst-inspect-1.0", ["--exists", "srtpdec"])
    return inspected?.status == 0 && FileManager.default.isExecutableFile(atPath: gstreamer)
}()

/// Keys by one program, decoding by another, with an SRTP of its own: nothing of ours but the packets.
@Suite("What we protect is decoded by others, with the keys that openssl exports", .serialized, .timeLimit(.minutes(2)))
struct MediaInteroperationLiveTests {
    /// A path whose client is s_client, which tells the keys (RFC 5764 section 4.2).
    private final class Path {
        let server: LoopbackDTLSServer
        /// The server's key and salt.
        let key: [UInt8]
        private let client: TestProgram
        private let socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        private var random = SeededNumbers(seed: 1)
        /// No roll-over, which nobody could know who comes later.
        private var number: UInt16 = 0
        /// The payloads that were sent, one behind the other, and the reports.
        private(set) var sent: [UInt8] = []
        private(set) var reports: [UInt8] = []

        init(_ profile: SRTPProfile) throws {
            server = try LoopbackDTLSServer()
            let count = profile.keyingMaterialLength
            client = try TestProgram(
                openssl,
                [
                    "s_client", "-dtls1_2", "-connect", "127.0.0.1:\(server.port)", "-alpn", "duplex-room/1",
                    "-use_srtp", profile.openSSLName, "-mtu", "1200", "-keymatexport", "EXTRACTOR-dtls_srtp",
                    "-keymatexportlen", "\(count)",
                ], limit: .seconds(110), input: .written, errors: .withOutput)
            client.write("hello\n")
            let server = server
            server.run { !server.end.controls().isEmpty }
            try #require(server.end.state == .open)
            var said = ""
            while said.firstMatch(of: /Keying material: ([0-9A-F]+)\n/) == nil {
                let more = try #require(client.nextOutput(), "\(said)")
                said += String(decoding: more, as: UTF8.self)
            }
            let digits = try #require(said.firstMatch(of: /Keying material: ([0-9A-F]+)\n/)).output.1
            try #require(digits.count == 2 * count)
            let material = stride(from: 0, to: 2 * count, by: 2).compactMap {
                UInt8(digits.dropFirst($0).prefix(2), radix: 16)
            }
            let (keys, salt) = (2 * profile.keyLength, profile.saltLength)
            key = Array(material[profile.keyLength..<keys] + material[(keys + salt)..<(keys + 2 * salt)])
        }

        deinit { close(socket) }

        /// Sends 20 ms of mu-law as the server, and a report to the next port.
        func send(to port: UInt16, source: UInt32) throws {
            let payload = (0..<160).map { _ in UInt8(random.below(256)) }
            number &+= 1
            var packet: [UInt8] = [0x80, 0, UInt8(number >> 8), UInt8(number & 0xFF)]
            packet += words([UInt32(sent.count), source]) + payload
            sent += payload
            try protect(packet, .sound, to: port)
            // A receiver report without a block, and a name (RFC 3550 section 6.1)
            let report = words([0x80C9_0001, source, 0x81CA_0002, source, 0x0102_6162])
            reports += report
            try protect(report, .report, to: port + 1)
        }

        private func words(_ words: [UInt32]) -> [UInt8] {
            words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
        }

        private func protect(_ clear: [UInt8], _ kind: MediaKind, to port: UInt16) throws {
            var packet = clear + [UInt8](repeating: 0, count: DTLSSecurity.mediaOverhead)
            var room = packet.mutableSpan
            let length = try #require(server.end.security.protect(&room, count: clear.count, kind, at: 0))
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let size = socklen_t(MemoryLayout<sockaddr_in>.size)
            _ = unsafe withUnsafePointer(to: &address) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe sendto(socket, packet, length, 0, $0, size)
                }
            }
        }
    }

    /// Of this process alone, as far as nobody else takes it.
    private let port = 20_000 + UInt16(getpid() % 20_000) * 2

    /// Runs a decoder and sends to it until it has ended or `isDone`, for a minute at most; returns what it says.
    private func decode(
        _ program: String, _ arguments: [String], _ path: Path, until isDone: () -> Bool
    ) throws -> String {
        let decoder = try TestProgram(program, arguments, errors: .withOutput)
        while decoder.isRunning, !isDone() {
            try path.send(to: port, source: 0xCAFE)
            _ = poll(nil, 0, 20)
        }
        // GStreamer does not end for less; and the ports are to be free for the next.
        decoder.signal(SIGKILL)
        return decoder.wait().text
    }

    private func bytes(_ file: String) -> [UInt8] { (try? [UInt8](Data(contentsOf: URL(filePath: file)))) ?? [] }

    @Test(
        "by ffmpeg",
        .enabled(
            if: [openssl, ffmpeg].allSatisfy { FileManager.default.isExecutableFile(atPath: $0) },
            "needs the programs openssl and ffmpeg"))
    func ffmpegDecodes() throws {
        // Given
        let folder = try TestFolder()
        let path = try Path(.aes128CounterHMACSHA1)
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
                a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:\(Data(path.key).base64EncodedString())

                """.utf8))
        let heard = folder.path + "/heard.ul"
        // When
        let said = try decode(
            ffmpeg,
            [
                "-nostdin", "-loglevel", "error", "-protocol_whitelist", "file,udp,rtp,srtp,crypto",
                "-analyzeduration", "0", "-probesize", "32", "-i", description, "-t", "0.5", "-c", "copy", "-f",
                "mulaw", heard,
            ], path, until: { false })
        // Then it has heard half a second of it, each byte
        #expect(bytes(heard).count >= 4_000, "\(said)")
        #expect(path.sent.firstRange(of: bytes(heard)) != nil)
    }

    @Test(
        "by GStreamer's srtpdec, sound and reports",
        .enabled(
            if: hasGStreamerSRTP && FileManager.default.isExecutableFile(atPath: openssl),
            "needs the program openssl, and gstreamer1.0-tools with srtpdec of gstreamer1.0-plugins-bad"),
        arguments: SRTPProfile.allCases)
    func gstreamerDecodes(profile: SRTPProfile) throws {
        // Given
        let folder = try TestFolder()
        let path = try Path(profile)
        let (cipher, authentication) =
            profile == .aeadAES128GCM ? ("aes-128-gcm", "null") : ("aes-128-icm", "hmac-sha1-80")
        let key = path.key.map { (($0 < 16) ? "0" : "") + String($0, radix: 16) }.joined()
        let keys =
            "ssrc=(uint)51966,srtp-key=(buffer)\(key),"
            + ["srtp", "srtcp"].map { "\($0)-cipher=(string)\(cipher),\($0)-auth=(string)\(authentication)" }
            .joined(separator: ",")
        let (heard, told) = (folder.path + "/heard.ul", folder.path + "/reports")
        let sound = "media=audio,clock-rate=8000,encoding-name=PCMU,payload=0"
        let pipeline = """
            udpsrc address=127.0.0.1 port=\(port) caps=application/x-srtp,\(sound),\(keys) ! srtpdec name=decoder
            decoder.rtp_src ! rtppcmudepay ! filesink buffer-mode=unbuffered location=\(heard)
            udpsrc address=127.0.0.1 port=\(port + 1) caps=application/x-srtcp,\(keys) ! decoder.rtcp_sink
            decoder.rtcp_src ! filesink buffer-mode=unbuffered async=false location=\(told)
            """
        // When
        let said = try decode(gstreamer, ["-q"] + pipeline.split { $0.isWhitespace }.map(String.init), path) {
            bytes(heard).count >= 4_000 && bytes(told).count >= 400
        }
        // Then it has heard half a second of it, and read the reports, each byte
        #expect(bytes(heard).count >= 4_000, "\(said)")
        #expect(path.sent.firstRange(of: bytes(heard)) != nil)
        #expect(bytes(told).count >= 400)
        #expect(path.reports.starts(with: bytes(told)))
    }
}
