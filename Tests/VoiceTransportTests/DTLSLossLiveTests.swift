import Glibc
import TestCases
import Testing
import VoicePeers
import VoiceRealtime

@testable import VoiceTransport

/// OpenSSL repeats by the system's clock, so what is lost takes real time to come again.
@Suite("A DTLS handshake over a bad network", .timeLimit(.minutes(2)))
struct DTLSLossLiveTests {
    /// One handshake, with a network between that loses, repeats and reorders datagrams.
    private final class Attempt {
        let client: DTLSEnd
        let server: DTLSEnd
        private var random: SeededNumbers
        private var waiting: [(toServer: Bool, datagram: [UInt8])] = []
        private(set) var lost = 0

        init(seed: Int, identity: ServerIdentity) throws {
            random = SeededNumbers(seed: UInt64(seed))
            server = DTLSEnd.server(identity)
            client = try DTLSEnd.client(.fingerprint(identity.fingerprint), now: MonotonicTime.now().sinceEpoch)
        }

        private func put(_ datagram: [UInt8], toServer: Bool) {
            if random.below(10) < 3 {
                lost += 1
                return
            }
            for _ in 0..<(random.below(5) == 0 ? 2 : 1) {
                waiting.insert((toServer, datagram), at: random.below(waiting.count + 1))
            }
        }

        var isOpen: Bool { client.state == .open && server.state == .open }

        /// Carries what there is, and has repeated what is due. When to come again at the latest.
        func run(now: Duration) -> Duration? {
            repeat {
                for end in [client, server] {
                    for record in end.records() { put(record, toServer: end === client) }
                }
                if let (toServer, datagram) = waiting.popLast() {
                    let (to, from) = toServer ? (server, client) : (client, server)
                    if let answer = to.receive(datagram, now: now).answer { put(answer, toServer: from === server) }
                }
            } while !waiting.isEmpty
            for end in [client, server] { end.security.handleTimeout(at: 0, now: now) }
            return [client, server].compactMap { $0.nextTimeout }.min()
        }
    }

    @Test("opens all the same, and does not ask for what it has")
    func loss() throws {
        let attempts = try (0..<12).map { try Attempt(seed: $0, identity: TestIdentity.localhost.identity) }
        let start = MonotonicTime.now().sinceEpoch
        var now = start
        // When
        while !attempts.allSatisfy(\.isOpen), now < start + .seconds(60) {
            let next = attempts.filter { !$0.isOpen }.compactMap { $0.run(now: now) }.min() ?? now
            // Not less than a millisecond: OpenSSL's clock is another.
            usleep(UInt32(max(next - now, .milliseconds(1)) / .microseconds(1)))
            now = MonotonicTime.now().sinceEpoch
        }
        // Then
        for (seed, attempt) in attempts.enumerated() {
            #expect(attempt.isOpen, "seed \(seed): \(attempt.client.state) \(attempt.server.state)")
            #expect(attempt.client.nextTimeout == nil)
            // And control passes, with the keys of both
            #expect(attempt.client.send([UInt8(seed)]))
            exchange(attempt.client, attempt.server)
            #expect(attempt.server.controls().last == [UInt8(seed)])
        }
        #expect(attempts.reduce(0) { $0 + $1.lost } > 20)
        print("handshakes with 30 % lost: \(now - start) for the last of \(attempts.count)")
    }

    @Test("repeats its hello after 0.2 s, and then after twice as long")
    func timers() throws {
        let begun = MonotonicTime.now().sinceEpoch
        let client = try DTLSEnd.client(.fingerprint(TestIdentity.localhost.identity.fingerprint), now: begun)
        let hello = try #require(client.records().first)
        // It began to wait between these two, however long this thread did not run
        var (before, after) = (begun, MonotonicTime.now().sinceEpoch)
        var waits: [(atLeast: Duration, atMost: Duration)] = []
        while waits.count < 2 {
            let due = try #require(client.nextTimeout)
            usleep(UInt32(max(due - MonotonicTime.now().sinceEpoch, .zero) / .microseconds(1)))
            let now = MonotonicTime.now().sinceEpoch
            client.security.handleTimeout(at: 0, now: now)
            let again = client.records()
            guard !again.isEmpty else { continue }
            waits.append((due - after, now - before))
            (before, after) = (now, MonotonicTime.now().sinceEpoch)
            // The same message in another record
            #expect(again.map(\.count) == [hello.count] && again[0].dropFirst(13) == hello.dropFirst(13))
        }
        #expect(waits[0].atMost > .milliseconds(180) && waits[0].atLeast < .milliseconds(300), "\(waits)")
        #expect(waits[1].atMost > .milliseconds(360) && waits[1].atLeast < .milliseconds(600), "\(waits)")
    }
}
