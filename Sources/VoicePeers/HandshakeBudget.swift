internal import VoiceQueue

/// Who may begin a handshake, each of which costs a server some 190 µs of a processor with DTLS: nobody can use up what
/// belongs to others.
///
///     coming back ─► a few for each member, at the network where it is or was a minute ago
///     sparing     ─► networks that ask for little
///     others      ─► networks that ask for more, as a hundred clients behind one router do
///
/// The first share that has one left gives it. Within the last two, each address, each site and each provider's network
/// has its limit: see ``EndpointAddress/NetworkWidth``. So one who has many addresses has as much as the network that
/// they are in, and no more. Only addresses that have proved themselves by a cookie are asked about. A value, without a
/// clock; costs and keeps a bounded amount, whoever comes.
struct HandshakeBudget: Sendable {
    /// The shares of newcomers.
    enum Share: CaseIterable, Sendable { case sparing, others }

    struct Limits: Sendable {
        let all: RateLimit
        let provider: RateLimit
        let site: RateLimit
        let host: RateLimit
    }

    /// What a share has, in all and for each network of a width. Together with those who come back: 400 a second, 8 %
    /// of a processor.
    static func limits(_ share: Share) -> Limits {
        switch share {
        case .sparing:
            Limits(
                all: RateLimit(burst: 256, interval: .milliseconds(10)),
                provider: RateLimit(burst: 64, interval: .milliseconds(100)),
                site: RateLimit(burst: 16, interval: .seconds(1)),
                host: RateLimit(burst: 4, interval: .seconds(10)))
        case .others:
            Limits(
                all: RateLimit(burst: 512, interval: .milliseconds(10)),
                provider: RateLimit(burst: 256, interval: .milliseconds(20)),
                site: RateLimit(burst: 192, interval: .milliseconds(30)),
                host: RateLimit(burst: 128, interval: .milliseconds(50)))
        }
    }

    /// Handshakes of all who come back.
    static let comingBack = RateLimit(burst: 512, interval: .milliseconds(5))
    /// What each member leaves its network: more than the paths that it tries while a break lasts, if each second one
    /// fails.
    static let ofEachMember = 16
    /// How long that is kept: a break window, and as much again.
    static let memory: Duration = .seconds(60)
    /// Members who have left that are remembered at most.
    static let departedLimit = 4096

    /// What the members of one network have left it.
    private struct Credit: Sendable {
        var members = 0
        var left = 0
        /// When a member last left it.
        var departed: Duration = .zero
        /// Whether it stands in `departures`.
        var isListed = false
    }

    private struct Meters: Sendable {
        var all = RateMeter()
        var provider: RateMeterTable
        var site: RateMeterTable
        var host: RateMeterTable

        init(_ key: CookieKey) {
            (provider, site) = (RateMeterTable(key: key), RateMeterTable(key: key))
            // Whoever has a thousand addresses shares its meters with one newcomer in sixteen.
            host = RateMeterTable(key: key, places: 16_384)
        }

        mutating func take(_ source: EndpointAddress, _ limits: Limits, now: Duration) -> Bool {
            let names = (source.prefix(.provider), source.prefix(.site), source.prefix(.host))
            // Nothing is charged unless all have one left: who is refused costs nobody else anything.
            guard all.isOpen(limits.all, now: now), provider.isOpen(names.0, limits.provider, now: now),
                site.isOpen(names.1, limits.site, now: now), host.isOpen(names.2, limits.host, now: now)
            else { return false }
            all.charge(1, limits.all, now: now)
            provider.charge(names.0, limits.provider, now: now)
            site.charge(names.1, limits.site, now: now)
            host.charge(names.2, limits.host, now: now)
            return true
        }
    }

    private var credits: [UInt64: Credit] = [:]
    /// Networks that members have left, each once, about in that order: whoever goes to and fro pushes nobody out.
    private var departures = FIFOQueue<(network: UInt64, at: Duration)>()
    private var returns = RateMeter()
    private var sparing: Meters
    private var others: Meters

    /// - Parameter key: from a cryptographic source: nobody can choose networks that share a meter with another's.
    init(key: CookieKey) { (sparing, others) = (Meters(key), Meters(key)) }

    /// Whether a handshake from there may begin, which is accounted for.
    mutating func take(_ source: EndpointAddress, now: Duration) -> Bool {
        forget(now: now)
        let network = source.prefix(.host)
        if credits[network, default: Credit()].left > 0, returns.take(Self.comingBack, now: now) {
            credits[network]?.left -= 1
            return true
        }
        return sparing.take(source, Self.limits(.sparing), now: now)
            || others.take(source, Self.limits(.others), now: now)
    }

    // MARK: Members

    /// Somebody at this address is a member from now on.
    mutating func join(_ address: EndpointAddress, now: Duration) {
        forget(now: now)
        var credit = credits[address.prefix(.host)] ?? Credit()
        credit.members += 1
        // Not what was left of one more: who comes and goes again and again has no more than who stays.
        credit.left = max(credit.left, Self.ofEachMember * credit.members)
        credits[address.prefix(.host)] = credit
    }

    /// A member has gone from this address.
    mutating func leave(_ address: EndpointAddress, now: Duration) {
        let network = address.prefix(.host)
        var credit = credits[network] ?? Credit()
        credit.members -= 1
        credit.departed = now
        if !credit.isListed { departures.append((network, now)) }
        credit.isListed = true
        credits[network] = credit
        forget(now: now)
    }

    /// A member goes from one address to another, with what is left of its own.
    mutating func move(from former: EndpointAddress, to address: EndpointAddress, now: Duration) {
        guard former.prefix(.host) != address.prefix(.host) else { return }
        let taken = min(credits[former.prefix(.host)]?.left ?? 0, Self.ofEachMember)
        credits[former.prefix(.host)]?.left -= taken
        leave(former, now: now)
        var credit = credits[address.prefix(.host)] ?? Credit()
        credit.members += 1
        // Beside what others have left there, no more than who is there may have: whoever joins elsewhere and comes here
        // again and again would fill it, and leave those who come back nothing of their share.
        credit.left = max(credit.left, min(credit.left + taken, Self.ofEachMember * credit.members))
        credits[address.prefix(.host)] = credit
    }

    /// Forgets networks that members have left long ago, and the first of too many.
    private mutating func forget(now: Duration) {
        while let first = departures.first,
            now - first.at >= Self.memory || departures.count > Self.departedLimit
        {
            _ = departures.popFirst()
            guard let credit = credits[first.network] else { continue }
            // Somebody may have come there since, or left later.
            credits[first.network]?.isListed = false
            guard credit.members <= 0 else { continue }
            if now - credit.departed >= Self.memory || departures.count >= Self.departedLimit {
                credits[first.network] = nil
            } else {
                credits[first.network]?.isListed = true
                departures.append((first.network, credit.departed))
            }
        }
    }

    // What tests look at.

    /// What is left to a network by its members.
    func left(to address: EndpointAddress) -> Int { credits[address.prefix(.host)]?.left ?? 0 }
    /// Networks that something is kept of.
    var remembered: Int { max(credits.count, departures.count) }
}
