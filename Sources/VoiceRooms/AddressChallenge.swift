/// 128 random bits from the server's caller, one for each participant, which nobody else ever sees.
public struct ChallengeKey: Sendable, BitwiseCopyable, CustomStringConvertible {
    let high: UInt64
    let low: UInt64

    /// Makes a key of 128 bits, which must come from a cryptographic source.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A placeholder; the key is not shown.
    public var description: String { "ChallengeKey(hidden)" }

    /// SipHash-2-4 of eight bytes (Aumasson and Bernstein 2012): whoever has seen its results of some numbers cannot foretell that of another.
    /// `low` is the first half of the key.
    func hash(_ number: UInt64) -> UInt64 {
        var v0 = low ^ 0x736F_6D65_7073_6575
        var v1 = high ^ 0x646F_7261_6E64_6F6D
        var v2 = low ^ 0x6C79_6765_6E65_7261
        var v3 = high ^ 0x7465_6462_7974_6573
        func turn(_ value: UInt64, _ bits: UInt64) -> UInt64 { value << bits | value >> (64 - bits) }
        func round() {
            v0 &+= v1
            v1 = turn(v1, 13) ^ v0
            v0 = turn(v0, 32)
            v2 &+= v3
            v3 = turn(v3, 16) ^ v2
            v0 &+= v3
            v3 = turn(v3, 21) ^ v0
            v2 &+= v1
            v1 = turn(v1, 17) ^ v2
            v2 = turn(v2, 32)
        }
        // The number, and then the padding, whose top byte is the length.
        for word in [number, 8 << 56] {
            v3 ^= word
            round()
            round()
            v0 ^= word
        }
        v2 ^= 0xFF
        for _ in 0..<4 { round() }
        return v0 ^ v1 ^ v2 ^ v3
    }
}

/// Has an address prove that whoever joined from there also receives there: a `ping` with a number that nobody can guess, which the `pong`
/// brings back (the path validation of RFC 9000 section 8.2).
struct AddressChallenge: Sendable {
    /// The number.
    let number: UInt64
    /// When the `ping` is to be sent again.
    private(set) var repeatsAt: Duration
    private var interval = RoomTimers.initialRetransmission

    init(number: UInt64, now: Duration) {
        self.number = number
        repeatsAt = now + interval
    }

    /// Whether the `ping` is to be sent again now.
    mutating func isDue(now: Duration) -> Bool {
        guard now >= repeatsAt else { return false }
        interval = min(interval * 2, RoomTimers.maximumRetransmission)
        repeatsAt = now + interval
        return true
    }
}
