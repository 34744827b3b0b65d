/// How long before the playback thread comes for it a block is put into the playout ring: what the media thread may be
/// late by.
///
/// The margin is part of the delay, so the engine measures how late its media thread is and keeps the margin just above
/// what happens more than once within ``memory``: it is raised at once, by a millisecond after repeated underruns, and
/// lowered a little at a time when all has been quiet.
public struct PlayoutMargin: Equatable, Sendable, BitwiseCopyable {
    /// What it begins with.
    public var initial: Duration
    /// What it never falls below.
    public var minimum: Duration
    /// What it never rises above; where that is not enough, the machine cannot keep up.
    public var maximum: Duration
    /// How long lateness is remembered, at least, and up to twice that. What comes more seldom is a gap each time, and
    /// costs no delay.
    public var memory: Duration

    /// No media thread that is later than this keeps up with a conversation: 40 ms.
    public static let limit = Duration.milliseconds(40)

    /// A minute: what comes once in two minutes is worth no delay.
    public static let memoryLimit = Duration.seconds(60)

    /// Two milliseconds to begin with, then what the machine needs.
    public init(
        initial: Duration = .milliseconds(2), minimum: Duration = .microseconds(500),
        maximum: Duration = .milliseconds(20), memory: Duration = .seconds(5)
    ) {
        self.initial = initial
        self.minimum = minimum
        self.maximum = maximum
        self.memory = memory
    }

    /// A margin that stays as it is.
    public static func fixed(_ margin: Duration) -> PlayoutMargin {
        PlayoutMargin(initial: margin, minimum: margin, maximum: margin)
    }
}
