import Foundation
import TestCases
import Testing
import VoicePeers

@testable import VoiceTransport

private let program = "/usr/bin/openssl"

/// The program `openssl` over UDP: none of our code at the other end.
@Suite("DTLS with openssl s_client", .timeLimit(.minutes(2)))
struct DTLSInteroperationLiveTests {
    @Test(
        "completes the handshake, is heard and told goodbye",
        .enabled(if: FileManager.default.isExecutableFile(atPath: program), "needs the program openssl"),
        arguments: ["SRTP_AEAD_AES_128_GCM", "SRTP_AES128_CM_SHA1_80"])
    func client(profile: String) throws {
        // Given
        let server = try LoopbackDTLSServer()
        let client = try TestProgram(
            program,
            [
                "s_client", "-dtls1_2", "-connect", "127.0.0.1:\(server.port)", "-alpn", "duplex-room/1", "-use_srtp",
                profile, "-mtu", "1200",
            ], input: .written, errors: .withOutput)
        // When it speaks as soon as it can
        client.write("hello\n")
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
        let said = client.wait().text
        #expect(said.contains("hello to you"))
        #expect(said.contains("ALPN protocol: duplex-room/1"))
        #expect(said.contains("SRTP Extension negotiated, profile=\(profile)"))
        #expect(said.contains("Protocol  : DTLSv1.2"), "\(said)")
    }

    /// Runs the program in a folder; it must succeed.
    private func run(_ arguments: String, in folder: TestFolder) throws {
        let ended = try TestProgram.run(program, arguments.split(separator: " ").map(String.init), in: folder.path)
        #expect(ended.status == 0, "\(arguments): \(ended.complaint)")
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
