import Testing

@testable import VoicePeers

@Suite("Meters that many names share")
struct RateMeterTests {
    private let limit = RateLimit(burst: 5, interval: .seconds(1))

    /// FNV-1a: a hash that everybody can work out.
    private func publicHash(_ name: [UInt8]) -> UInt64 {
        name.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    private func isTaken(_ name: [UInt8], _ table: inout RateMeterTable) -> Bool {
        table.take(name.span, limit, now: .zero)
    }

    /// Takes all that there is for a name.
    private func useUp(_ name: [UInt8], _ table: inout RateMeterTable) {
        let taken = (0..<100).prefix { _ in isTaken(name, &table) }.count
        #expect(taken < 100, "it has no end")
    }

    @Test("names chosen by a public hash use up nobody else's meter")
    func chosen() {
        var table = RateMeterTable(key: CookieKey(high: 1, low: 2))
        let victim = Array("room\0alice".utf8)
        let chosen = (0..<200_000).lazy.map { Array("room\0mallory\($0)".utf8) }.filter {
            publicHash($0) % 1024 == publicHash(victim) % 1024
        }.prefix(30)
        for name in chosen { useUp(name, &table) }
        #expect(chosen.count == 30)
        #expect(isTaken(victim, &table))
    }

    @Test("another key has other names share a meter")
    func keys() {
        func shares(_ key: CookieKey) -> Int {
            var table = RateMeterTable(key: key)
            let first = Array("name 0".utf8)
            useUp(first, &table)
            // Refused at the first try: it is on the same meter
            return (1..<20_000).first { !isTaken(Array("name \($0)".utf8), &table) } ?? 0
        }
        #expect(shares(CookieKey(high: 1, low: 2)) != shares(CookieKey(high: 3, low: 4)))
    }
}
