import Testing
import VoicePeers
import VoiceRooms

@testable import VoiceTransport

@Suite("A server that listens on all addresses answers from the one that it was asked at", .timeLimit(.minutes(2)))
struct ServerAddressLiveTests {
    /// A server on all addresses of a family, with DTLS or without.
    private func server(on all: String, protectedFrom folder: TestFolder?) throws -> (RoomServer, UInt16) {
        let server = RoomServer(
            configuration: RoomServerConfiguration(
                host: all,
                security: folder.map { .protected(.kept(directory: $0.path + "/state", names: ["x"])) } ?? .plaintext,
                allowPlaintext: folder == nil),
            verifier: TokenVerifier(keys: [try testKey()]))
        return (server, try server.start())
    }

    private func participant(
        _ name: String, at host: String, of server: RoomServer, _ port: UInt16
    ) throws -> LoopbackParticipant {
        let url = server.fingerprint.map { RoomEndpoint.url(host: host, port: port, fingerprint: $0) }
        return try LoopbackParticipant(
            url: url ?? "udp://\(host.contains(":") ? "[\(host)]" : host):\(port)",
            token: LoopbackServer.token(TokenGrants(identity: name, room: "kitchen")))
    }

    @Test(
        "of IPv4, and of IPv6 with mapped ones, with DTLS and without",
        arguments: [("0.0.0.0", true), ("0.0.0.0", false), ("::", true), ("::", false)])
    func addresses(all: String, isProtected: Bool) async throws {
        // Given a server on all addresses, and members who came to it by three of them
        let folder = try TestFolder()
        let (server, port) = try server(on: all, protectedFrom: isProtected ? folder : nil)
        defer { server.stop() }
        let hosts = ["127.0.0.1", "127.0.0.2", "127.77.0.9"] + (all == "::" ? ["::1"] : [])
        var members: [LoopbackParticipant] = []
        for (index, host) in hosts.enumerated() {
            let member = try participant("member \(index)", at: host, of: server, port)
            try await member.join()
            members.append(member)
        }
        // When each speaks
        for round in 0..<5 as Range<UInt16> {
            for speaker in members {
                let packet = speaker.packet(round, payload: [1, 2, 3, UInt8(round)])
                #expect(speaker.send(packet))
                // Then all others hear it, each from the address that it knows the server by
                for listener in members where listener !== speaker {
                    #expect(try #require(try await listener.receive(), "\(all) \(round)").0 == packet)
                }
            }
        }
        for member in members { member.client.stop() }
        server.stop()
        #expect(server.statistics.packetsForwarded == 5 * members.count * (members.count - 1))
    }
}
