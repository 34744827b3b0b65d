import COpenSSL
import Testing
import VoicePeers

@testable import VoiceTransport

@Suite("DTLS with somebody else's end")
struct DTLSForeignTests {
    private let identity = TestIdentity.localhost

    @Test("opens where it wants what we want, and control passes")
    func agreement() throws {
        for profile in [
            "SRTP_AEAD_AES_128_GCM", "SRTP_AES128_CM_SHA1_80", "SRTP_AES128_CM_SHA1_32:SRTP_AES128_CM_SHA1_80",
        ] {
            // Given a client of ours or theirs, and the other a server
            for isServer in [true, false] {
                var wishes = ForeignDTLS.Wishes(profiles: profile)
                if isServer { wishes.identity = identity.text }
                let foreign = try ForeignDTLS(wishes)
                let ours =
                    isServer
                    ? try DTLSEnd.client(.fingerprint(identity.identity.fingerprint))
                    : DTLSEnd.server(identity.identity)
                // When
                exchange(ours, foreign)
                // Then
                #expect(ours.state == .open && foreign.isOpen, "\(profile) \(isServer)")
                #expect(ours.send([1, 2, 3]))
                foreign.send([4, 5])
                exchange(ours, foreign)
                #expect(foreign.controls == [[1, 2, 3]])
                #expect(ours.controls() == [[4, 5]])
                // And media, by the keys that OpenSSL exports over there
                let name = profile.split(separator: ":").last.map(String.init) ?? ""
                let agreed = try #require(SRTPProfile(openSSLName: name))
                let material = foreign.keyingMaterial(count: agreed.keyingMaterialLength)
                guard var theirs = SRTPSession(profile: agreed, keyingMaterial: material, isClient: !isServer) else {
                    Issue.record("no session of \(agreed)")
                    continue
                }
                let packet: [UInt8] = [0x80, 111, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4, 9, 8, 7]
                var buffer = packet + [UInt8](repeating: 0, count: DTLSSecurity.mediaOverhead)
                var room = buffer.mutableSpan
                let count = try #require(ours.security.protect(&room, count: packet.count, .sound, at: 0))
                #expect(count == packet.count + agreed.overhead(.sound))
                #expect(room[12] != 9 || room[13] != 8 || room[14] != 7)
                #expect(theirs.unprotect(&room, count: count, .sound) == packet.count)
                #expect(Array(buffer[..<packet.count]) == packet)
                room = buffer.mutableSpan
                let back = try #require(theirs.protect(&room, count: packet.count, .sound))
                #expect(ours.security.unprotect(&room, count: back, .sound, at: 0) == packet.count)
                #expect(Array(buffer[..<packet.count]) == packet)
                // Goodbye
                foreign.close()
                exchange(ours, foreign)
                #expect(ours.state == .closed(.byPeer))
                #expect(foreign.isClosed)
                #expect(!ours.send([1]))
            }
        }
    }

    private static let strangers: [(String, ForeignDTLS.Wishes)] = [
        ("no protocol", ForeignDTLS.Wishes(protocols: [])),
        ("no profile", ForeignDTLS.Wishes(profiles: nil)),
        ("another profile", ForeignDTLS.Wishes(profiles: "SRTP_AES128_CM_SHA1_32")),
        ("no extended master secret", ForeignDTLS.Wishes(options: 1)),
    ]

    @Test("fails where a client wants something else, and it learns of it")
    func clients() throws {
        let onlyClients: [(String, ForeignDTLS.Wishes)] = [
            ("another protocol", ForeignDTLS.Wishes(protocols: ["webrtc"])),
            ("no authenticated encryption", ForeignDTLS.Wishes(suites: "ECDHE-ECDSA-AES128-SHA256")),
            ("no forward secrecy", ForeignDTLS.Wishes(suites: "AES128-GCM-SHA256")),
        ]
        for (name, wishes) in Self.strangers + onlyClients {
            let foreign = try ForeignDTLS(wishes)
            let server = DTLSEnd.server(identity.identity)
            exchange(server, foreign)
            #expect(server.state == .closed(.handshakeFailed), "\(name)")
            #expect(foreign.isClosed, "\(name)")
            #expect(!server.send([1]))
        }
        // One of another version is none at all: nothing is answered.
        let old = try ForeignDTLS(ForeignDTLS.Wishes(isVersion12: false))
        let server = DTLSEnd.server(identity.identity)
        let hello = old.records()
        #expect(!hello.isEmpty)
        for record in hello {
            let (isTaken, answer) = server.receive(record)
            #expect(!isTaken && answer == nil)
        }
    }

    @Test("fails where a server wants something else")
    func servers() throws {
        for (name, wishes) in Self.strangers {
            var wishes = wishes
            wishes.identity = identity.text
            let foreign = try ForeignDTLS(wishes)
            let client = try DTLSEnd.client(.fingerprint(identity.identity.fingerprint))
            exchange(client, foreign)
            #expect(client.state == .closed(.handshakeFailed), "\(name)")
            #expect(!client.send([1]))
        }
    }

    @Test("is never negotiated again")
    func renegotiation() throws {
        let foreign = try ForeignDTLS()
        let server = DTLSEnd.server(identity.identity)
        exchange(server, foreign)
        #expect(server.state == .open)
        foreign.renegotiate()
        exchange(server, foreign)
        #expect(server.controls().isEmpty)
        // Ours says that it will not, and OpenSSL's client goes for that.
        #expect(server.state == .closed(.byPeer))
    }
}
