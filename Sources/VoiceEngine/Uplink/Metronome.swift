internal import VoiceRealtime

/// The pace of the streams that an app feeds, and of whoever waits for the near talker's silence, where no microphone
/// gives it: there is none, or it stands still.
struct Metronome: BitwiseCopyable {
    /// How long no block was captured until it begins, longer than a device takes to restart: 500 ms.
    static let patience: Int64 = 500_000_000
    /// What it catches up with at most, after a freeze: 100 ms.
    private static let longestDelay: Int64 = 100_000_000
    /// What that is and a block more, frames of 48 kHz.
    static let mostFrames = Int(longestDelay) * 48_000 / 1_000_000_000 + Uplink.longestBlock

    /// When the last block was captured, or the first run was.
    private var lastCapture: MonotonicTime?
    /// When the next block of the streams is due, while it gives the pace.
    private var next: MonotonicTime?

    /// A block was captured: the microphone gives the pace.
    mutating func captured(at now: MonotonicTime) {
        lastCapture = now
        next = nil
    }

    /// When a block of the streams that is due now begins; nil where none is.
    mutating func tick(now: MonotonicTime, frames: Int) -> MonotonicTime? {
        guard let lastCapture else {
            self.lastCapture = now
            return nil
        }
        guard now.nanoseconds - lastCapture.nanoseconds >= Self.patience else { return nil }
        let earliest = MonotonicTime(nanoseconds: now.nanoseconds - Self.longestDelay)
        let time = max(next ?? now, earliest)
        guard time <= now else { return nil }
        next = time.advanced(byFrames: frames, sampleRate: 48_000)
        return time
    }
}
