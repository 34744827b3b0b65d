import Testing
import VoicePeers

@testable import VoiceTransport

/// Handshakes through memory that loses nothing: OpenSSL's timers, which run in real time, have nothing to do.
@Suite("A DTLS handshake")
struct DTLSHandshakeTests {
    private let identity = TestIdentity.localhost.identity

    @Test("opens both ends, who have the same keys, and control passes with its borders")
    func opens() throws {
        // Given
        let server = DTLSEnd.server(identity)
        let client = try DTLSEnd.client(.fingerprint(identity.fingerprint))
        #expect(client.state == .opening)
        // When
        var longest = 0
        exchange(client, server) { longest = max(longest, $0.count) }
        // Then
        #expect(client.state == .open)
        #expect(server.state == .open)
        #expect(server.answered == 1)
        #expect(longest <= 1200)
        #expect(client.security.nextTimeout(at: 0) == nil)
        #expect(server.security.nextTimeout(at: 0) == nil)
        // And datagrams of all lengths arrive as they were, in order, both ways
        for count in [1, 2, 100, 1199, 1200] {
            let datagram = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            for (from, to) in [(client, server), (server, client)] {
                #expect(from.send(datagram))
                #expect(from.send([1, 2, 3]))
                for record in from.records() {
                    #expect(record.count <= 1200 + 37)
                    #expect(to.receive(record).isTaken)
                }
                #expect(to.controls() == [datagram, [1, 2, 3]])
            }
        }
        #expect(!client.send([]))
        #expect(!client.send([UInt8](repeating: 0, count: 1201)))
        #expect(client.state == .open)
    }
}
