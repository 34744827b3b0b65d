/// What is known of one block of the microphone: evidence, of which others decide.
public struct SpeechEvidence: BitwiseCopyable, Equatable, Sendable {
    /// How likely the near talker speaks in it, 0...1; what is likely to be left of an echo is taken off.
    public var probability: Float
    /// Whether the echo canceller is to be trusted: without that, speech may be the far end's own.
    public var isTrusted: Bool
    /// Whether it sounds of the near end itself: above the room's noise, and hardly touched by the echo canceller. It may be no speech.
    public var isNear: Bool
    /// When the block's end was at the microphone's ADC, on the monotonic clock since its epoch.
    public var end: Duration
    /// How long the block is.
    public var duration: Duration

    /// The evidence of one block.
    @inlinable
    @_noLocks @_noAllocation
    public init(
        probability: Float, isTrusted: Bool, isNear: Bool = false, end: Duration, duration: Duration
    ) {
        self.probability = probability
        self.isTrusted = isTrusted
        self.isNear = isNear
        self.end = end
        self.duration = duration
    }
}
