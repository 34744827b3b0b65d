/// Whether speech that a detector tells of is to be believed yet: a network that has heard nothing takes the first
/// noise of some cars and streets for speech, until it has learned what the place sounds like.
///
///     sound ──────────────────────────────────────────────────────►
///     │◄── probation: 0.5 s ──►│ speech that begins here is believed at once
///       └ speech that begins in it takes a turn after 0.2 s
///
/// Of 2,000 noises each as in a car (brown), at a detector's first block or up to 0.3 s of digital silence behind it,
/// none to 22 were speech (-60 to -25 dBFS), for 60 to 190 ms (docs/decisions/098, `DetectorProbationTests`). Pure; one
/// owner.
package struct DetectorProbation: BitwiseCopyable, Sendable {
    /// How much sound a detector must have heard for its beginnings to be believed.
    private static let length = Duration.milliseconds(500)
    /// How long speech that begins sooner must last, pauses between its sounds not counted.
    private static let speech = Duration.milliseconds(200)
    /// Probability at and above which a block is speech, whatever the detector's own threshold: a noise soon sinks below
    /// it. And how much of its length another block takes off, as in ``BargeInJudge``.
    private static let (threshold, leak) = (Float(0.7), 0.35)
    /// What is quieter, dBFS, is a microphone that is not on yet: less than a step of 16 bits.
    private static let silence: Float = -95

    private var heard = Duration.zero
    private var speech = Duration.zero
    /// Whether somebody speaks, and is not believed.
    package private(set) var isDoubting = false

    /// A detector that has heard nothing.
    package init() {}

    /// Takes a block: how likely it is speech, 0...1, and its level, dBFS. Whether what was doubted is believed by it.
    package mutating func take(probability: Float, level: Float, duration: Duration) -> Bool {
        guard isDoubting || heard < Self.length else { return false }
        if level > Self.silence { heard += duration }
        speech = probability >= Self.threshold ? speech + duration : max(.zero, speech - duration * Self.leak)
        guard isDoubting, speech >= Self.speech else { return false }
        isDoubting = false
        return true
    }

    /// The detector tells of a beginning; whether that is doubtful.
    package mutating func speechStarted() -> Bool {
        isDoubting = heard < Self.length && speech < Self.speech
        return isDoubting
    }

    /// The detector tells of an end.
    package mutating func speechEnded() { isDoubting = false }
}
