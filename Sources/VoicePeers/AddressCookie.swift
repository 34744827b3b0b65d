/// Proves that whoever has an address receives there: 128 bits that only the server can make, from the address, the
/// time and a key, and that nobody keeps (RFC 6347 section 4.2.1). Good for at least ``period``, and at most twice as
/// long.
package struct AddressCookie: Sendable, BitwiseCopyable {
    /// Bytes on the wire.
    package static let size = 16
    /// Time between two cookies of one address.
    static let period: Duration = .seconds(30)

    private let current: (high: UInt64, low: UInt64)
    private let previous: (high: UInt64, low: UInt64)

    /// The cookie of an address now.
    package init(of address: EndpointAddress, key: CookieKey, now: Duration) {
        let epoch = UInt64(bitPattern: Int64(now / Self.period))
        func numbers(_ epoch: UInt64) -> (UInt64, UInt64) {
            let place = UInt64(address.scope) << 16 | UInt64(address.port)
            return (
                key.hash([address.high, address.low, place, epoch << 1]),
                key.hash([address.high, address.low, place, epoch << 1 | 1])
            )
        }
        current = numbers(epoch)
        previous = numbers(epoch &- 1)
    }

    /// The bytes to ask for.
    package var bytes: InlineArray<16, UInt8> {
        InlineArray { index in
            UInt8(truncatingIfNeeded: (index < 8 ? current.high : current.low) >> (56 - 8 * UInt64(index % 8)))
        }
    }

    /// Whether these are the bytes of a cookie of this address, of this period or the one before. In constant time.
    package func accepts(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count == Self.size else { return false }
        func number(from first: Int) -> UInt64 { (first..<first + 8).reduce(0) { $0 << 8 | UInt64(bytes[$1]) } }
        let (high, low) = (number(from: 0), number(from: 8))
        func differs(_ cookie: (high: UInt64, low: UInt64)) -> UInt64 { (cookie.high ^ high) | (cookie.low ^ low) }
        let (one, other) = (differs(current), differs(previous))
        return (one == 0) != (other == 0)
    }
}

/// 128 random bits from the caller, one for each socket, which nobody else ever sees.
package struct CookieKey: Sendable, BitwiseCopyable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    /// Makes a key of 128 bits, which must come from a cryptographic source.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A placeholder; the key is not shown.
    package var description: String { "CookieKey(hidden)" }

    /// A key for something else, of which this one's results tell nothing.
    package func derived(for purpose: Purpose) -> CookieKey {
        CookieKey(high: hash([purpose.rawValue, 1, 0]), low: hash([purpose.rawValue, 2, 0]))
    }

    /// What a derived key is for.
    package enum Purpose: UInt64, Sendable {
        case handshakeMeters = 1
        case identityMeters
    }

    /// SipHash-2-4 (Aumasson and Bernstein 2012) of whole words: whoever has seen its results cannot foretell another.
    /// Allocates nothing.
    func hash<let count: Int>(_ words: InlineArray<count, UInt64>) -> UInt64 {
        var state = SipHash(low: low, high: high)
        for index in words.indices { state.absorb(words[index]) }
        return state.finish(byteCount: count * 8)
    }

    /// SipHash-2-4 of bytes.
    func hash(bytes: Span<UInt8>) -> UInt64 {
        var state = SipHash(low: low, high: high)
        var word: UInt64 = 0
        for index in bytes.indices {
            word |= UInt64(bytes[index]) << (8 * UInt64(index % 8))
            if index % 8 == 7 {
                state.absorb(word)
                word = 0
            }
        }
        return state.finish(byteCount: bytes.count, rest: word)
    }
}

/// The state of SipHash-2-4; `low` is the first half of the key.
private struct SipHash {
    private var v0, v1, v2, v3: UInt64

    init(low: UInt64, high: UInt64) {
        v0 = low ^ 0x736F_6D65_7073_6575
        v1 = high ^ 0x646F_7261_6E64_6F6D
        v2 = low ^ 0x6C79_6765_6E65_7261
        v3 = high ^ 0x7465_6462_7974_6573
    }

    mutating func absorb(_ word: UInt64) {
        v3 ^= word
        round()
        round()
        v0 ^= word
    }

    /// `rest` are the bytes behind the last whole word; the padding has the length in its top byte.
    mutating func finish(byteCount: Int, rest: UInt64 = 0) -> UInt64 {
        absorb(rest | UInt64(truncatingIfNeeded: byteCount) << 56)
        v2 ^= 0xFF
        for _ in 0..<4 { round() }
        return v0 ^ v1 ^ v2 ^ v3
    }

    private mutating func round() {
        func turn(_ value: UInt64, _ bits: UInt64) -> UInt64 { value << bits | value >> (64 - bits) }
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
}
