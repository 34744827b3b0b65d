public import VoiceProcessing

/// The beginning or the end of what the near talker says.
public struct SpeechMoment: BitwiseCopyable, Equatable, Sendable {
    /// When the first or the last of it was at the microphone's ADC, to a detector's frame, on the monotonic clock
    /// since its epoch. It lies before the event: by what the detector takes to be certain:
    /// ``SpeechDetector/Configuration/onsetConfirmation`` and ``SpeechDetector/Configuration/minimumSpeech``, or
    /// ``SpeechDetector/Configuration/minimumSilence``, at least.
    public var time: Duration
    /// RMS of the talker since the beginning, as the microphone heard it, without echo and noise, dBFS.
    public var level: Float
    /// Whether the echo canceller could be trusted when the event was told: without that a beginning may be an echo's.
    public var echo: EchoReadiness.State
    /// Whether it is a beginning that takes no turn before it has lasted, `DetectorProbation`.
    package var isDoubtful: Bool

    package init(time: Duration, level: Float, echo: EchoReadiness.State, isDoubtful: Bool = false) {
        self.time = time
        self.level = level
        self.echo = echo
        self.isDoubtful = isDoubtful
    }
}
