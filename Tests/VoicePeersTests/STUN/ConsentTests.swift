import TestCases
import Testing

@testable import VoicePeers

/// Both ends of one path, with a network between that only tells addresses.
private final class Path {
    static let password = STUNPassword(high: 11, low: 12)
    static let key = CookieKey(high: 1, low: 2)
    static let home = EndpointAddress(high: 0, low: 0xFFFF_0A00_0001, port: 5_000)
    static let roaming = EndpointAddress(high: 0x2001_0DB8_0000_0000, low: 9, port: 6_000)
    static let thief = EndpointAddress(high: 0, low: 0xFFFF_0A00_0666, port: 666)

    var random = SeededNumbers(seed: 1)
    var client: ConsentClient
    var server: ConsentServer

    init() {
        let fragment = UserFragment(peer: PeerID(slot: 1, generation: 1), salt: 0)
        client = ConsentClient(
            to: STUNCredentials(fragment: fragment, password: Self.password), from: UserFragment(high: 1, low: 1),
            now: .zero)
        server = ConsentServer(password: Self.password, at: Self.home)
    }

    func entropy() -> ConsentEntropy {
        ConsentEntropy(transaction: random.transaction(), spread: UInt16(truncatingIfNeeded: random.next()))
    }

    /// The client's request at a time, when one is due.
    func request(at now: Duration) -> [UInt8]? {
        let entropy = entropy()
        let bytes = written { message in client.request(entropy, now: now, by: ToyHMAC(), into: &message) ?? 0 }
        return bytes.isEmpty ? nil : bytes
    }

    /// What the server makes of a datagram, and its answer if it has one.
    func serve(
        _ datagram: [UInt8], from source: EndpointAddress, at now: Duration = .zero
    ) throws -> (verdict: ConsentVerdict, answer: [UInt8]?) {
        let message = try STUNMessage(datagram.span)
        let cookie = AddressCookie(of: source, key: Self.key, now: now)
        let verdict = server.handle(message, from: source, cookie: cookie, by: ToyHMAC())
        guard verdict.isAnswered else { return (verdict, nil) }
        let server = server
        let answer = try written { answer throws(STUNError) in
            let message = try STUNMessage(datagram.span)
            let asked = verdict == .unproved ? cookie : nil
            return server.answer(message, from: source, askingFor: asked, by: ToyHMAC(), into: &answer) ?? 0
        }
        return (verdict, answer.isEmpty ? nil : answer)
    }

    /// Has the client learn the cookie of an address and prove it there: the verdict on the proof.
    func move(to address: EndpointAddress, at now: Duration) throws -> ConsentVerdict {
        client.addressChanged(now: now)
        let (verdict, question) = try serve(#require(request(at: client.nextTimeout)), from: address, at: now)
        try #require(verdict == .unproved)
        _ = try hear(#require(question), at: client.nextTimeout)
        return try serve(#require(request(at: client.nextTimeout)), from: address, at: now).verdict
    }

    func hear(_ datagram: [UInt8], at now: Duration) throws -> ConsentAnswer {
        client.handle(try STUNMessage(datagram.span), now: now, by: ToyHMAC())
    }

    /// Times of the requests until an end, none of them answered.
    func times(until end: Duration) -> [Duration] {
        var times: [Duration] = []
        while client.nextTimeout < end {
            let now = client.nextTimeout
            guard request(at: now) != nil else { break }
            times.append(now)
        }
        return times
    }
}

@Suite("Consent to send, and where to")
struct ConsentTests {
    @Test("a request from where the peer is, and from elsewhere: the server follows, the client hears where it is")
    func moves() throws {
        let path = Path()
        let first = try #require(path.request(at: .zero))
        let (same, answer) = try path.serve(first, from: Path.home)
        #expect(same == .same && path.server.address == Path.home)
        #expect(
            try path.hear(#require(answer), at: .milliseconds(30))
                == .confirmed(seenAt: Path.home, roundTrip: .milliseconds(30)))

        let time = path.client.nextTimeout
        let second = try #require(path.request(at: time))
        // Elsewhere, it has to show that it receives there
        let (unproved, question) = try path.serve(second, from: Path.roaming, at: time)
        #expect(unproved == .unproved && path.server.address == Path.home)
        #expect(try path.hear(#require(question), at: time) == .askedForProof(seenAt: Path.roaming))
        #expect(path.client.nextTimeout == time)
        let third = try #require(path.request(at: time))
        let (moved, other) = try path.serve(third, from: Path.roaming, at: time)
        #expect(moved == .moved(from: Path.home) && path.server.address == Path.roaming)
        #expect(try path.hear(#require(other), at: time) == .confirmed(seenAt: Path.roaming, roundTrip: .zero))
    }

    @Test("whoever forges the address it asks from has nothing sent there")
    func forged() throws {
        let path = Path()
        // A peer of ill will that asks from the victim's address, never hears the answers, and has cookies of its own
        // addresses
        _ = try path.move(to: Path.thief, at: .seconds(1))
        for _ in 0..<100 {
            let time = path.client.nextTimeout
            let (verdict, answer) = try path.serve(#require(path.request(at: time)), from: Path.roaming, at: time)
            #expect(verdict == .unproved && path.server.address == Path.thief)
            #expect(try #require(answer).count <= 120)
        }
    }

    @Test("what was recorded moves nobody, from whatever address it comes again")
    func replay() throws {
        let path = Path()
        var recorded: [[UInt8]] = []
        for _ in 0..<20 {
            let time = path.client.nextTimeout
            recorded.append(try #require(path.request(at: time)))
            _ = try path.serve(recorded[recorded.count - 1], from: Path.home, at: time)
        }
        for datagram in recorded {
            let (verdict, answer) = try path.serve(datagram, from: Path.thief, at: .seconds(100))
            #expect(verdict == .refused(.outOfOrder) && answer == nil)
            // In the peer's name it is answered, to the peer, and does not count.
            #expect(try path.serve(datagram, from: Path.home, at: .seconds(100)).verdict == .same)
        }
        #expect(path.server.address == Path.home)
    }

    @Test("a request that was overtaken by the one that moved the peer does not move it back")
    func overtaken() throws {
        let path = Path()
        let late = try #require(path.request(at: .zero))
        #expect(try path.move(to: Path.roaming, at: .zero) == .moved(from: Path.home))
        #expect(try path.serve(late, from: Path.home).verdict == .refused(.outOfOrder))
        #expect(path.server.address == Path.roaming)
    }

    @Test("what is not signed, not numbered, no request or not understood changes nothing")
    func refused() throws {
        let path = Path()
        let other = STUNPassword(high: 11, low: 13).characters
        let key = Path.password.characters
        func message(
            _ messageClass: STUNMessage.Class = .request, number: UInt32? = 9, signed: [UInt8]?,
            _ extra: STUNAttribute? = nil
        ) throws -> [UInt8] {
            try written { message throws(STUNError) in
                var writer = try STUNWriter(messageClass, SampleMessages.transaction, into: &message)
                if let number { try writer.append(requestNumber: number, to: &message) }
                if let extra { try writer.append(extra, [], to: &message) }
                if let signed { try writer.sign(with: signed, by: ToyHMAC(), in: &message) }
                try writer.close(&message)
                return writer.byteCount
            }
        }
        let good = [UInt8](key)
        let cases: [([UInt8], ConsentRefusal)] = [
            (try message(signed: nil), .notSigned), (try message(signed: [UInt8](other)), .notSigned),
            (try message(.indication, signed: good), .noRequest), (try message(.success, signed: good), .noRequest),
            (try message(number: nil, signed: good), .outOfOrder), (try message(number: 0, signed: good), .outOfOrder),
        ]
        for (datagram, refusal) in cases {
            let (verdict, answer) = try path.serve(datagram, from: Path.thief)
            #expect(verdict == .refused(refusal) && answer == nil)
        }
        // With the 420's 68 bytes it would be longer than the request's 64.
        let unknown = try message(signed: good, STUNAttribute(rawValue: 0x0123))
        let (verdict, answer) = try path.serve(unknown, from: Path.roaming)
        #expect(verdict == .refused(.unknownAttributes) && answer == nil && unknown.count == 64)
        #expect(path.server.address == Path.home)
        #expect(try path.serve(message(signed: good), from: Path.roaming).verdict == .unproved)
    }

    @Test("attributes that ICE adds are passed over, those that must be known are named in a 420")
    func ice() throws {
        let path = Path()
        let key = [UInt8](Path.password.characters)
        func request(_ number: UInt32, _ unknown: Int) throws -> [UInt8] {
            try written { message throws(STUNError) in
                var writer = try STUNWriter(.request, SampleMessages.transaction, into: &message)
                try writer.append(
                    usernameOf: UserFragment(high: 1, low: 2), UserFragment(high: 1, low: 2), to: &message)
                try writer.append(.priority, [1, 2, 3, 4], to: &message)
                try writer.append(.useCandidate, [], to: &message)
                try writer.append(.iceControlling, [1, 2, 3, 4, 5, 6, 7, 8], to: &message)
                try writer.append(requestNumber: number, to: &message)
                for type in 0..<unknown {
                    try writer.append(STUNAttribute(rawValue: UInt16(0x0300 + type)), [], to: &message)
                }
                try writer.sign(with: key, by: ToyHMAC(), in: &message)
                try writer.close(&message)
                return writer.byteCount
            }
        }
        #expect(try path.serve(request(1, 0), from: Path.roaming).verdict == .unproved)
        let (verdict, answer) = try path.serve(request(2, 6), from: Path.roaming)
        #expect(verdict == .refused(.unknownAttributes))
        let reading = try Reading(#require(answer), password: key, by: ToyHMAC())
        #expect(reading.messageClass == .failure && reading.code == 420 && reading.isSigned)
        let bytes = try #require(answer)
        #expect(try value(of: .unknownAttributes, in: bytes) == [3, 0, 3, 1, 3, 2, 3, 3])
        #expect(bytes.count == 72)
    }

    @Test("no answer is longer than its request, whatever it is", arguments: UInt64(1)...2)
    func amplification(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let path = Path()
        let key = [UInt8](Path.password.characters)
        var answers = 0
        for number in 1...2_000 {
            let attributes = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                (
                    STUNAttribute(rawValue: Bool.random(using: &random) ? 0x0333 : 0x9333),
                    random.bytes(Int.random(in: 0...12, using: &random))
                )
            }
            let transaction = random.transaction()
            let isClosed = Bool.random(using: &random)
            let request = try written { message throws(STUNError) in
                var writer = try STUNWriter(.request, transaction, into: &message)
                try writer.append(requestNumber: UInt32(number), to: &message)
                for (type, value) in attributes { try writer.append(type, value, to: &message) }
                try writer.sign(with: key, by: ToyHMAC(), in: &message)
                if isClosed { try writer.close(&message) }
                return writer.byteCount
            }
            let source = random.address()
            guard let answer = try path.serve(request, from: source).answer else { continue }
            answers += 1
            #expect(answer.count <= request.count, "seed \(seed)")
        }
        #expect(answers > 500 && answers < 2_000, "seed \(seed): \(answers)")
    }

    @Test("the messages have the sizes that are documented")
    func sizes() throws {
        let path = Path()
        let request = try #require(path.request(at: .zero))
        #expect(request.count == 120)
        #expect(try path.serve(request, from: Path.home).answer?.count == 64)
        #expect(try path.serve(request, from: Path.home).answer?.count == 64)
        let second = try #require(path.request(at: path.client.nextTimeout))
        #expect(try path.serve(second, from: Path.roaming).answer?.count == 96)
    }

    @Test("undisturbed, requests come every 0.96 to 1.44 s, spread evenly")
    func intervals() throws {
        let path = Path()
        let times = path.times(until: .seconds(2_400))
        let gaps = zip(times.dropFirst(), times).map { $0 - $1 }
        #expect(gaps.allSatisfy { .milliseconds(960) <= $0 && $0 <= .milliseconds(1_440) })
        #expect(1_900...2_100 ~= times.count)
        for bound in [1_008, 1_392] {
            let share = Double(gaps.count { $0 < .milliseconds(bound) }) / Double(gaps.count)
            #expect(abs(share - Double(bound - 960) / 480) < 0.04)
        }
    }

    @Test("a changed address is told at once, then at growing intervals until an answer comes")
    func hurry() throws {
        let path = Path()
        _ = path.request(at: .zero)
        path.client.addressChanged(now: .seconds(1))
        #expect(
            path.times(until: .milliseconds(2_700)) == [1_000, 1_100, 1_300, 1_700, 2_500].map(Duration.milliseconds))
        #expect(path.client.nextTimeout >= .milliseconds(2_500 + 960))

        // An answer ends it: the next request is a regular one.
        path.client.addressChanged(now: .seconds(10))
        let request = try #require(path.request(at: .seconds(10)))
        let answer = try #require(try path.serve(request, from: Path.home).answer)
        _ = try path.hear(answer, at: .milliseconds(10_050))
        #expect(path.client.nextTimeout == .milliseconds(11_200))
    }

    @Test("an answer to what was asked before the change does not end the hurry")
    func earlierAnswer() throws {
        let path = Path()
        let before = try #require(path.request(at: .zero))
        let answer = try #require(try path.serve(before, from: Path.home).answer)
        path.client.addressChanged(now: .milliseconds(200))
        _ = path.request(at: .milliseconds(200))
        #expect(
            try path.hear(answer, at: .milliseconds(210))
                == .confirmed(seenAt: Path.home, roundTrip: .milliseconds(210)))
        #expect(path.client.nextTimeout == .milliseconds(300))
    }

    @Test("where the server does not know its address, it asks soon, however long its pauses are by then")
    func doubtedLate() throws {
        let path = Path()
        path.client.addressChanged(now: .zero)
        for tenths in [0, 1, 3, 7] { #expect(path.request(at: .milliseconds(100 * tenths)) != nil, "\(tenths)") }
        #expect(path.client.nextTimeout == .milliseconds(1_500))
        path.client.doubted(now: .milliseconds(900))
        #expect(path.request(at: .milliseconds(900)) != nil)
    }

    @Test("however often it is hurried, it asks at most ten times a second")
    func hurriedTooOften() {
        let path = Path()
        let doubted = Path()
        var (requests, doubtedRequests) = (0, 0)
        for millisecond in 0..<1_000 {
            let now = Duration.milliseconds(millisecond)
            path.client.addressChanged(now: now)
            if path.request(at: now) != nil { requests += 1 }
            doubted.client.doubted(now: now)
            if doubted.request(at: now) != nil { doubtedRequests += 1 }
        }
        #expect(requests == 10 && doubtedRequests == 10)
    }

    @Test(
        "an answer that nobody asked for, twice, late, of another password or a refusal without a signature is ignored")
    func answers() throws {
        let path = Path()
        let request = try #require(path.request(at: .zero))
        let answer = try #require(try path.serve(request, from: Path.home).answer)
        let transaction = try STUNMessage(request.span).transaction
        let other = STUNPassword(high: 0, low: 0).characters
        let wrong = try written { message throws(STUNError) in
            try STUNBinding.success(
                transaction, seenAt: Path.thief, cookie: nil, password: other.span, by: ToyHMAC(), into: &message)
        }
        let unsigned = try written { message throws(STUNError) in
            try STUNBinding.refusal(.unauthenticated, transaction, into: &message)
        }
        let stranger = try written { message throws(STUNError) in
            let key = Path.password.characters
            return try STUNBinding.success(
                SampleMessages.transaction, seenAt: Path.thief, cookie: nil, password: key.span, by: ToyHMAC(),
                into: &message)
        }
        for datagram in [wrong, unsigned, stranger, request] {
            #expect(try path.hear(datagram, at: .seconds(1)) == .ignored)
        }
        #expect(try path.hear(answer, at: .seconds(1)) == .confirmed(seenAt: Path.home, roundTrip: .seconds(1)))
        #expect(try path.hear(answer, at: .seconds(1)) == .ignored)
        // After eight more requests nobody waits for the answer to the first.
        let late = Path()
        let old = try #require(late.request(at: .zero))
        let oldAnswer = try #require(try late.serve(old, from: Path.home).answer)
        for _ in 0..<8 { _ = late.request(at: late.client.nextTimeout) }
        #expect(try late.hear(oldAnswer, at: .seconds(20)) == .ignored)
    }

    @Test("a signed refusal is told with its code")
    func refusals() throws {
        let path = Path()
        let request = try #require(path.request(at: .zero))
        let transaction = try STUNMessage(request.span).transaction
        var unknown = UnknownAttributes()
        unknown.insert(.requestNumber)
        let key = Path.password.characters
        let refusal = try written { message throws(STUNError) in
            try STUNBinding.refusal(of: unknown, transaction, password: key.span, by: ToyHMAC(), into: &message)
        }
        #expect(try path.hear(refusal, at: .zero) == .refused(420))
        #expect(refusal.count == 68)
    }

    @Test("half the requests and answers lost, and a peer that moves: the server follows")
    func loss() throws {
        let path = Path()
        var random = SeededNumbers(seed: 3)
        var (moved, longest) = (0, Duration.zero)
        var place = Path.home
        var changed: Duration?
        while path.client.nextTimeout < .seconds(1_000) {
            let now = path.client.nextTimeout
            // Silence is noticed between two requests that may not be closer.
            guard let request = path.request(at: now) else {
                #expect(path.client.nextTimeout > now)
                continue
            }
            guard Bool.random(using: &random) else { continue }
            let (verdict, answer) = try path.serve(request, from: place, at: now)
            if case .moved = verdict { moved += 1 }
            if path.server.address == place, let began = changed {
                longest = max(longest, now - began)
                changed = nil
            }
            if let answer, Bool.random(using: &random) {
                let seen = try path.hear(answer, at: now)
                #expect(
                    seen
                        == (verdict == .unproved
                            ? .askedForProof(seenAt: place) : .confirmed(seenAt: place, roundTrip: .zero)))
            }
            guard path.server.address == place else { continue }
            guard Int.random(in: 0..<4, using: &random) == 0 else { continue }
            place = place == Path.home ? Path.roaming : Path.home
            changed = now + .milliseconds(1)
            // Half the moves are noticed.
            if Bool.random(using: &random) { path.client.addressChanged(now: now + .milliseconds(1)) }
        }
        #expect(moved > 40)
        #expect(longest < .seconds(60))
    }
}
