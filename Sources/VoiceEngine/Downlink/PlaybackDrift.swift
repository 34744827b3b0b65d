internal import VoiceRealtime

/// Decides whether the playback device's clock is followed, and at which rate. Pure: time comes in.
///
/// Below the threshold the jitter buffer makes up for the clocks, with a stretch of three milliseconds a minute that
/// nobody hears. Above it the sound is resampled, from then on for good: docs/decisions/010-playback-clock.md.
struct PlaybackDrift: BitwiseCopyable {
    /// The drift, either way, from which on the clock is followed; most crystals are better than this (typically ±20,
    /// at most ±50 ppm).
    static let thresholdPPM = 50.0
    /// A drift that is known less well is taken for none: followed for good, it would have been a mistake of the
    /// device's first seconds. One standard deviation, of which the threshold is more than two.
    static let largestUncertaintyPPM = 20.0
    /// For how long it must be seen: a device's first seconds tell little.
    private static let patience: Int64 = 3_000_000_000
    /// For how long the jitter buffers are then given time to take to what following asks of them.
    private static let preparation: Int64 = 3_000_000_000
    /// Beyond this it is no crystal but a mistake: ten times the worst that audio devices are allowed (USB Audio: ±500
    /// ppm with full speed).
    static let largestPPM = 5_000.0
    /// How fast the rate that is followed changes, ppm a second: a twentieth of a cent of pitch.
    private static let steepestPPMPerSecond = 25.0

    /// The drift that is followed; nil while none is.
    private(set) var followedPPM: Double?
    /// Whether it is about to be followed.
    private(set) var isPreparing = false
    private var suspectedSince: MonotonicTime?
    private var last: MonotonicTime?

    /// Takes the device's drift as it is known `now`, in ppm of the monotonic clock.
    mutating func update(measuredPPM: Double?, now: MonotonicTime) {
        defer { last = now }
        guard let measured = measuredPPM.map({ min(max($0, -Self.largestPPM), Self.largestPPM) }) else { return }
        if let followedPPM {
            let seconds = Double(now.nanoseconds - (last ?? now).nanoseconds) * 1e-9
            let step = Self.steepestPPMPerSecond * max(seconds, 0)
            self.followedPPM = followedPPM + min(max(measured - followedPPM, -step), step)
            return
        }
        guard measured.magnitude > Self.thresholdPPM else {
            suspectedSince = nil
            isPreparing = false
            return
        }
        let since = suspectedSince ?? now
        suspectedSince = since
        let seen = now.nanoseconds - since.nanoseconds
        if seen >= Self.patience + Self.preparation { followedPPM = measured }
        isPreparing = followedPPM == nil && seen >= Self.patience
    }
}
