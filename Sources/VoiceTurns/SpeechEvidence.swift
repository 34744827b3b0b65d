/// What is known of one block of the microphone: evidence, of which others decide.
package struct SpeechEvidence: BitwiseCopyable, Equatable, Sendable {
    /// How likely the near talker speaks in it, 0...1; what is likely to be left of an echo is taken off.
    package var probability: Float
    /// Whether the echo canceller is to be trusted: without that, speech may be the far end's own.
    package var isTrusted: Bool
    /// Whether levels show nothing of the far end in what the canceller has left of late, or it is to be trusted: then a
    /// sound of the near end ducks, which does little harm. In noise a canceller may have no opinion of itself for
    /// seconds, for as long as it is not trusted; what it leaves is no louder than the noise meanwhile.
    package var isClean: Bool
    /// The canceller's own opinion of how far what it leaves is the near end's, 0...1; 1 where it has none, or where no
    /// echo is heard of which it could have one.
    package var confidence: Float
    /// What its levels tell of where the sound comes from; nil where they were not measured, and then they speak for
    /// the near end.
    package var levels: SoundLevels?
    /// When the block's end was at the microphone's ADC, on the monotonic clock since its epoch.
    package var end: Duration
    /// How long the block is.
    package var duration: Duration

    /// The evidence of one block.
    @inlinable
    @_noLocks @_noAllocation
    package init(
        probability: Float, isTrusted: Bool, isClean: Bool = false, confidence: Float = 1,
        levels: SoundLevels? = nil, end: Duration, duration: Duration
    ) {
        self.probability = probability
        self.isTrusted = isTrusted
        self.isClean = isTrusted || isClean
        self.confidence = confidence
        self.levels = levels
        self.end = end
        self.duration = duration
    }

    /// Levels of a block behind the echo canceller, before noise is taken away.
    package struct SoundLevels: BitwiseCopyable, Equatable, Sendable {
        /// RMS of what the canceller left, dBFS.
        package var left: Float
        /// By how much that stands out of the room's noise, dB; below 0 where it is quieter.
        package var overNoise: Float
        /// By how far that lies below what the microphone heard, or below the echo of the last moments where that was
        /// louder, dB: the farther, the more of it is echo.
        package var cancelled: Float
        /// By how much it stands out of what the canceller has left of late, dB; 0 or less where it does not.
        package var overResidual: Float
        /// The same of the octave of the voice's frequencies that stands out most of what was left in it, of those that
        /// stand out of the noise; 0 where none does.
        package var octaveOverResidual: Float
        /// By how much what the canceller's filter left in an octave stands out of all that it left there of late, and of
        /// what a noise moves by from block to block, dB: of the octave that stands out most of those in which it lies
        /// far above the echo that the filter takes away; 0 where none does. Before anything was taken of it for a
        /// residual echo.
        package var octaveOverError: Float
        /// Share of what the filter left that the canceller's network takes for a near end, 0...1; 0 where it does not
        /// tell.
        package var nearShare: Float
        /// How surely the microphone hears the far end alone, 0...1, by its coherence with the estimated echo over all
        /// of the voice's frequencies; 0 where the canceller does not tell.
        package var farEndAlone: Float

        /// Whether the room's noise is louder than `level`, dBFS.
        func isNoisy(_ level: Float) -> Bool { left - overNoise > level }

        /// The levels of one block.
        @inlinable
        @_noLocks @_noAllocation
        package init(
            left: Float, overNoise: Float, cancelled: Float, overResidual: Float = 0, octaveOverResidual: Float = 0,
            octaveOverError: Float = 0, nearShare: Float = 0, farEndAlone: Float = 0
        ) {
            self.left = left
            self.overNoise = overNoise
            self.cancelled = cancelled
            self.overResidual = overResidual
            self.octaveOverResidual = octaveOverResidual
            self.octaveOverError = octaveOverError
            self.nearShare = nearShare
            self.farEndAlone = farEndAlone
        }
    }
}
