import TestCases
import Testing

@testable import VoicePeers

@Suite("What strangers can have a table of peers do")
struct PeerTableStrangerTests {
    private let now = Duration.seconds(100)

    @Test("nothing is kept of 100,000 hellos without a good cookie, and no answer is longer than its question")
    func hellos() {
        let server = PeerEnd.server()
        var random = SeededNumbers(seed: 1)
        var (asked, answered) = (0, 0)
        for number in 0..<100_000 {
            let address = EndpointAddress(
                high: number % 3 == 0 ? random.next() : 0, low: random.next(), port: UInt16(number & 0xFFFF))
            let cookie =
                number % 2 == 0 ? RawRecord.noCookie : (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
            let hello = RawRecord.hello(random.next(), cookie: cookie)
            let (_, answer) = server.take(hello, from: address, now: now + .microseconds(number))
            #expect(answer.count == hello.count && answer.starts(with: [13, 2]))
            (asked, answered) = (asked + hello.count, answered + answer.count)
        }
        #expect(answered <= asked)
        #expect(server.count == 0)
        #expect(server.nextTimeout == nil)
        #expect(server.statistics == PeerTableStatistics(cookies: 100_000))
        #expect(server.events.isEmpty)
        #expect(server.transmissions().isEmpty)
    }

    @Test("a cookie is good from its own address, and not for long")
    func cookies() {
        let server = PeerEnd.server()
        let cookie = server.cookie(for: .of(1), now: now)
        func admits(_ address: EndpointAddress, _ nonce: UInt64, at time: Duration) -> Bool {
            let before = server.statistics.admitted
            server.take(RawRecord.hello(nonce, cookie: cookie), from: address, now: time)
            return server.statistics.admitted > before
        }
        #expect(!admits(.of(2), 1, at: now))
        #expect(!admits(.of(1, port: 40_001), 2, at: now))
        #expect(!admits(EndpointAddress(high: 0, low: EndpointAddress.of(1).low, scope: 1, port: 40_000), 3, at: now))
        #expect(admits(.of(1), 4, at: now))
        #expect(admits(.of(1), 5, at: now + AddressCookie.period))
        #expect(!admits(.of(1), 6, at: now + AddressCookie.period * 2))
    }

    @Test("one network begins so many handshakes, others get in meanwhile, and all have a limit")
    func network() {
        let (sparing, others) = (HandshakeBudget.limits(.sparing), HandshakeBudget.limits(.others))
        let server = PeerEnd.server()
        server.acceptsAll = false
        var nonce: UInt64 = 0
        func admitted(_ count: Int, at time: Duration, _ address: (Int) -> EndpointAddress) -> Int {
            (0..<count).count { number in
                nonce += 1
                return server.admit(address(number), nonce: nonce, now: time) == .consumed
            }
        }
        func oneRouter(_ number: Int) -> EndpointAddress { .of(1, port: UInt16(number + 1)) }
        let burst = sparing.host.burst + others.host.burst
        #expect(admitted(400, at: now, oneRouter) == burst)
        #expect(server.statistics.overloaded == 400 - burst)
        #expect(admitted(1, at: now) { _ in .of(2) } == 1)
        // The network has its next one after the interval, not sooner
        #expect(admitted(1, at: now + others.host.interval - .nanoseconds(1)) { oneRouter($0 + 1_000) } == 0)
        #expect(admitted(5, at: now + others.host.interval) { oneRouter($0 + 1_000) } == 1)
        // Whoever has 64 bits of addresses has one network
        func manyAddresses(_ number: Int) -> EndpointAddress {
            EndpointAddress(high: 0x2001_0DB8 << 32, low: UInt64(number), port: 1)
        }
        #expect(admitted(200, at: now, manyAddresses) == burst)
        // And with 48 or 32 not many times as much
        func manyNetworks(_ number: Int) -> EndpointAddress {
            EndpointAddress(high: 0x2001_0DB9 << 32 + UInt64(number), low: 1, port: 1)
        }
        #expect(admitted(400, at: now, manyNetworks) == sparing.site.burst + others.site.burst)
        func manySites(_ number: Int) -> EndpointAddress {
            EndpointAddress(high: 0x2001_0DBA << 32 + UInt64(number) << 16, low: 1, port: 1)
        }
        #expect(admitted(500, at: now, manySites) <= sparing.provider.burst + others.provider.burst)
        func everywhere(_ number: Int) -> EndpointAddress {
            EndpointAddress(high: UInt64(0x2002_0000 + number) << 32, low: 1, port: 1)
        }
        _ = admitted(2_000, at: now, everywhere)
        #expect(server.statistics.admitted == sparing.all.burst + others.all.burst)
    }

    @Test("whoever is not accepted keeps its place until so many others have come, or its time is over")
    func unaccepted() throws {
        // Given more strangers than places for them, and a member
        let server = PeerEnd.server(capacity: 4_096)
        server.acceptsAll = false
        _ = server.admit(.of(1), nonce: 1, now: now)
        let member = try #require(server.opened.first)
        server.table.accept(member, now: now)
        var time = now
        var admitted: [EndpointAddress] = []
        var number = 1
        while admitted.count <= PeerLimits.unaccepted, number < 100_000 {
            number += 1
            time += .milliseconds(4)
            let address = EndpointAddress.of(number * 70_000)
            if server.admit(address, nonce: UInt64(number), now: time) == .consumed { admitted.append(address) }
            _ = server.transmissions()
        }
        // Then the first of them has gone
        try #require(admitted.count == PeerLimits.unaccepted + 1)
        #expect(server.count == PeerLimits.unaccepted + 1)
        let places = server.opened.compactMap { server.address(of: $0) }
        #expect(!places.contains(admitted[0]) && places.contains(admitted[1]) && server.isOpen(member))
        #expect(server.events.contains { if case .closed(_, .crowdedOut) = $0 { true } else { false } })
    }

    @Test("a copy of a hello brings back nobody, however many have come since, as long as its cookie is good")
    func copies() {
        var security = Plaintext(key: CookieKey(high: 1, low: 2))
        let cookie = AddressCookie(of: .of(1), key: CookieKey(high: 3, low: 4), now: now)
        let good = (0..<16).map { cookie.bytes[$0] }
        func greeting(_ nonce: UInt64) -> Greeting {
            let hello = RawRecord.hello(nonce, cookie: good)
            var answer = [UInt8](repeating: 0, count: 64)
            var span = answer.mutableSpan
            return security.greet(hello.span, cookie: cookie, answer: &span)
        }
        // Given conversations as fast as they may begin, each over at once
        for number in 0..<20_000 {
            security.begin(0, as: .server, now: now)
            _ = security.receive(
                RawRecord.hello(UInt64(number), cookie: good).span, at: 0, now: now + .microseconds(2_500 * number))
            security.end(0)
        }
        let old = (0..<20_000).filter { greeting(UInt64($0)) != .unknown }
        #expect(old.isEmpty)
        #expect(greeting(20_000) == .admitted)
        // After that they are forgotten
        security.begin(0, as: .server, now: now)
        _ = security.receive(
            RawRecord.hello(20_000, cookie: good).span, at: 0, now: now + AddressCookie.period * 2 + .seconds(50))
        #expect(greeting(19_999) == .admitted)
    }

    @Test("media of whoever is not accepted goes nowhere")
    func unacceptedMedia() throws {
        let server = PeerEnd.server()
        server.acceptsAll = false
        _ = server.admit(.of(1), nonce: 1, now: now)
        let peer = try #require(server.opened.first)
        #expect(server.take(RawRecord.sound, from: .of(1), now: now).outcome == .dropped(.stranger))
        server.table.accept(peer, now: now)
        server.take(RawRecord.sound, from: .of(1), now: now)
        #expect(server.media == [RawRecord.sound])
    }

    @Test("a full table takes nobody until somebody leaves")
    func full() throws {
        let server = PeerEnd.server(capacity: 4)
        for number in 0..<4 { _ = server.admit(.of(number), nonce: UInt64(number + 1), now: now) }
        #expect(server.count == 4)
        #expect(server.admit(.of(4), nonce: 5, now: now) == .dropped(.overloaded))
        #expect(server.statistics.overloaded == 1)
        // Those who are in stay in
        #expect(server.opened.allSatisfy { server.isOpen($0) })
        server.take(RawRecord.goodbye(1), from: .of(0), now: now)
        _ = server.transmissions()
        _ = server.admit(.of(4), nonce: 6, now: now)
        #expect(server.address(of: try #require(server.opened.last)) == .of(4))
        #expect(server.count == 4)
    }

    @Test("media and records of strangers go nowhere")
    func noise() {
        let server = PeerEnd.server()
        #expect(server.take(RawRecord.sound, from: .of(1), now: now).outcome == .dropped(.stranger))
        #expect(server.take([], from: .of(1), now: now).outcome == .dropped(.unknownKind))
        #expect(server.take([13], from: .of(1), now: now).outcome == .dropped(.stranger))
        for record in [
            RawRecord.control(1, [1]), RawRecord.welcome(1), RawRecord.goodbye(1),
            RawRecord.retry(1, cookie: RawRecord.noCookie),
        ] {
            #expect(server.take(record, from: .of(1), now: now).answer == RawRecord.unknownPeer)
        }
        #expect(server.count == 0)
        #expect(server.media.isEmpty)
    }

    @Test("a client takes no strangers")
    func client() throws {
        let server = PeerEnd.server()
        let client = PeerEnd.client(1)
        let peer = try #require(client.connect(to: server.address, now: now))
        // Even with a cookie that is good under its own key: the table has no use for it
        let cookie = AddressCookie(of: .of(2), key: CookieKey(high: 1_001, low: 2), now: now).bytes
        let good = (0..<16).map { cookie[$0] }
        for source in [EndpointAddress.of(2), server.address] {
            for hello in [RawRecord.hello(7), RawRecord.hello(7, cookie: good)] {
                let (outcome, answer) = client.take(hello, from: source, now: now)
                #expect(outcome == .dropped(.stranger))
                #expect(answer.isEmpty)
            }
        }
        #expect(client.count == 1)
        #expect(client.statistics.admitted == 0)
        #expect(client.address(of: peer) == server.address)
    }

    // MARK: Noise

    /// A conversation from the first hello to the goodbye, each datagram.
    private func recording() throws -> [[UInt8]] {
        let network = try PeerNetwork()
        let (client, peer) = try network.connect()
        network.run(for: .milliseconds(80))
        _ = client.send([1, 2, 3], to: peer)
        network.post(RawRecord.sound, from: client.address, to: network.server.address)
        network.run(for: .milliseconds(20))
        client.close(peer)
        network.run(for: .milliseconds(20))
        return network.sent.map(\.bytes)
    }

    private func noise(_ recorded: [[UInt8]], _ random: inout SeededNumbers) -> [UInt8] {
        var bytes = recorded.randomElement(using: &random) ?? []
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            bytes = (0..<Int.random(in: 0..<64, using: &random)).map { _ in .random(in: 0...255, using: &random) }
            if !bytes.isEmpty, random.chance(0.5) { bytes[0] = 13 }
        case 1: bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
        case 2: bytes += recorded.randomElement(using: &random) ?? []
        case 3:
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
        default: if bytes.count > 1 { bytes[1] = .random(in: 0..<8, using: &random) }
        }
        return bytes
    }

    @Test(
        "noise and changed records never trap, and bring nobody in without the cookie of the address",
        arguments: cases(1...20 as ClosedRange<UInt64>))
    func changedRecords(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let recorded = try recording()
        let server = PeerEnd.server()
        var time = Duration.seconds(1_000)
        // An address whose cookie stands in the recording, and others
        let addresses = [PeerEnd.client(1).address] + (2..<6).map { EndpointAddress.of($0) }
        var (asked, answered) = (0, 0)
        for step in 0..<2_000 {
            time += .milliseconds(Int64.random(in: 0..<20, using: &random))
            let bytes = noise(recorded, &random)
            let source = addresses.randomElement(using: &random) ?? addresses[0]
            let admitted = server.statistics.admitted
            let (_, answer) = server.take(bytes, from: source, now: time)
            (asked, answered) = (asked + bytes.count, answered + answer.count)
            #expect(answer.count <= bytes.count)
            if server.statistics.admitted > admitted {
                let isHello = bytes.count == 26 && bytes.starts(with: [13, 0])
                let cookie = AddressCookie(of: source, key: CookieKey(high: 1, low: 2), now: time)
                let isGood = isHello && cookie.accepts(Array(bytes.dropFirst(10)).span)
                #expect(isGood, "seed \(seed), step \(step): \(bytes)")
            }
            server.handleTimeout(now: time)
            #expect(server.nextTimeout.map { $0 > time } ?? true, "seed \(seed), step \(step)")
            answered += server.transmissions().reduce(0) { $0 + $1.bytes.count }
            #expect(server.count <= addresses.count)
        }
        #expect(answered <= asked, "seed \(seed)")
    }

    @Test(
        "noise and changed records open no path of a client but by the welcome to it",
        arguments: cases(1...20 as ClosedRange<UInt64>))
    func changedAnswers(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let recorded = try recording()
        let server = EndpointAddress(high: 0, low: 1, port: 7_900)
        // The same numbers as in the recording: its welcome opens the path
        var client = PeerEnd.client(1)
        var time = Duration.seconds(1_000)
        var peer = try #require(client.connect(to: server, now: time))
        let nonce = try #require(client.transmissions().first).bytes[2..<10]
        var opened = 0
        for step in 0..<2_000 {
            time += .milliseconds(Int64.random(in: 0..<20, using: &random))
            let bytes = noise(recorded, &random)
            client.take(bytes, from: server, now: time)
            if client.isOpen(peer) {
                opened += 1
                #expect(bytes == [13, 3] + nonce, "seed \(seed), step \(step): \(bytes)")
            }
            client.handleTimeout(now: time)
            #expect(client.nextTimeout.map { $0 > time } ?? true, "seed \(seed), step \(step)")
            _ = client.transmissions()
            if client.isOpen(peer) || client.address(of: peer) == nil {
                client = PeerEnd.client(1)
                peer = try #require(client.connect(to: server, now: time))
            }
        }
        // The welcome was among it, unchanged
        #expect(opened > 0, "seed \(seed)")
    }
}
