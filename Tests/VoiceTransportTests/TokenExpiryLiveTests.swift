import Synchronization
import Testing
import VoiceRooms

@testable import VoiceTransport

/// Tokens of a few seconds, on the wall clock.
@Suite(.timeLimit(.minutes(2)))
struct TokenExpiryLiveTests {
    @Test func aStayLastsAsLongAsTokensCome() async throws {
        // Given a server, alice whose provider makes two tokens, and bob with one; each is good for 16 s with the leeway
        struct NoToken: Error {}
        let server = try LoopbackServer()
        defer { server.server.stop() }
        let grants = TokenGrants(identity: "alice", room: "kitchen")
        let asked = Mutex(0)
        let endpoint = try RoomEndpoint(url: server.url) {
            let round = asked.withLock { asked in
                asked += 1
                return asked
            }
            guard round <= 2 else { throw NoToken() }
            return try LoopbackServer.token(grants, from: -60, until: 6)
        }
        let bob = try LoopbackParticipant(
            url: server.url,
            token: try LoopbackServer.token(TokenGrants(identity: "bob", room: "kitchen"), from: -60, until: 6))
        let alice = try LoopbackParticipant(endpoint)
        try await alice.join()
        try await bob.join()
        // When time passes
        let isAsk = { (event: RoomClientEvent) -> Bool? in event == .room(.tokenExpiring) ? true : nil }
        #expect(await alice.next(isAsk) == true)
        // Then bob is out with his token
        #expect(await bob.nextEnd() == .session(.removed(.tokenExpired)))
        // And alice is still there to be asked for her third, as only the second can have done, and out without it
        #expect(await alice.next(isAsk) == true)
        #expect(await alice.nextEnd() == .session(.removed(.tokenExpired)))
        #expect(asked.withLock { $0 } == 3)
    }
}
