import TestCases
import Testing
import VoiceSimulation

@testable import VoicePeers

@Suite("A table of peers")
struct PeerTableTests {
    // MARK: Opening

    @Test("opens a path in two round trips, and carries control and media both ways")
    func opening() throws {
        // Given 20 ms each way
        let network = try PeerNetwork()
        let (client, peer) = try network.connect()
        network.run(for: .milliseconds(59))
        #expect(network.server.count == 0)
        // Then the server has a peer after three ways, the client after four
        network.run(for: .milliseconds(1))
        let guest = try #require(network.server.opened.first)
        #expect(network.server.isOpen(guest))
        #expect(network.server.address(of: guest) == client.address)
        network.run(for: .milliseconds(19))
        #expect(!client.isOpen(peer))
        network.run(for: .milliseconds(1))
        #expect(client.isOpen(peer))
        #expect(client.events == [.opened(peer)])
        #expect(network.server.events == [.opened(guest)])

        #expect(client.send([1, 2, 3], to: peer))
        #expect(network.server.send([4], to: guest))
        network.post(
            try #require(client.protect(RawRecord.sound, for: peer)), from: client.address, to: network.server.address)
        network.run(for: .milliseconds(20))
        #expect(network.server.controls == [[1, 2, 3]])
        #expect(client.controls == [[4]])
        #expect(network.server.media == [RawRecord.sound])
    }

    @Test("opens within the handshake's time where 30 % is lost, some doubled and all reordered")
    func storm() throws {
        for seed in cases(1...1_000 as ClosedRange<UInt64>) {
            let network = try PeerNetwork(seed: seed, .stormy)
            let (client, peer) = try network.connect()
            network.run(for: PeerTimers.handshake)
            // Of fifty hellos two must have their answer, which each of them has with 0.7 * 0.7: one in 10^12 has not.
            #expect(client.events == [.opened(peer)], "seed \(seed)")
            #expect(!network.server.opened.isEmpty, "seed \(seed)")
            // One address is one peer, however often it asked.
            #expect(network.server.count <= 1, "seed \(seed)")
            #expect(network.server.opened.count <= 1, "seed \(seed)")
        }
    }

    @Test("gives up after the handshake's time, and has asked five times a second until then")
    func handshakeTimeout() throws {
        // Given a server that never answers
        let network = try PeerNetwork()
        network.isServerSilent = true
        let (client, peer) = try network.connect()
        let start = network.now
        network.run(for: PeerTimers.handshake - .milliseconds(1))
        #expect(client.events.isEmpty)
        network.run(for: .milliseconds(1))
        #expect(client.events == [.closed(peer, .handshakeTimedOut)])
        #expect(client.count == 0)
        #expect(client.nextTimeout == nil)
        let times = network.sent.filter { $0.source == client.address }.map { $0.sentAt - start }
        #expect(times == (0..<50).map { PeerTimers.retransmission * $0 })
    }

    @Test("answers another question for a cookie, and so many at once and no more")
    func questions() throws {
        // Given a client that has said hello
        let client = PeerEnd.client(1)
        let server = PeerEnd.server()
        _ = try #require(client.connect(to: server.address, now: .seconds(1)))
        let hello = try #require(client.transmissions().first).bytes
        let nonce = hello[2..<10].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        // When somebody asks for another cookie each time
        var hellos: [[UInt8]] = []
        for number in 1...100 as ClosedRange<UInt8> {
            let question = RawRecord.retry(nonce, cookie: [UInt8](repeating: number, count: 16))
            client.take(question, from: server.address, now: .seconds(1))
            hellos += client.transmissions().map(\.bytes)
        }
        // Then so many are answered, each with its cookie
        #expect(
            hellos
                == (1...UInt8(PeerLimits.cookieAnswers)).map {
                    RawRecord.hello(nonce, cookie: [UInt8](repeating: $0, count: 16))
                })
        // And the next repetition brings the last one
        client.handleTimeout(now: .seconds(1) + PeerTimers.retransmission)
        let repeated = client.transmissions().map(\.bytes)
        #expect(repeated == [RawRecord.hello(nonce, cookie: [UInt8](repeating: 100, count: 16))])
    }

    @Test("passes neither control nor media before a path is open")
    func early() throws {
        let client = PeerEnd.client(1)
        let server = PeerEnd.server()
        let peer = try #require(client.connect(to: server.address, now: .seconds(1)))
        #expect(!client.send([1], to: peer))
        #expect(client.protect(RawRecord.sound, for: peer) == nil)
        #expect(client.take(RawRecord.sound, from: server.address, now: .seconds(1)).outcome == .dropped(.stranger))
        let hello = try #require(client.transmissions().first).bytes
        let nonce = hello[2..<10].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let early = client.take(RawRecord.control(nonce, [1]), from: server.address, now: .seconds(1))
        #expect(early.outcome == .dropped(.stranger))
        #expect(client.controls.isEmpty)
    }

    // MARK: Closing

    @Test("closes a path by the goodbye of either side", arguments: [true, false])
    func goodbye(byClient: Bool) throws {
        let network = try PeerNetwork()
        let (client, peer) = try network.connect()
        network.run(for: .seconds(1))
        let guest = try #require(network.server.opened.first)
        if byClient { client.close(peer) } else { network.server.close(guest) }
        network.run(for: .milliseconds(20))
        let (told, closed) = byClient ? (network.server, guest) : (client, peer)
        #expect(told.events.last == .closed(closed, .byPeer))
        #expect(client.count == 0)
        #expect(network.server.count == 0)
    }

    @Test("takes no goodbye of another conversation")
    func forgedGoodbye() {
        let server = PeerEnd.server()
        _ = server.admit(.of(1), nonce: 7, now: .seconds(1))
        #expect(server.take(RawRecord.goodbye(8), from: .of(1), now: .seconds(1)).outcome == .dropped(.notGenuine))
        #expect(server.take(RawRecord.goodbye(7), from: .of(2), now: .seconds(1)).outcome != .consumed)
        #expect(server.count == 1)
        #expect(server.take(RawRecord.goodbye(7), from: .of(1), now: .seconds(1)).outcome == .consumed)
        _ = server.transmissions()
        #expect(server.count == 0)
    }

    // MARK: Identities

    @Test("gives no identity twice: one that outlives its peer finds nobody")
    func identities() throws {
        let server = PeerEnd.server()
        var former: Set<PeerID> = []
        for number in 0..<200 {
            // Slow enough for the limits of one network
            let now = Duration.seconds(number + 1)
            _ = server.admit(.of(number % 3), nonce: UInt64(number + 1), now: now)
            #expect(server.opened.count == number + 1)
            let peer = try #require(server.opened.last)
            #expect(former.insert(peer).inserted)
            #expect(peer.slot == 0)
            server.close(peer)
            #expect(server.address(of: peer) == nil)
            _ = server.transmissions()
            // Its place is free, and then another's
            for gone in former {
                #expect(server.address(of: gone) == nil)
                #expect(!server.isOpen(gone))
            }
        }
        _ = server.admit(.of(1), nonce: 1_000, now: .seconds(1_000))
        _ = server.transmissions()
        for gone in former {
            #expect(!server.send([1], to: gone))
            #expect(server.protect(RawRecord.sound, for: gone) == nil)
            #expect(server.nextControl(of: gone) == nil)
            server.close(gone)
        }
        #expect(server.isOpen(try #require(server.opened.last)))
        #expect(server.transmissions().isEmpty)
    }

    @Test("another conversation from a peer's address takes its place by a good cookie alone")
    func replacement() throws {
        let now = Duration.seconds(1)
        let server = PeerEnd.server()
        let address = EndpointAddress.of(1)
        _ = server.admit(address, nonce: 7, now: now)
        let older = try #require(server.opened.last)
        // When it says hello without a cookie, or with a wrong one, it is asked for it and nothing else
        let cookie = server.cookie(for: address, now: now)
        for wrong in [RawRecord.noCookie, server.cookie(for: .of(2), now: now)] {
            let (_, answer) = server.take(RawRecord.hello(8, cookie: wrong), from: address, now: now)
            #expect(answer == RawRecord.retry(8, cookie: cookie))
            #expect(server.isOpen(older))
        }
        // When it has the cookie, the older one is over
        server.take(RawRecord.hello(8, cookie: cookie), from: address, now: now)
        let newer = try #require(server.opened.last)
        #expect(server.events == [.opened(older), .closed(older, .replaced), .opened(newer)])
        #expect(newer != older)
        _ = server.transmissions()
        #expect(server.count == 1)
        // A copy of the older one's records changes nothing
        for copy in [RawRecord.hello(7, cookie: cookie), RawRecord.control(7, [1]), RawRecord.goodbye(7)] {
            #expect(server.take(copy, from: address, now: now).outcome == .dropped(.notGenuine))
        }
        #expect(server.isOpen(newer))
        #expect(server.controls.isEmpty)
        // Nor does it bring back whoever has left: it is told that nobody is known there
        server.close(newer)
        _ = server.transmissions()
        for copy in [RawRecord.hello(7, cookie: cookie), RawRecord.hello(8, cookie: cookie), RawRecord.control(8, [1])]
        {
            #expect(server.take(copy, from: address, now: now).answer == RawRecord.unknownPeer)
        }
        #expect(server.count == 0)
    }

    // MARK: Doubt

    @Test("doubts an open peer alone")
    func doubt() throws {
        let network = try PeerNetwork()
        let (client, peer) = try network.connect()
        let now = network.now
        func notice() -> Received { client.take(RawRecord.unknownPeer, from: network.server.address, now: now).outcome }
        // While it shakes hands, and from elsewhere, nothing comes of it
        #expect(notice() == .dropped(.stranger))
        network.run(for: .milliseconds(80))
        #expect(client.take(RawRecord.unknownPeer, from: .of(9), now: now).outcome == .dropped(.stranger))
        #expect(client.events == [.opened(peer)])
        #expect(notice() == .consumed)
        #expect(client.events == [.opened(peer), .doubted(peer)])
        #expect(client.isOpen(peer))
        client.close(peer)
        #expect(notice() == .dropped(.stranger))
        #expect(client.events.count == 2)
    }

    @Test("a notice is never answered, so that two servers do not answer each other forever")
    func noticeToServer() {
        let server = PeerEnd.server()
        #expect(server.take(RawRecord.unknownPeer, from: .of(1), now: .seconds(1)).outcome == .dropped(.stranger))
        let notice = server.take(RawRecord.control(1, [1]), from: .of(1), now: .seconds(1)).answer
        #expect(notice == RawRecord.unknownPeer)
        _ = server.admit(.of(1), nonce: 7, now: .seconds(1))
        #expect(server.take(RawRecord.unknownPeer, from: .of(1), now: .seconds(1)).outcome == .dropped(.notGenuine))
        #expect(server.events.count == 1)
    }
}
