import CLinuxRealtime
import Foundation
import Glibc
import Synchronization
import TestCases
import Testing
import VoicePeers
import VoiceRealtime
import VoiceRooms

@testable import VoiceTransport

@Suite(.timeLimit(.minutes(2)))
struct LoopbackLiveTests {
    @Test func twoClientsHearEachOtherThroughTheServer() async throws {
        // Given alice and bob in a room
        let server = try LoopbackServer()
        defer { server.server.stop() }
        let alice = try await server.joined("alice")
        let bob = try await server.joined("bob")
        #expect(bob.roster.entries.map(\.identity) == ["alice", "bob"])
        // When alice speaks, in packets of several lengths
        let start = MonotonicTime.now()
        for sequence in 0..<200 as Range<UInt16> {
            let packet = alice.packet(sequence, payload: [UInt8](repeating: UInt8(sequence), count: Int(sequence) * 6))
            #expect(alice.send(packet))
            // Then bob gets each of them as it was, stamped with its arrival
            let (bytes, tag) = try #require(try await bob.receive(), "packet \(sequence)")
            #expect(bytes == packet)
            #expect(tag.time >= start && tag.time <= .now())
        }
        // And bob is heard by alice
        let answer = bob.packet(7, payload: [1, 2, 3])
        #expect(bob.send(answer))
        #expect(try #require(try await alice.receive()).0 == answer)
        // And so it is counted
        #expect(alice.client.statistics.packetsSent == 200)
        alice.client.stop()
        bob.client.stop()
        server.server.stop()
        #expect(bob.client.statistics.packetsReceived == 200)
        #expect(server.server.statistics.packetsReceived == 201)
        #expect(server.server.statistics.packetsForwarded == 201)
        #expect(alice.client.end == .stopped)
    }

    @Test func copiesAreTakenOutForWhoeverDoesNotTakeThem() async throws {
        // Given alice, bob who takes packets that repeat earlier ones, and carol who does not
        let server = try LoopbackServer()
        defer { server.server.stop() }
        let alice = try await server.joined("alice")
        let bob = try await server.joined("bob")
        let carol = try await server.joined(
            "carol", configuration: RoomClientConfiguration(capabilities: [.publish, .subscribe, .autoSubscribe]))
        for sequence in 0..<40 as Range<UInt16> {
            // When she sends a packet with a copy of two bytes and a primary block of three (RFC 2198 section 3)
            let blocks: [UInt8] = [0x80 | 111, 15, 0, 2, 111, 1, 2, 7, 8, 9]
            var packet = alice.packet(sequence, payload: blocks)
            packet[1] = 112
            #expect(alice.send(packet))
            // Then bob gets it whole, and carol the primary block as ordinary Opus
            #expect(try #require(try await bob.receive()).0 == packet)
            #expect(try #require(try await carol.receive()).0 == alice.packet(sequence, payload: [7, 8, 9]))
        }
        // And a report goes to both, also carol's to alice
        let report: [UInt8] = [0x80, 201, 0, 1]
        #expect(carol.send(report + carol.packet(0, payload: [])[8..<12]))
        #expect(try #require(try await alice.receive()).0.starts(with: report))
        // And what is not as it should be goes to nobody who would not understand it
        var broken = alice.packet(99, payload: [0x80 | 111, 15, 0, 200, 111])
        broken[1] = 112
        #expect(alice.send(broken))
        #expect(alice.send(alice.packet(100, payload: [1])))
        #expect(try #require(try await carol.receive()).0 == alice.packet(100, payload: [1]))
    }

    private func speak(
        _ sequences: Range<UInt16>, from speaker: LoopbackParticipant, to listener: LoopbackParticipant
    ) async throws {
        for sequence in sequences {
            #expect(speaker.send(speaker.packet(sequence, payload: [UInt8](repeating: 1, count: 80))))
            _ = try #require(try await listener.receive(), "packet \(sequence)")
        }
    }

    @Test(.enabled(if: dv_thread_allocations() >= 0, "needs the allocation counter"))
    func mediaAllocatesNothing() async throws {
        let server = try LoopbackServer()
        defer { server.server.stop() }
        let alice = try await server.joined("alice")
        let bob = try await server.joined("bob")
        // When they are warm: the runtime makes its tables at the first use of a type
        try await speak(0..<50, from: alice, to: bob)
        let isWarm = try await eventually {
            alice.client.statistics.packetsSent >= 50 && bob.client.statistics.packetsReceived >= 50
                && server.server.statistics.packetsForwarded >= 50
        }
        #expect(isWarm)
        let warm = (alice.client.statistics, bob.client.statistics, server.server.statistics)
        // Then no packet costs an allocation
        try await speak(50..<300, from: alice, to: bob)
        alice.client.stop()
        bob.client.stop()
        server.server.stop()
        #expect(alice.client.statistics.mediaAllocations == warm.0.mediaAllocations)
        #expect(bob.client.statistics.mediaAllocations == warm.1.mediaAllocations)
        #expect(server.server.statistics.mediaAllocations == warm.2.mediaAllocations)
        #expect(server.server.statistics.packetsForwarded == 300)
    }

    @Test(
        arguments: [
            (TokenGrants(identity: "eve", room: "kitchen"), -120, -60, "", .expired),
            (TokenGrants(identity: "eve", room: "kitchen"), 1000, 2000, "", .notYetValid),
            (TokenGrants(identity: "eve", room: "kitchen"), -10, 1000, "cellar", .wrongRoom),
            (TokenGrants(identity: "eve", room: "kitchen", canJoin: false), -10, 1000, "", .noJoinRight),
            (TokenGrants(identity: "", room: "kitchen"), -10, 1000, "", .malformed),
        ] as [(TokenGrants, Int64, Int64, String, RoomRefusal)])
    func aRefusalReachesTheClient(
        grants: TokenGrants, from: Int64, until: Int64, room: String, refusal: RoomRefusal
    ) async throws {
        let server = try LoopbackServer()
        defer { server.server.stop() }
        let eve = try LoopbackParticipant(
            url: server.url, token: LoopbackServer.token(grants, from: from, until: until),
            configuration: RoomClientConfiguration(room: room))
        let end = await eve.nextEnd()
        #expect(end == .session(.refused(refusal, serverVersions: RoomProtocol.versions)))
    }

    @Test(
        arguments: [("otherSecret", .badSignature), ("none", .badSignature), ("", .malformed)]
            as [(String, RoomRefusal)])
    func aForgedTokenIsRefused(name: String, refusal: RoomRefusal) async throws {
        let server = try LoopbackServer()
        defer { server.server.stop() }
        let eve = try LoopbackParticipant(url: server.url, token: foreignTokens[name] ?? "nonsense")
        let end = await eve.nextEnd()
        #expect(end == .session(.refused(refusal, serverVersions: RoomProtocol.versions)))
        // And the server says from where the join came
        var events = server.server.events.makeAsyncIterator()
        let event = await events.next()
        guard case .refused(_, let told, _, let address?)? = event else {
            Issue.record("\(String(describing: event))")
            return
        }
        #expect(told == refusal && address.hasPrefix("127."), "\(address)")
    }

    @Test func withoutTheRightToPublishOneListens() async throws {
        let server = try LoopbackServer()
        defer { server.server.stop() }
        let alice = try await server.joined("alice")
        let eve = try LoopbackParticipant(
            url: server.url,
            token: LoopbackServer.token(TokenGrants(identity: "eve", room: "kitchen", canPublish: false)))
        try await eve.join()
        let stream = try #require(eve.grant?.streams.first)
        try eve.client.publish(stream)
        let refusal = await eve.next { event -> RoomRefusal? in
            if case .room(.requestRefused(.publish, _, let refusal)) = event { refusal } else { nil }
        }
        #expect(refusal == .noPublishRight)
        // What she sends all the same is not forwarded; what alice sends is.
        #expect(eve.send(eve.packet(1, payload: [9])))
        let packet = alice.packet(1, payload: [1])
        #expect(alice.send(packet))
        #expect(try #require(try await eve.receive()).0 == packet)
    }

    @Test func messagesAndInterruptionsArrive() async throws {
        let server = try LoopbackServer()
        defer { server.server.stop() }
        let alice = try await server.joined(
            "alice", configuration: RoomClientConfiguration(interruptibleBy: .anyone))
        let bob = try await server.joined("bob")
        let sender = try #require(bob.grant?.participant)
        let stream = try #require(alice.grant?.streams.first?.stream)
        try bob.client.send(Array("hello".utf8))
        let message = await alice.next { event -> [UInt8]? in
            if case .room(.message(sender, nil, _, let bytes)) = event { bytes } else { nil }
        }
        #expect(message == Array("hello".utf8))
        // Only now: an interruption does not wait behind messages.
        try bob.client.interrupt(stream)
        let generation = await alice.next { event -> UInt32? in
            if case .room(.interrupted(sender, stream, let generation)) = event { generation } else { nil }
        }
        #expect(generation == 1)
        try bob.client.leave()
        #expect(await bob.nextEnd() == .session(.left(acknowledged: true)))
    }

    @Test func aKilledServerIsNoticedAndItsSuccessorJoined() async throws {
        // Given alice at a server with short keepalives: silence of 3 s is a break
        let directory = RoomDirectoryConfiguration(keepaliveInterval: .seconds(1))
        let first = try LoopbackServer(directory: directory)
        let alice = try first.participant("alice")
        try await alice.join()
        // When it says something more, and is killed
        let before = MonotonicTime.now()
        let grant = try #require(alice.grant)
        first.server.setMuted(true, stream: grant.streams[0].stream)
        _ = await alice.next { if case .room(.muteChanged) = $0 { true } else { nil } }
        first.server.kill()
        // Then she is told, not before it was silent for its time
        let told = await alice.next { $0 == .room(.reconnecting) ? true : nil }
        #expect(told == true)
        #expect(MonotonicTime.now().sinceEpoch - before.sinceEpoch >= .seconds(3))
        // When another starts in its place
        let second = try LoopbackServer(replacing: first, directory: directory)
        defer { second.server.stop() }
        // Then she joins it
        let next = await alice.next { event -> JoinGrant? in
            if case .room(.reconnected(let grant, _)) = event { grant } else { nil }
        }
        #expect(try #require(next).resumed == false)
    }

    @Test func everyAttemptToComeBackHasASocketOfItsOwn() async throws {
        // Given alice at a server that is killed
        let directory = RoomDirectoryConfiguration(keepaliveInterval: .milliseconds(500))
        let first = try LoopbackServer(directory: directory)
        let alice = try first.participant("alice")
        try await alice.join()
        first.server.kill()
        // When she has tried to come back several times in vain
        let hasTried = try await eventually { alice.client.statistics.socketsOpened >= 3 }
        try #require(hasTried, "within a minute alice has not tried to come back three times")
        // Then the next attempt finds the server's successor
        let second = try LoopbackServer(replacing: first, directory: directory)
        defer { second.server.stop() }
        let isBack = await alice.next { if case .room(.reconnected) = $0 { true } else { nil } }
        #expect(isBack == true)
    }

    @Test func aRestartedServerIsJoinedAgainWithAFreshToken() async throws {
        // Given alice, whose tokens come from a provider and expire at once
        let first = try LoopbackServer()
        let asked = Mutex(0)
        let rotated = [UInt8](repeating: 9, count: TokenKey.minimumSecretSize)
        let endpoint = try RoomEndpoint(url: first.url) {
            let round = asked.withLock { asked in
                asked += 1
                return asked
            }
            // The first is valid until the server is replaced by one with another key
            let grants = TokenGrants(identity: "alice", room: "kitchen")
            return try LoopbackServer.token(grants, key: round == 1 ? testKey() : testKey("key", rotated))
        }
        let alice = try LoopbackParticipant(endpoint)
        try await alice.join()
        // When the server restarts, with another key
        first.server.stop(restarting: true)
        let second = try LoopbackServer(replacing: first, key: testKey("key", rotated))
        defer { second.server.stop() }
        // Then she comes back with a new token
        let grant = await alice.next { event -> JoinGrant? in
            if case .room(.reconnected(let grant, _)) = event { grant } else { nil }
        }
        #expect(try #require(grant).resumed == false)
        #expect(asked.withLock { $0 } == 2)
    }

    @Test func withoutATokenThereIsNoJoin() async throws {
        struct NoToken: Error {}
        let server = try LoopbackServer()
        defer { server.server.stop() }
        let alice = try LoopbackParticipant(try RoomEndpoint(url: server.url) { throw NoToken() })
        #expect(await alice.nextEnd() == .tokenUnavailable)
        let bob = try LoopbackParticipant(
            try RoomEndpoint(url: server.url) { String(repeating: "x", count: RoomProtocol.tokenLimit + 1) })
        #expect(await bob.nextEnd() == .tokenUnavailable)
        // And who leaves while the provider thinks is out at once, and so is who stops
        let carol = try LoopbackParticipant(
            try RoomEndpoint(url: server.url) {
                try await Task.sleep(for: .seconds(600))
                return ""
            })
        try carol.client.leave()
        #expect(await carol.nextEnd() == .session(.left(acknowledged: false)))
    }

    @Test func aStoppedServerSaysSo() async throws {
        let server = try LoopbackServer()
        let alice = try await server.joined("alice")
        server.server.stop()
        #expect(await alice.nextEnd() == .session(.removed(.serverShuttingDown)))
    }

    @Test func anUnknownHostIsATypedError() async throws {
        // .invalid never exists (RFC 6761 section 6.4). Without a name server nobody can say so.
        let alice = try LoopbackParticipant(
            url: "udp://nowhere.invalid:7000", token: "",
            configuration: RoomClientConfiguration(resolutionTimeout: .seconds(2)))
        let end = await alice.nextEnd()
        let name = "nowhere.invalid"
        #expect(end == .unknownHost(name) || end == .nameServiceUnavailable(name))
    }

    @Test func aNameIsResolved() async throws {
        let server = try LoopbackServer()
        defer { server.server.stop() }
        let token = try LoopbackServer.token(TokenGrants(identity: "alice", room: "kitchen"))
        let alice = try LoopbackParticipant(url: "udp://localhost:\(server.port)", token: token)
        // localhost may be ::1 first, where this server does not listen; what counts is that it is an address.
        try alice.client.leave()
        let end = await alice.nextEnd()
        #expect(end == .session(.left(acknowledged: true)) || end == .session(.left(acknowledged: false)))
    }

    @Test func plaintextStaysOnLoopback() async throws {
        let alice = try LoopbackParticipant(url: "udp://192.0.2.1:7000", token: "")
        #expect(await alice.nextEnd() == .plaintextRefused("192.0.2.1"))
        for host in ["0.0.0.0", "192.0.2.1", "::"] {
            let server = RoomServer(
                configuration: RoomServerConfiguration(host: host), verifier: TokenVerifier(keys: []))
            #expect(throws: RoomServerError.plaintextRefused(host)) { try server.start() }
        }
        let allowed = RoomServer(
            configuration: RoomServerConfiguration(host: "0.0.0.0", allowPlaintext: true),
            verifier: TokenVerifier(keys: []))
        #expect(try allowed.start() > 0)
        #expect(throws: RoomServerError.alreadyStarted) { try allowed.start() }
        allowed.stop()
    }

    @Test func aSecondStartChangesNothing() throws {
        // Given a server at a port of its own choice, whose certificate is another by now
        let folder = try TestFolder()
        let free = try LoopbackServer()
        free.server.stop()
        let server = RoomServer(
            configuration: RoomServerConfiguration(
                host: free.host, port: free.port,
                security: .protected(.kept(directory: folder.path + "/state", names: ["x"]))),
            verifier: TokenVerifier(keys: []))
        #expect(try server.start() == free.port)
        defer { server.stop() }
        let fingerprint = server.fingerprint
        try FileManager.default.removeItem(atPath: folder.path + "/state")
        // Then it is told that it runs, and shows what it showed
        #expect(throws: RoomServerError.alreadyStarted) { try server.start() }
        #expect(server.fingerprint == fingerprint)
    }

    @Test func whoLeavesIsNotKeptByANameThatIsBeingLookedUp() throws {
        let (ended, wake) = (try WakeSignal(), try WakeSignal())
        let end = Mutex<RoomClientEnd?>(nil)
        let thread = try RealtimeThread(name: "looks-up", priority: 0) { stop in
            do throws(RoomClientEnd) {
                _ = try HostResolution.addresses(
                    of: "duplexvoice.invalid", port: 1, timeout: .seconds(60), wake: wake, stop: stop,
                    isToLeave: { true })
            } catch {
                end.withLock { $0 = error }
            }
            ended.signal()
        }
        #expect(ended.wait(timeout: .seconds(30)))
        thread.stop()
        #expect(end.withLock { $0 } == .session(.left(acknowledged: false)))
    }

    @Test func oneLookUpGoesOnAtATimeAndOneThatFailsChangesNothing() throws {
        let poll = try NetworkPoll()
        let lookUp = try #require(ServerLookUp(of: "duplexvoice.invalid", port: 1, mayReach: { _ in false }))
        // Given one that has begun
        let isBegun = lookUp.begin(poll)
        #expect(isBegun)
        // Then there is no second one
        let isTwofold = lookUp.begin(poll)
        #expect(!isTwofold)
        // When it has ended in nothing, then the next may begin
        let ready = poll.wait(until: MonotonicTime.now().sinceEpoch + .seconds(60))
        #expect(ready == .lookUp)
        let found = lookUp.take(poll)
        #expect(found == nil)
        let isNext = lookUp.begin(poll)
        #expect(isNext)
    }

    @Test func aServerSaysWhyItDoesNotStart() throws {
        let first = try LoopbackServer()
        defer { first.server.stop() }
        #expect(throws: RoomServerError.portInUse(first.port)) { try LoopbackServer(replacing: first) }
        for (host, error) in [
            ("nowhere", RoomServerError.invalidAddress("nowhere")), ("", .invalidAddress("")),
            ("192.0.2.1", .addressNotAvailable("192.0.2.1")),
        ] {
            let server = RoomServer(
                configuration: RoomServerConfiguration(host: host, allowPlaintext: true),
                verifier: TokenVerifier(keys: []))
            #expect(throws: error) { try server.start() }
        }
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func aServerWithstandsHostileDatagrams(seed: UInt64) async throws {
        // Given alice and bob, and a stranger
        let server = try LoopbackServer()
        defer { server.server.stop() }
        let alice = try await server.joined("alice")
        let bob = try await server.joined("bob")
        let address = try #require(EndpointAddress(numeric: server.host, port: server.port))
        var remote = address.system
        let socket = unsafe dv_udp_open(nil, &remote, 1 << 16)
        defer { dv_udp_close(socket) }
        // When the stranger sends noise of every kind, alice's SSRC among it
        var random = SeededNumbers(seed: seed)
        for round in 0..<2000 as Range<UInt16> {
            var noise = (0..<random.below(round % 50 == 0 ? 3000 : 200)).map { _ in UInt8(random.below(256)) }
            if random.below(2) == 0 { noise = [13, 1] + noise }
            if random.below(4) == 0 { noise = alice.packet(round, payload: noise) }
            _ = unsafe noise.withUnsafeBytes { unsafe Glibc.send(socket, $0.baseAddress, $0.count, 0) }
            // Then alice is heard, and nobody else
            guard round % 20 == 0 else { continue }
            let packet = alice.packet(round, payload: [42])
            #expect(alice.send(packet))
            #expect(try #require(try await bob.receive(), "seed \(seed)").0 == packet, "seed \(seed)")
        }
        let statistics = server.server.statistics
        #expect(statistics.unknownDatagrams > 1000)
        #expect(statistics.packetsNotPublished == 0 && statistics.rejectedControlDatagrams == 0)
        #expect(statistics.participants == 2)
    }

    @Test func anOperatorMutesAndRemoves() async throws {
        let server = try LoopbackServer()
        defer { server.server.stop() }
        let alice = try await server.joined("alice")
        let grant = try #require(alice.grant)
        server.server.setMuted(true, stream: grant.streams[0].stream)
        let muted = await alice.next {
            $0 == .room(.muteChanged(grant.participant, grant.streams[0].stream, .byServer)) ? true : nil
        }
        #expect(muted == true)
        server.server.remove(grant.participant)
        #expect(await alice.nextEnd() == .session(.removed(.removedByServer)))
    }
}
