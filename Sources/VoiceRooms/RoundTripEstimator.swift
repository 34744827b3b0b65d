/// The smoothed round trip and the retransmission time that follows from it (RFC 6298 section 2).
struct RoundTripEstimator: Sendable {
    private(set) var smoothed: Duration?
    private var variation: Duration = .zero

    mutating func add(_ sample: Duration) {
        guard sample >= .zero else { return }
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
