import Testing
import VoicePeers

@testable import VoiceTransport

@Suite("A client of DTLS")
struct DTLSIdentityTests {
    /// What becomes of a handshake with a server.
    private func states(
        _ identity: ServerIdentity, _ trust: ServerTrust
    ) throws -> (client: PeerSecurityState, server: PeerSecurityState) {
        let server = DTLSEnd.server(identity)
        let client = try DTLSEnd.client(trust)
        exchange(client, server)
        return (client.state, server.state)
    }

    @Test("takes the one certificate that it has pinned, of whatever host and time")
    func pinned() throws {
        let expired = TestIdentity.make(["elsewhere.example"], notBefore: 0, lifetime: 1)
        for identity in [TestIdentity.localhost.identity, expired.identity] {
            let (client, server) = try states(identity, .fingerprint(identity.fingerprint))
            #expect(client == .open && server == .open)
        }
        let (client, server) = try states(
            TestIdentity.localhost.identity, .fingerprint(TestIdentity.other.identity.fingerprint))
        #expect(client == .closed(.identityRefused(.otherFingerprint)))
        // And the server learns that it was refused.
        #expect(server == .closed(.handshakeFailed))
    }

    @Test("takes a certificate of an authority for its host, and says why it takes no other")
    func authorities() throws {
        let future = TestIdentity.make(["localhost"], notBefore: 4_000_000_000)
        let expired = TestIdentity.make(["localhost"], notBefore: 1_600_000_000, lifetime: 1)
        let (localhost, other) = (TestIdentity.localhost, TestIdentity.other)
        // A self-signed certificate is its own authority.
        let folder = try TestFolder()
        let file = try folder.write("all.pem", localhost.text + other.text + expired.text + future.text)
        for (identity, host, expected) in [
            (localhost, "localhost", PeerSecurityState.open), (localhost, "127.0.0.1", .open),
            (localhost, "LOCALHOST", .open),
            (localhost, "voice.example", .closed(.identityRefused(.otherHost))),
            (localhost, "127.0.0.2", .closed(.identityRefused(.otherHost))),
            (localhost, "::1", .closed(.identityRefused(.otherHost))),
            (other, "127.0.0.1", .closed(.identityRefused(.otherHost))),
            (expired, "localhost", .closed(.identityRefused(.outOfDate))),
            (future, "localhost", .closed(.identityRefused(.outOfDate))),
        ] {
            let (client, server) = try states(identity.identity, .authorities(host: host, file: file))
            #expect(client == expected, "\(host)")
            #expect(server == (expected == .open ? .open : .closed(.handshakeFailed)))
        }
        let others = try folder.write("others.pem", other.text)
        let (stranger, _) = try states(localhost.identity, .authorities(host: "localhost", file: others))
        #expect(stranger == .closed(.identityRefused(.untrusted)))
        // The system's authorities have not signed it either.
        let (client, _) = try states(localhost.identity, .authorities(host: "localhost"))
        #expect(client == .closed(.identityRefused(.untrusted)))
    }

    @Test("needs authorities that can be read and a host that is one")
    func unusable() throws {
        #expect(throws: ServerTrustError.authoritiesUnreadable(file: "/nowhere.pem")) {
            _ = try DTLSSecurity(trusting: .authorities(host: "a.example", file: "/nowhere.pem")).state(at: 0)
        }
        let file = try TestFolder().write("nonsense.pem", [1, 2, 3])
        #expect(throws: ServerTrustError.authoritiesUnreadable(file: file)) {
            _ = try DTLSSecurity(trusting: .authorities(host: "a.example", file: file)).state(at: 0)
        }
        #expect(throws: ServerTrustError.invalidHost("")) {
            _ = try DTLSSecurity(trusting: .authorities(host: "")).state(at: 0)
        }
    }

    @Test("sees the certificate that the server has when it comes")
    func renewed() throws {
        let (old, new) = (TestIdentity.localhost.identity, TestIdentity.other.identity)
        let server = DTLSEnd.server(old)
        let first = try DTLSEnd.client(.fingerprint(old.fingerprint))
        exchange(first, server)
        // When
        server.security.serve(new)
        // Then who is there stays
        #expect(first.send([1]))
        exchange(first, server)
        #expect(server.controls() == [[1]])
        // And who comes gets the new one
        server.leave()
        let second = try DTLSEnd.client(.fingerprint(new.fingerprint))
        exchange(second, server)
        #expect(second.state == .open && server.state == .open)
    }

    @Test("is shown a long chain of certificates in records that no path has to fragment")
    func longChain() throws {
        // Given 5 kB of certificates: what an authority gives, and more
        var text = TestIdentity.localhost.text
        for _ in 0..<9 { text += TestIdentity.other.text }
        let identity = try ServerIdentity(certificates: text, key: text, place: ("test", "test"))
        #expect(identity.fingerprint == TestIdentity.localhost.identity.fingerprint)
        // When
        let server = DTLSEnd.server(identity)
        let client = try DTLSEnd.client(.fingerprint(identity.fingerprint))
        var sizes: [Int] = []
        exchange(client, server) { sizes.append($0.count) }
        // Then
        #expect(client.state == .open && server.state == .open)
        #expect(sizes.reduce(0, +) > 4500)
        #expect(sizes.allSatisfy { $0 <= 1200 }, "\(sizes)")
    }
}
