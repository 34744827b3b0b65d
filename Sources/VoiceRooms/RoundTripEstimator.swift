/// The smoothed round trip and the retransmission time that follows from it (RFC 6298 section 2).
struct RoundTripEstimator: Sendable {
    private(set) var smoothed: Duration?
    private var variation: Duration = .zero
    private var recent = InlineArray<8, Duration>(repeating: .zero)
    private var count = 0

    /// What a datagram that does not have to queue takes there and back: the lower quartile of the last eight samples,
    /// none of which an outlier moves. Nil before the first sample.
    var usual: Duration? {
        let known = min(count, recent.count)
        guard known > 0 else { return nil }
        let rank = (known - 1) / 4
        for index in 0..<known {
            let (below, alike) = (0..<known).reduce((0, 0)) { counts, other in
                (
                    counts.0 + (recent[other] < recent[index] ? 1 : 0),
                    counts.1 + (recent[other] == recent[index] ? 1 : 0)
                )
            }
            if (below..<below + alike).contains(rank) { return recent[index] }
        }
        return nil
    }

    mutating func add(_ sample: Duration) {
        guard sample >= .zero else { return }
        recent[count % recent.count] = sample
        count += 1
        guard let smoothed else {
            self.smoothed = sample
            variation = sample / 2
            return
        }
        let difference = smoothed > sample ? smoothed - sample : sample - smoothed
        variation = (variation * 3 + difference) / 4
        self.smoothed = (smoothed * 7 + sample) / 8
    }

    /// The time to wait for an acknowledgement, within the limits of `RoomTimers`.
    var retransmissionTime: Duration {
        guard let smoothed else { return RoomTimers.initialRetransmission }
        let time = smoothed + variation * 4
        return min(max(time, RoomTimers.minimumRetransmission), RoomTimers.maximumRetransmission)
    }
}
