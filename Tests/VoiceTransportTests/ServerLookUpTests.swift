import Testing
import VoicePeers

@testable import VoiceTransport

@Suite("Looking a server's name up again")
struct ServerLookUpTests {
    @Test("is for names: a numeric address stays what it is", arguments: ["127.0.0.1", "::1", "localhost"])
    func numeric(host: String) {
        let lookUp = ServerLookUp(of: host, port: 1, mayReach: { _ in true })
        #expect(lookUp == nil)
        let named = ServerLookUp(of: "server.example", port: 1, mayReach: { _ in true })
        #expect(named != nil)
    }

    @Test("leads plaintext no further than it was allowed to go at first")
    func plaintext() throws {
        let here = try #require(EndpointAddress(numeric: "127.0.0.1", port: 1))
        let elsewhere = try #require(EndpointAddress(numeric: "192.0.2.1", port: 1))
        let plain = try RoomEndpoint(url: "udp://server.example:1", token: "")
        let configuration = RoomClientConfiguration()
        #expect(RoomClientStart.mayReach([here], of: plain, configuration))
        #expect(!RoomClientStart.mayReach([here, elsewhere], of: plain, configuration))
        #expect(RoomClientStart.mayReach([elsewhere], of: plain, RoomClientConfiguration(allowPlaintext: true)))
        let protected = try RoomEndpoint(url: "duplex://server.example", token: "")
        #expect(RoomClientStart.mayReach([elsewhere], of: protected, configuration))
    }
}
