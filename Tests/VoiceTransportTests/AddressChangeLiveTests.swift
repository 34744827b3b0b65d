import Testing
import VoicePeers
import VoiceRealtime
import VoiceRooms

@testable import VoiceTransport

@Suite("A protected stay goes on when its client's address changes", .timeLimit(.minutes(3)))
struct AddressChangeLiveTests {
    /// A protected server, alice behind a relay, subscribed to bob alone, and bob and carol beside it.
    private final class Stay {
        let folder: TestFolder
        let server: RoomServer
        let relay: Relay
        let alice: LoopbackParticipant
        let bob: LoopbackParticipant
        let carol: LoopbackParticipant
        private var sequence: UInt16 = 0
        /// Whether the machine has let this run only after a second: then what came is old, and looks like a silence.
        private(set) var hasStoodStill = false
        private var ranAt: MonotonicTime?

        init() async throws {
            folder = try TestFolder()
            server = RoomServer(
                configuration: RoomServerConfiguration(
                    security: .protected(.kept(directory: folder.path + "/state", names: ["127.0.0.1"]))),
                verifier: TokenVerifier(keys: [try testKey()]))
            let port = try server.start()
            let address = try #require(EndpointAddress(numeric: "127.0.0.1", port: port))
            relay = try #require(Relay(to: address))
            let fingerprint = try #require(server.fingerprint)
            func join(_ name: String, _ port: UInt16, _ capabilities: RoomCapabilities) async throws
                -> LoopbackParticipant
            {
                let participant = try LoopbackParticipant(
                    url: RoomEndpoint.url(host: "127.0.0.1", port: port, fingerprint: fingerprint),
                    token: LoopbackServer.token(TokenGrants(identity: name, room: "kitchen")),
                    configuration: RoomClientConfiguration(capabilities: capabilities))
                try await participant.join()
                return participant
            }
            bob = try await join("bob", port, .conversation)
            carol = try await join("carol", port, .conversation)
            alice = try await join("alice", relay.port, [.publish, .subscribe])
            let stream = try #require(bob.grant?.streams.first?.stream)
            try alice.client.subscribe(to: stream)
        }

        /// All speak until alice has heard bob, and bob alice, what was said from now on. What alice has heard of
        /// others than bob.
        func converse() async throws -> Int {
            let from = sequence &+ 1
            let source = Array(bob.packet(0, payload: [])[8..<12])
            var isHeard = (byAlice: false, byBob: false)
            var foreign = 0
            let isDone = try await eventually {
                let now = MonotonicTime.now()
                if let ranAt, now.sinceEpoch - ranAt.sinceEpoch > .seconds(1) { hasStoodStill = true }
                ranAt = now
                sequence &+= 1
                for one in [alice, bob, carol] { _ = one.send(one.packet(sequence, payload: [1, 2, 3])) }
                for packet in alice.drain() {
                    if Array(packet[8..<12]) != source {
                        foreign += 1
                    } else if Self.number(packet) >= from {
                        isHeard.byAlice = true
                    }
                }
                let own = Array(alice.packet(0, payload: [])[8..<12])
                for packet in bob.drain() where Array(packet[8..<12]) == own && Self.number(packet) >= from {
                    isHeard.byBob = true
                }
                return isHeard.byAlice && isHeard.byBob
            }
            #expect(isDone, "alice hears: \(isHeard.byAlice), bob hears: \(isHeard.byBob)")
            return foreign
        }

        private static func number(_ packet: [UInt8]) -> UInt16 { UInt16(packet[2]) << 8 | UInt16(packet[3]) }

        /// Ends it: alice's events until then.
        func end() async throws -> [RoomClientEvent] {
            try alice.client.leave()
            var events: [RoomClientEvent] = []
            _ = await alice.next { event -> Bool? in
                events.append(event)
                if case .ended = event { return true }
                return nil
            }
            server.stop()
            for one in [alice, bob, carol] { one.client.stop() }
            try await relay.stop()
            return events
        }
    }

    @Test("when a router gives it another port in the middle")
    func rebinding() async throws {
        // Given alice in a room, behind a router, who has subscribed to bob and not to carol
        let stay = try await Stay()
        #expect(try await stay.converse() == 0)
        for _ in 0..<2 {
            // When the router forgets its port
            stay.relay.rebind()
            // Then they hear each other again, and alice still nothing of carol
            #expect(try await stay.converse() == 0)
        }
        // And nobody has noticed: no break, no new socket, all of them there
        let statistics = stay.alice.client.statistics
        #expect(stay.server.statistics.participants == 3)
        let events = try await stay.end()
        if !stay.hasStoodStill {
            #expect(statistics.session.reconnections == 0)
            #expect(statistics.socketsOpened == 0)
            #expect(!events.contains(.room(.reconnecting)))
        }
        #expect(events.last == .ended(.session(.left(acknowledged: true))))
    }

    @Test("when nothing comes through its socket any more")
    func deadSocket() async throws {
        let stay = try await Stay()
        #expect(try await stay.converse() == 0)
        // When the router carries nothing of alice's port any more
        stay.relay.silencePresentPort()
        // Then she goes on through another one
        #expect(try await stay.converse() == 0)
        #expect(stay.alice.client.statistics.socketsOpened >= 1)
        #expect(stay.relay.carriedPorts >= 2)
        // And that was no break
        let reconnections = stay.alice.client.statistics.session.reconnections
        #expect(stay.server.statistics.participants == 3)
        let events = try await stay.end()
        if !stay.hasStoodStill {
            #expect(reconnections == 0)
            #expect(!events.contains(.room(.reconnecting)))
        }
        #expect(events.last == .ended(.session(.left(acknowledged: true))))
    }

    @Test("a path without protection keeps its socket, however quiet it is")
    func quietPlaintext() async throws {
        // Given somebody alone in a room, where nothing comes but an answer now and then
        let server = try LoopbackServer(directory: RoomDirectoryConfiguration(keepaliveInterval: .seconds(5)))
        defer { server.server.stop() }
        let alice = try await server.joined("alice")
        // When it stays quiet for longer than a protected one would wait
        let start = MonotonicTime.now().sinceEpoch
        #expect(try await eventually { MonotonicTime.now().sinceEpoch - start > .seconds(4) })
        // Then nothing has happened
        #expect(alice.client.statistics.socketsOpened == 0)
        #expect(alice.client.statistics.session.reconnections == 0)
        alice.client.stop()
    }
}

extension LoopbackParticipant {
    /// All that has come by now.
    fileprivate func drain() -> [[UInt8]] {
        var packets: [[UInt8]] = []
        while let packet = takeReceived() { packets.append(packet) }
        return packets
    }
}
