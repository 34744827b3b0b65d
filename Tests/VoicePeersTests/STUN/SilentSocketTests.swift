import TestCases
import Testing

@testable import VoicePeers

@Suite("When a client takes its socket for dead")
struct SilentSocketTests {
    /// A client on a simulated clock, 40 ms from its server, which answers the requests that the network lets through.
    private struct Call {
        private static let password = STUNPassword(high: 11, low: 12)
        private static let home = EndpointAddress(high: 0, low: 0xFFFF_0A00_0001, port: 5_000)
        private var random = SeededNumbers(seed: 1)
        private var client = ConsentClient(
            to: STUNCredentials(
                fragment: UserFragment(peer: PeerID(slot: 1, generation: 1), salt: 0), password: password),
            from: UserFragment(high: 1, low: 1), now: .zero)
        private var answers: [(at: Duration, bytes: [UInt8])] = []
        private(set) var now = Duration.zero
        /// Requests that went out so far.
        private(set) var requests = 0
        /// When the socket was suspected first.
        private(set) var suspected: Duration?

        /// - Parameters:
        ///   - isAnswered: whether the network lets the request of that number through, and its answer.
        ///   - control: how often other things of the server come.
        mutating func run(
            until end: Duration, control: Duration? = nil, isAnswered: (Int) -> Bool
        ) throws {
            while now < end {
                now += .milliseconds(10)
                if let control, now.isMultiple(of: control) { client.heard(now: now) }
                while let first = answers.first, first.at <= now {
                    answers.removeFirst()
                    let answer = client.handle(try STUNMessage(first.bytes.span), now: now, by: ToyHMAC())
                    #expect(answer != .ignored)
                }
                try ask(isAnswered)
                if suspected == nil, let time = client.suspectsSocketAt, time <= now { suspected = now }
            }
        }

        private mutating func ask(_ isAnswered: (Int) -> Bool) throws {
            let entropy = ConsentEntropy(
                transaction: random.transaction(), spread: UInt16(truncatingIfNeeded: random.next()))
            let time = now
            var asking = client
            let request = written { asking.request(entropy, now: time, by: ToyHMAC(), into: &$0) ?? 0 }
            client = asking
            guard !request.isEmpty else { return }
            requests += 1
            guard isAnswered(requests) else { return }
            let key = Self.password.characters
            let bytes = try written { answer throws(STUNError) in
                try STUNBinding.success(
                    entropy.transaction, seenAt: Self.home, cookie: nil, password: key.span, by: ToyHMAC(),
                    into: &answer)
            }
            answers.append((now + .milliseconds(40), bytes))
        }
    }

    @Test("not for one answer that was lost, however quiet the call is")
    func oneLost() throws {
        var call = Call()
        try call.run(until: .seconds(120)) { $0 % 4 != 0 }
        #expect(call.suspected == nil)
    }

    @Test("not where requests are never answered, and control is")
    func ignored() throws {
        var call = Call()
        try call.run(until: .seconds(120), control: .seconds(4)) { _ in false }
        #expect(call.suspected == nil)
    }

    @Test("not where requests are answered no more, and control is")
    func ignoredLater() throws {
        var call = Call()
        try call.run(until: .seconds(120), control: .seconds(2)) { $0 < 20 }
        // Nor where that comes later by and by
        try call.run(until: .seconds(240), control: .seconds(4)) { _ in false }
        #expect(call.suspected == nil)
    }

    @Test("but after several requests without an answer, within three seconds of silence")
    func dead() throws {
        var call = Call()
        try call.run(until: .seconds(20)) { _ in true }
        let (asked, silence) = (call.requests, call.now)
        try call.run(until: .seconds(30)) { _ in false }
        let suspected = try #require(call.suspected)
        #expect(suspected - silence > .seconds(1))
        #expect(suspected - silence <= .seconds(3))
        #expect(call.requests - asked >= 4)
    }

    @Test("and not before anything was answered")
    func unanswered() throws {
        var call = Call()
        try call.run(until: .seconds(30)) { _ in false }
        #expect(call.suspected == nil)
    }
}

extension Duration {
    fileprivate func isMultiple(of other: Duration) -> Bool {
        (self / .milliseconds(1)).truncatingRemainder(dividingBy: other / .milliseconds(1)) == 0
    }
}
