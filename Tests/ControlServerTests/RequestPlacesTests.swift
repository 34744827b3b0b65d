import ControlAPI
import Testing
import VoiceWeb

@testable import ControlServer

@Suite("The places of a control server's clients")
struct RequestPlacesTests {
    @Test("clients that take all they get leave some to the next, and what is let go is free again")
    func shares() throws {
        let places = RequestPlaces()
        func takeAll(_ client: String) -> [RequestPlace] {
            var taken: [RequestPlace] = []
            while let place = try? places.take(client) { taken.append(place) }
            return taken
        }
        var held = (1...4).map { takeAll("client \($0)") }
        #expect(held.map(\.count) == [24, 20, 10, 5])
        #expect(held.reduce(0) { $0 + $1.count } < StreamServer.connectionLimit)
        _ = try places.take("another")
        // Whoever is refused is told what it has, not what somebody else would get
        do throws(ControlError) {
            _ = try places.take("client 2")
            Issue.record("a place more than others leave")
        } catch {
            #expect(
                error.message
                    == "this client has 20 requests and WebSockets under way, and may have no more at present")
        }
        held.removeFirst()
        _ = try places.take("client 2")
    }
}
