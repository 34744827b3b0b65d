/// Says how long to wait before a stream is started anew, and when to give it up.
///
/// The first restarts in a row follow at once, which costs the least silence. From then on something is amiss that
/// haste does not cure, and a thread at real-time priority that hurries stops the machine. A second of sound forgives
/// all.
///
/// Pure: reads no clock.
struct RestartBackoff: Equatable, BitwiseCopyable, Sendable {
    /// Restarts in a row that are not waited with.
    static let immediate = 3
    /// The first wait, doubled for each further one, and the longest.
    static let firstMilliseconds = 10
    static let longestMilliseconds = 500
    /// Restarts in a row after which it is given up: with the waits between, some six seconds.
    static let limit = 20
    /// Sound that makes the next failure a first one.
    static let forgivingSeconds = 1

    /// Restarts since there was sound for long enough.
    private(set) var inARow = 0

    /// How long to wait before the next restart, in milliseconds, 0 for not at all; nil to give up.
    mutating func next() -> Int? {
        guard inARow < Self.limit else { return nil }
        defer { inARow += 1 }
        guard inARow >= Self.immediate else { return 0 }
        return min(Self.firstMilliseconds << min(inARow - Self.immediate, 6), Self.longestMilliseconds)
    }

    /// Takes note that `frames` of `sampleRate` Hz have sounded since the last start.
    mutating func noteSound(frames: Int, sampleRate: Int) {
        if frames >= Self.forgivingSeconds * sampleRate { inARow = 0 }
    }
}
