internal import VoiceRealtime

/// By how much sound is missing before a block, as its time tells.
///
/// Times jitter where a client reads the clock in its callback: after a block that looked late comes one that looks
/// early, and nothing was missing. So a block is late only against the latest time that those before it have told,
/// which is forgotten slowly:
///
///     blocks, by their times   |  |    |  |   |    |  |
///     late                          ─►                     once, and not each time
struct SoundContinuity: BitwiseCopyable {
    /// A block that is this much too early, in frames of 48 kHz, is no jitter: times begin anew with it. 50 ms.
    private static let largestJitter = 2_400
    /// How much earlier the next block may be for each frame, in nanoseconds: 1 ms in a second, more than any clock is
    /// off by.
    private static let forgetting: Int64 = 21

    /// When the next block is due, at the latest; nil before the first.
    private var due: MonotonicTime?

    /// Takes `frames` frames of 48 kHz, the first of them at `time`. Returns by how many that is too late; 0 where it
    /// is not, less where times begin anew.
    mutating func insert(_ frames: Int, at time: MonotonicTime) -> Int {
        let late = due.map { time.frames(since: $0, sampleRate: 48_000) } ?? 0
        if let due, late < 0, late >= -Self.largestJitter {
            let end = due.advanced(byFrames: frames, sampleRate: 48_000)
            self.due = MonotonicTime(nanoseconds: end.nanoseconds - Int64(frames) * Self.forgetting)
            return 0
        }
        due = time.advanced(byFrames: frames, sampleRate: 48_000)
        return late
    }
}
