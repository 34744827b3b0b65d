/// How often something may happen: `burst` times at once, and once more in each `interval`.
package struct RateLimit: Equatable, Sendable {
    package let burst: Int
    package let interval: Duration

    package init(burst: Int, interval: Duration) {
        self.burst = burst
        self.interval = interval
    }
}

/// Holds a stream of events to a ``RateLimit``: the token bucket, in the form that keeps a time instead of a level
/// (generic cell rate algorithm, ITU-T I.371).
package struct RateMeter: Sendable {
    /// When the whole burst will be free again.
    private var isWholeAt: Duration = .zero

    package init() {}

    /// Whether one event, of whatever cost, may happen now.
    package func isOpen(_ limit: RateLimit, now: Duration) -> Bool {
        isWholeAt - now <= limit.interval * (limit.burst - 1)
    }

    /// When the next event may happen.
    package func opening(_ limit: RateLimit) -> Duration { isWholeAt - limit.interval * (limit.burst - 1) }

    /// Accounts for an event whose cost is known only afterwards: more than is left delays the next one.
    package mutating func charge(_ cost: Int, _ limit: RateLimit, now: Duration) {
        isWholeAt = max(isWholeAt, now) + limit.interval * cost
    }

    /// Accounts for one event, or one that costs as much as several, if it may happen now.
    package mutating func take(_ limit: RateLimit, cost: Int = 1, now: Duration) -> Bool {
        guard isOpen(limit, now: now) else { return false }
        charge(cost, limit, now: now)
        return true
    }
}

/// As many meters as there are places, shared by all whose names fall on the same one: bounded, whoever comes
/// (stochastic fairness, RFC 8290 section 4 for queues). Who does not have the key can neither choose a name that
/// shares the meter of another, nor find one.
package struct RateMeterTable: Sendable {
    private let key: CookieKey
    private let places: Int
    /// Of 16 bytes each; none before the first event.
    private var meters: [RateMeter] = []

    /// - Parameters:
    ///   - key: from a cryptographic source.
    ///   - places: with 32 busy names and 1024 places, one in 32 shares its meter.
    package init(key: CookieKey, places: Int = 1024) { (self.key, self.places) = (key, places) }

    /// Whether one event of a number may happen now.
    func isOpen(_ number: UInt64, _ limit: RateLimit, now: Duration) -> Bool {
        meters.isEmpty || meters[place(key.hash([number]))].isOpen(limit, now: now)
    }

    /// Accounts for one event of a number.
    mutating func charge(_ number: UInt64, _ limit: RateLimit, now: Duration) {
        makeMeters()
        meters[place(key.hash([number]))].charge(1, limit, now: now)
    }

    /// Accounts for one event of a name, given as its bytes, if it may happen now.
    package mutating func take(_ name: Span<UInt8>, _ limit: RateLimit, now: Duration) -> Bool {
        makeMeters()
        return meters[place(key.hash(bytes: name))].take(limit, now: now)
    }

    private mutating func makeMeters() {
        if meters.isEmpty { meters = [RateMeter](repeating: RateMeter(), count: places) }
    }

    private func place(_ hash: UInt64) -> Int { Int(hash % UInt64(places)) }
}
