import CAllocationCounter
import TestCases
import Testing
import VoicePeers
import VoiceRealtime

@testable import VoiceTransport

/// The address of a peer.
private let home = EndpointAddress(high: 0, low: 0xFFFF_0A00_0001, port: 5_000)

/// Both ends of a path.
private struct Rounds: ~Copyable {
    private static let credentials = STUNCredentials(
        fragment: UserFragment(high: 1, low: 2), password: STUNPassword(high: 3, low: 4))

    private static let key = CookieKey(high: 8, low: 9)
    private var client = ConsentClient(to: credentials, from: UserFragment(high: 5, low: 6), now: .zero)
    private var server = ConsentServer(password: credentials.password, at: home)
    private var number: UInt64 = 0

    /// A move to a new address: a request, the question for proof, a request with it, and its answer; whether all were
    /// taken.
    mutating func round<Integrity: STUNIntegrity & ~Copyable>(
        by integrity: borrowing Integrity, _ request: inout [UInt8], _ answer: inout [UInt8]
    ) -> Bool {
        number += 1
        let source = EndpointAddress(high: number, low: 1, port: 1)
        let (asked, seen) = exchange(from: source, transaction: 7, by: integrity, &request, &answer)
        guard asked == .unproved, seen == .askedForProof(seenAt: source) else { return false }
        let (proved, confirmed) = exchange(from: source, transaction: 8, by: integrity, &request, &answer)
        guard case .moved = proved, case .confirmed(source, _) = confirmed else { return false }
        return true
    }

    private mutating func exchange<Integrity: STUNIntegrity & ~Copyable>(
        from source: EndpointAddress, transaction: UInt32, by integrity: borrowing Integrity,
        _ request: inout [UInt8], _ answer: inout [UInt8]
    ) -> (ConsentVerdict?, ConsentAnswer?) {
        let now = client.nextTimeout
        let cookie = AddressCookie(of: source, key: Self.key, now: now)
        let entropy = ConsentEntropy(transaction: STUNTransaction(high: number, low: transaction), spread: 9)
        var sent = request.mutableSpan
        guard let count = client.request(entropy, now: now, by: integrity, into: &sent),
            let message = try? STUNMessage(sent.span.extracting(first: count)),
            let username = message.username, UserFragment(serverPartOf: username) != nil
        else { return (nil, nil) }
        let verdict = server.handle(message, from: source, cookie: cookie, by: integrity)
        var returned = answer.mutableSpan
        let length = server.answer(
            message, from: source, askingFor: verdict == .unproved ? cookie : nil, by: integrity, into: &returned)
        guard let length, let reply = try? STUNMessage(returned.span.extracting(first: length)) else {
            return (verdict, nil)
        }
        return (verdict, client.handle(reply, now: now, by: integrity))
    }
}

@Suite("Consent costs little")
struct ConsentAllocationTests {
    /// A sum in the place of the hash, which is OpenSSL's and allocates as it likes.
    private struct Sum: STUNIntegrity {
        func hmacSHA1(key: Span<UInt8>, _ first: Span<UInt8>, _ second: Span<UInt8>) -> InlineArray<20, UInt8>? {
            var sum: UInt64 = 0
            for index in key.indices { sum = sum &* 31 &+ UInt64(key[index]) }
            for index in first.indices { sum = sum &* 31 &+ UInt64(first[index]) }
            for index in second.indices { sum = sum &* 31 &+ UInt64(second[index]) }
            return InlineArray { UInt8(truncatingIfNeeded: sum >> UInt64($0 % 8 * 8)) }
        }
    }

    @Test("both ends agree by OpenSSL's HMAC")
    func agreement() throws {
        guard let integrity = MessageIntegrity() else { throw NoHMAC() }
        var rounds = Rounds()
        var (request, answer) = ([UInt8](repeating: 0, count: 200), [UInt8](repeating: 0, count: 200))
        var passed = 0
        for _ in 0..<100 where rounds.round(by: integrity, &request, &answer) { passed += 1 }
        #expect(passed == 100)
    }

    /// OpenSSL has no HMAC-SHA1 here.
    private struct NoHMAC: Error {}

    @Test(
        "asking, following and answering allocate nothing",
        .enabled(if: areAllocationsCounted, "needs optimised code and the allocation counter"))
    func allocations() {
        var rounds = Rounds()
        var (request, answer) = ([UInt8](repeating: 0, count: 200), [UInt8](repeating: 0, count: 200))
        let integrity = Sum()
        var passed = rounds.round(by: integrity, &request, &answer) ? 1 : 0
        let before = RealtimeWatch.allocations ?? 0
        for _ in 0..<1_000 where rounds.round(by: integrity, &request, &answer) { passed += 1 }
        let allocated = (RealtimeWatch.allocations ?? .max) - before
        #expect(allocated == 0 && passed == 1_001)
    }
}
