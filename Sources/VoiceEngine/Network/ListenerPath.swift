/// What the round trips to one listener say about a queue on the way: the delay above the recent minimum.
struct ListenerPath: BitwiseCopyable, Sendable {
    /// A route that has become longer is known as such after one to two of these: 15 s.
    private static let memory: Duration = .seconds(15)
    /// A new round trip's weight; larger than RFC 6298's 1/8, because there is one a second at most.
    private static let weight = 0.25

    private var smoothed: Double?
    private var least = Double.infinity
    private var leastBefore = Double.infinity
    private var since: Duration?

    /// Takes a round trip, in seconds.
    mutating func note(_ roundTrip: Double, now: Duration) {
        if let since, now - since < Self.memory {
            least = min(least, roundTrip)
        } else {
            (leastBefore, least, since) = (least, roundTrip, now)
        }
        smoothed = smoothed.map { $0 + (roundTrip - $0) * Self.weight } ?? roundTrip
    }

    /// Seconds by which round trips are longer than they have been; nil before the first.
    var excess: Double? { smoothed.map { max(0, $0 - min(least, leastBefore)) } }
}
