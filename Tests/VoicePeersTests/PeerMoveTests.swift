import Testing

@testable import VoicePeers

@Suite("A path follows its client's address")
struct PeerMoveTests {
    private let elsewhere = EndpointAddress.of(500, port: 1_234)

    @Test("two round trips after the client knows, and nothing else of the peer changes")
    func move() throws {
        // Given a client that is followed, 20 ms from the server
        let peers = try MovingPeers()
        let (client, guest) = try peers.join()
        peers.run(for: .seconds(5))
        #expect(peers.server.address(of: guest) == .of(1))
        // When its address changes
        client.address = elsewhere
        client.table.addressChanged(now: peers.now)
        // Then the server has moved it after three ways: question, cookie, proof
        peers.run(for: .milliseconds(59))
        #expect(peers.server.address(of: guest) == .of(1))
        peers.run(for: .milliseconds(1))
        #expect(peers.server.address(of: guest) == elsewhere)
        #expect(peers.server.events == [.opened(guest), .moved(guest, to: elsewhere)])
        // And what comes from there is the peer's, and no more from where it was
        #expect(
            peers.server.take(RawRecord.sound, from: elsewhere, now: peers.now).0
                == .media(guest, count: RawRecord.sound.count, .sound, ssrc: 7))
        #expect(peers.server.take(RawRecord.sound, from: .of(1), now: peers.now).0 == .dropped(.stranger))
        #expect(client.events == [.opened(try #require(client.peer))])
    }

    @Test("also when nobody has told the client, within two seconds")
    func unnoticed() throws {
        for seed in 1...50 as ClosedRange<Int64> {
            let peers = try MovingPeers()
            let (client, guest) = try peers.join(as: Int(seed))
            peers.run(for: .milliseconds(1_000 + 37 * seed))
            client.address = elsewhere
            peers.run(for: .seconds(2))
            #expect(peers.server.address(of: guest) == elsewhere, "seed \(seed)")
        }
    }

    @Test("at once when the server says that it knows nobody there, and the doubt is settled")
    func doubted() throws {
        // Given a client whose address has changed right after it asked
        let peers = try MovingPeers()
        let (client, guest) = try peers.join()
        let peer = try #require(client.peer)
        peers.run(for: .milliseconds(200))
        client.address = elsewhere
        // When it says something, before it asks again
        #expect(client.send([1, 2, 3], to: peer))
        peers.run(for: .milliseconds(40))
        #expect(client.events == [.opened(peer), .doubted(peer)])
        // Then it asks, and has an answer after one round trip, and has moved after two
        peers.run(for: .milliseconds(40))
        #expect(client.events == [.opened(peer), .doubted(peer), .confirmed(peer)])
        peers.run(for: .milliseconds(20))
        #expect(peers.server.address(of: guest) == elsewhere)
        // When the server is another one, which knows nobody, nobody settles it
        let stranger = try MovingPeers()
        let requests = peers.requests(from: elsewhere)
        #expect(!requests.isEmpty)
        for request in requests {
            let (received, answer) = stranger.server.take(request.bytes, from: elsewhere, now: peers.now)
            #expect(received == .dropped(.stranger) && answer.isEmpty)
        }
    }

    @Test("notices that anybody can forge make a client ask ten times a second at most")
    func forgedNotices() throws {
        let peers = try MovingPeers()
        let (client, _) = try peers.join()
        let start = peers.now
        for _ in 0..<5_000 {
            _ = client.take(RawRecord.unknownPeer, from: peers.server.address, now: peers.now)
            peers.run(for: .milliseconds(1))
        }
        #expect(peers.requests(from: .of(1), since: start).count <= 52)
        #expect(client.isOpen(try #require(client.peer)))
    }

    @Test("there and back again")
    func back() throws {
        let peers = try MovingPeers()
        let (client, guest) = try peers.join()
        for round in 1...5 {
            for address in [EndpointAddress.of(500 + round), .of(1)] {
                client.address = address
                peers.run(for: .seconds(2))
                #expect(peers.server.address(of: guest) == address)
            }
        }
        #expect(client.isOpen(try #require(client.peer)))
    }

    @Test("never to an address where somebody is")
    func occupied() throws {
        // Given two clients
        let peers = try MovingPeers()
        let (mover, moving) = try peers.join()
        let (_, resident) = try peers.join()
        peers.run(for: .seconds(3))
        // When one asks from the other's address, by its own good signature
        mover.address = .of(2)
        mover.table.addressChanged(now: peers.now)
        for (bytes, _) in mover.transmissions() {
            let (received, answer) = peers.server.take(bytes, from: .of(2), now: peers.now)
            #expect(received == .dropped(.notGenuine) && answer.isEmpty)
        }
        // Then both are where they were
        #expect(peers.server.address(of: moving) == .of(1))
        #expect(peers.server.address(of: resident) == .of(2))
        #expect(peers.server.isOpen(resident))
        // And the address is free for it once the other is gone
        peers.server.table.close(resident)
        mover.address = .of(3)
        peers.run(for: .seconds(2))
        mover.address = .of(2)
        peers.run(for: .seconds(2))
        #expect(peers.server.address(of: moving) == .of(2))
    }

    @Test("not by a request that was recorded, changed, or made up")
    func forged() throws {
        let peers = try MovingPeers()
        let (client, guest) = try peers.join()
        peers.run(for: .seconds(4))
        let recorded = peers.requests(from: .of(1))
        #expect(recorded.count > 2)
        // A recording from elsewhere is not answered
        for request in recorded {
            let (received, answer) = peers.server.take(request.bytes, from: elsewhere, now: peers.now)
            #expect(received == .dropped(.notGenuine) && answer.isEmpty)
        }
        // Nor is any bit of a fresh one that was flipped
        client.table.addressChanged(now: peers.now)
        let fresh = try #require(client.transmissions().first { $0.bytes.starts(with: [0, 1]) }).bytes
        for bit in 0..<fresh.count * 8 {
            var forged = fresh
            forged[bit / 8] ^= 1 << (bit % 8)
            let (received, answer) = peers.server.take(forged, from: elsewhere, now: peers.now)
            // The fingerprint, its last eight bytes, is not signed: as another attribute it is ignored (RFC 8489
            // section 14.5)
            guard bit / 8 < fresh.count - 8 else {
                #expect(answer.count < fresh.count)
                continue
            }
            guard case .dropped = received else {
                Issue.record("bit \(bit): \(received)")
                continue
            }
            #expect(answer.isEmpty)
        }
        // Nor one of another password, or for a peer that has gone
        for forger in [
            STUNCredentials(
                fragment: UserFragment(peer: guest, salt: 0), password: STUNPassword(high: 1, low: 2)),
            STUNCredentials(
                fragment: UserFragment(peer: PeerID(slot: 63, generation: 9), salt: 0),
                password: STUNPassword(high: 1, low: 2)),
        ] {
            client.table.follow(try #require(client.peer), forger, now: peers.now)
            let sent = client.transmissions()
            #expect(!sent.isEmpty)
            for (bytes, _) in sent {
                guard case .dropped = peers.server.take(bytes, from: elsewhere, now: peers.now).0 else {
                    Issue.record("\(forger.fragment) moved somebody")
                    continue
                }
            }
        }
        #expect(peers.server.address(of: guest) == .of(1))
        #expect(peers.server.events == [.opened(guest)])
    }

    @Test("not where the client cannot be shown to receive: a forged source gets one short answer, and no media")
    func forgedSource() throws {
        let peers = try MovingPeers()
        let (client, guest) = try peers.join()
        peers.run(for: .seconds(4))
        // When somebody on the path sends the client's own requests on from another's address, first
        for _ in 0..<20 {
            client.table.addressChanged(now: peers.now)
            let sent = client.transmissions()
            #expect(!sent.isEmpty)
            for (bytes, _) in sent {
                let (_, answer) = peers.server.take(bytes, from: elsewhere, now: peers.now)
                #expect(answer.count <= bytes.count)
            }
            peers.run(for: .milliseconds(700))
            #expect(peers.server.address(of: guest) == .of(1))
        }
    }

    @Test("a client asks at its intervals, as long as it is followed, and no more")
    func intervals() throws {
        let peers = try MovingPeers()
        let (client, _) = try peers.join()
        let start = peers.now
        peers.run(for: .seconds(120))
        let times = peers.requests(from: .of(1), since: start).map(\.sentAt)
        let gaps = zip(times.dropFirst(), times).map { $0 - $1 }
        #expect(times.first == start)
        #expect(gaps.allSatisfy { $0 >= .milliseconds(960) && $0 <= .milliseconds(1_440) }, "\(gaps)")
        #expect(Set(gaps).count > gaps.count / 2)
        #expect((90...110).contains(times.count), "\(times.count)")
        // When the server answers nothing any more, it asks on
        peers.isServerSilent = true
        let silence = peers.now
        peers.run(for: .seconds(60))
        #expect(peers.requests(from: .of(1), since: silence).count > 40)
        // And not when the path is closed
        client.table.close(try #require(client.peer))
        peers.run(for: .milliseconds(1))
        let closed = peers.now
        peers.run(for: .seconds(20))
        #expect(peers.requests(from: .of(1), since: closed).isEmpty)
        #expect(client.nextTimeout == nil)
    }

    @Test("the time to come again lies ahead, however often the address changes, whatever is due")
    func timers() throws {
        let peers = try MovingPeers()
        let (client, _) = try peers.join()
        for step in 0..<500 {
            if step % 3 == 0 { client.table.addressChanged(now: peers.now) }
            if step % 7 == 0 { client.address = .of(2 + step % 5) }
            peers.isServerSilent = step % 11 < 4
            peers.run(for: .milliseconds(Int64(step * 13 % 97)))
            _ = client.transmissions()
            #expect(try #require(client.nextTimeout) > peers.now, "step \(step)")
        }
        // At most ten a second, although asked for far more
        #expect(peers.requests(from: .of(1)).count < 300)
    }

    @Test("is not promised where nothing can be signed")
    func unsigned() throws {
        let network = try PeerNetwork()
        let (client, peer) = try network.connect()
        network.run(for: .milliseconds(80))
        let guest = try #require(network.server.opened.first)
        #expect(network.server.credentials(of: guest) == nil)
        // And a client that is told all the same sends nothing
        let told = STUNCredentials(
            fragment: UserFragment(peer: guest, salt: 0), password: STUNPassword(high: 1, low: 2))
        client.table.follow(peer, told, now: network.now)
        #expect(client.transmissions().isEmpty)
        #expect(client.nextTimeout == nil)
    }
}
