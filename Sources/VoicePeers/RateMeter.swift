/// How often something may happen: `burst` times at once, and once more in each `interval`.
package struct RateLimit: Equatable, Sendable {
    package let burst: Int
    package let interval: Duration

    package init(burst: Int, interval: Duration) {
        self.burst = burst
        self.interval = interval
    }
}

/// Holds a stream of events to a ``RateLimit``: the token bucket, in the form that keeps a time instead of a level (generic cell rate
/// algorithm, ITU-T I.371).
package struct RateMeter: Sendable {
    /// When the whole burst will be free again.
    private var isWholeAt: Duration = .zero

    package init() {}

    /// Whether one event, of whatever cost, may happen now.
    package func isOpen(_ limit: RateLimit, now: Duration) -> Bool {
        isWholeAt - now <= limit.interval * (limit.burst - 1)
    }

    /// Accounts for an event whose cost is known only afterwards: more than is left delays the next one.
    package mutating func charge(_ cost: Int, _ limit: RateLimit, now: Duration) {
        isWholeAt = max(isWholeAt, now) + limit.interval * cost
    }

    /// Accounts for one event if it may happen now.
    package mutating func take(_ limit: RateLimit, now: Duration) -> Bool {
        guard isOpen(limit, now: now) else { return false }
        charge(1, limit, now: now)
        return true
    }
}

/// As many meters as there are places, shared by all whose names fall on the same one: bounded, whoever comes (stochastic fairness,
/// RFC 8290 section 4 for queues).
package struct RateMeterTable: Sendable {
    /// Places: with 32 busy names, one in 32 shares its meter.
    static let places = 1024

    private var meters = [RateMeter](repeating: RateMeter(), count: places)

    package init() {}

    /// Accounts for one event of a name, given as its bytes.
    package mutating func take(_ name: some Sequence<UInt8>, _ limit: RateLimit, now: Duration) -> Bool {
        // FNV-1a, 64 bits: the same in each process, so that the same inputs give the same outputs.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in name { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return meters[Int(hash % UInt64(Self.places))].take(limit, now: now)
    }

    /// Accounts for one event of a number.
    package mutating func take(_ number: UInt64, _ limit: RateLimit, now: Duration) -> Bool {
        take((0..<8).lazy.map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }, limit, now: now)
    }
}
