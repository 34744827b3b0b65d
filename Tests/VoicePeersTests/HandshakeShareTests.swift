import Testing

@testable import VoicePeers

/// Who may begin a handshake while others begin as many as they can.
@Suite("Shares of the handshakes that a table begins")
struct HandshakeShareTests {
    private let start = Duration.seconds(100)

    /// A server, and whoever asks it.
    private final class Scene {
        let server = PeerEnd.server(capacity: 4_096)
        private var nonce: UInt64 = 0

        init() { server.acceptsAll = false }

        /// Whether a handshake begins.
        func admits(_ address: EndpointAddress, now: Duration) -> Bool {
            nonce += 1
            return server.admit(address, nonce: nonce, now: now) == .consumed
        }

        /// A member at an address: one whom the caller has let in.
        func member(_ address: EndpointAddress, now: Duration) throws -> PeerID {
            try #require(admits(address, now: now))
            let peer = try #require(server.opened.last)
            server.table.accept(peer, now: now)
            return peer
        }

        /// Each of these addresses begins ten handshakes a second, up to the end and then too.
        func flood(_ addresses: [EndpointAddress], from start: Duration, for duration: Duration) {
            var now = start
            while now <= start + duration {
                for address in addresses { _ = admits(address, now: now) }
                server.handleTimeout(now: now)
                _ = server.transmissions()
                now += .milliseconds(100)
            }
        }
    }

    /// An address in a provider's network (/32), a site of it (/48), and a network of that (/64).
    private func ipv6(_ provider: Int, _ site: Int, _ network: Int, port: UInt16 = 1) -> EndpointAddress {
        EndpointAddress(
            high: UInt64(0x2001_0000 + provider) << 32 | UInt64(site) << 16 | UInt64(network), low: 1, port: port)
    }

    /// Real addresses of 200 hosts, each in a network far from the others'.
    private var manyHosts: [EndpointAddress] {
        (0..<200).map { EndpointAddress(high: 0, low: 0xFFFF_1700_0001 + UInt64($0) << 16, port: 1) }
    }

    @Test("who was in comes back while two hundred hosts begin as many handshakes as they can")
    func comingBack() throws {
        // Given a member, and an attack
        let scene = Scene()
        let peer = try scene.member(.of(1), now: start)
        scene.flood(manyHosts, from: start, for: .seconds(5))
        // When the member is lost, and comes back from another port
        var now = start + .seconds(5)
        scene.server.close(peer)
        // Then it does at once, and again
        for attempt in 0..<4 {
            scene.flood(manyHosts, from: now, for: .seconds(2))
            now += .seconds(2)
            #expect(scene.admits(.of(1, port: UInt16(attempt + 1)), now: now))
        }
    }

    @Test("what a member leaves behind is bounded, and ends", arguments: [Duration.zero, HandshakeBudget.memory])
    func leftBehind(wait: Duration) throws {
        // Given a member who has gone, and all other shares used up
        let scene = Scene()
        scene.server.close(try scene.member(.of(1), now: start))
        scene.flood(manyHosts, from: start + wait, for: .seconds(4))
        // When its network begins as many handshakes as it can
        let now = start + wait + .seconds(4)
        let admitted = (1...300).count { scene.admits(.of(1, port: UInt16($0)), now: now) }
        // Then it has what the member has left, and of the sparing share its own
        let left = wait == .zero ? HandshakeBudget.ofEachMember : 0
        #expect((left...left + HandshakeBudget.limits(.sparing).host.burst).contains(admitted))
    }

    @Test("a member who goes from address to address takes no more than its share along")
    func moving() {
        var budget = HandshakeBudget(key: CookieKey(high: 1, low: 2))
        budget.join(.of(0), now: start)
        for number in 0..<1_000 { budget.move(from: .of(number), to: .of(number + 1), now: start) }
        let left = (0...1_000).reduce(0) { $0 + budget.left(to: .of($1)) }
        #expect(left == HandshakeBudget.ofEachMember)
    }

    @Test("who joins at one address and goes to another again and again leaves that no more than a member does")
    func gathering() {
        var budget = HandshakeBudget(key: CookieKey(high: 1, low: 2))
        for number in 0..<100 {
            let now = start + .seconds(number)
            budget.join(.of(1), now: now)
            budget.move(from: .of(1), to: .of(2), now: now)
            budget.leave(.of(2), now: now)
        }
        #expect(budget.left(to: .of(2)) == HandshakeBudget.ofEachMember)
        // And two who are there have twice as much
        for _ in 0..<2 {
            budget.join(.of(1), now: start + .seconds(100))
            budget.move(from: .of(1), to: .of(2), now: start + .seconds(100))
        }
        #expect(budget.left(to: .of(2)) == 2 * HandshakeBudget.ofEachMember)
    }

    @Test("a member who goes to and fro has nobody else forgotten")
    func toAndFro() {
        // Given a network that a member has just left
        var budget = HandshakeBudget(key: CookieKey(high: 1, low: 2))
        budget.join(.of(0), now: start)
        budget.leave(.of(0), now: start)
        // When another goes between two networks more often than departures are remembered
        budget.join(.of(1), now: start)
        for number in 0..<2 * HandshakeBudget.departedLimit {
            budget.move(from: .of(1 + number % 2), to: .of(2 - number % 2), now: start)
        }
        // Then the first still has what it was left, for as long as that lasts
        #expect(budget.left(to: .of(0)) == HandshakeBudget.ofEachMember)
        #expect(budget.remembered <= 3)
        budget.join(.of(3), now: start + HandshakeBudget.memory)
        #expect(budget.left(to: .of(0)) == 0)
    }

    @Test("what is remembered of members is bounded")
    func memory() {
        var budget = HandshakeBudget(key: CookieKey(high: 1, low: 2))
        for number in 0..<100_000 {
            budget.join(.of(number), now: start)
            budget.leave(.of(number), now: start)
        }
        #expect(budget.remembered <= HandshakeBudget.departedLimit)
        budget.join(.of(1), now: start + HandshakeBudget.memory)
        #expect(budget.remembered == 1)
    }

    @Test("a newcomer comes in while everything that one provider has asks for more than it gets")
    func provider() {
        // Given an attacker with whole sites of one provider, four addresses in each of its networks
        let scene = Scene()
        let attackers = (0..<200).map { ipv6(1, $0 / 16, $0 % 16, port: UInt16($0 + 1)) }
        scene.flood(attackers, from: start, for: .seconds(10))
        let now = start + .seconds(10)
        // Then whoever is of another provider is in at the first try, fifty of them at once
        for number in 0..<50 { #expect(scene.admits(ipv6(2 + number / 8, number % 8, 0), now: now)) }
    }

    @Test("newcomers come in at once while two hundred hosts begin as many handshakes as they can")
    func hosts() {
        let scene = Scene()
        scene.flood(manyHosts, from: start, for: .seconds(10))
        let now = start + .seconds(10)
        for number in 0..<20 {
            let time = now + .milliseconds(100 * number)
            scene.flood(manyHosts, from: time, for: .zero)
            #expect(scene.admits(.of(number * 70_000), now: time))
        }
    }

    @Test("each width of a network has its limit, and all together have one", arguments: HandshakeBudget.Share.allCases)
    func widths(share: HandshakeBudget.Share) {
        let limits = HandshakeBudget.limits(share)
        // Narrower ones fill no wider one, and no wider one all of it
        #expect(limits.host.burst < limits.site.burst)
        #expect(limits.site.burst < limits.provider.burst)
        #expect(limits.provider.burst < limits.all.burst)
        #expect(limits.host.interval > limits.site.interval)
        #expect(limits.site.interval > limits.provider.interval)
        #expect(limits.provider.interval > limits.all.interval)
    }
}
