import Testing
import VoicePeers
import VoiceRooms

@testable import VoiceTransport

@Suite("Media that the system does not take", .timeLimit(.minutes(2)))
struct UnsentMediaLiveTests {
    @Test("is not counted as sent, neither its packets nor its bytes")
    func counts() async throws {
        // Given alice, whose way to the server goes through a relay
        let server = try LoopbackServer()
        defer { server.server.stop() }
        let address = try #require(EndpointAddress(numeric: server.host, port: server.port))
        let relay = try #require(Relay(to: address))
        let alice = try LoopbackParticipant(
            url: "udp://127.0.0.1:\(relay.port)",
            token: LoopbackServer.token(TokenGrants(identity: "alice", room: "kitchen")))
        try await alice.join()
        // When the relay is gone, so that the system tells with one packet that nobody has taken the one before
        try await relay.stop()
        let packet = alice.packet(0, payload: [1, 2, 3])
        let isRefused = try await eventually {
            for _ in 0..<100 { _ = alice.send(packet) }
            return alice.client.statistics.packetsNotSent > 0
        }
        #expect(isRefused)
        alice.client.stop()
        // Then those alone are counted that went out
        let statistics = alice.client.statistics
        #expect(statistics.packetsSent > 0)
        #expect(statistics.bytesSent == statistics.packetsSent * packet.count)
    }
}
