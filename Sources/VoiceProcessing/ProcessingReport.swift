/// What is known after one block of 10 ms. Unknown is nil, never 0.
public struct ProcessingReport: BitwiseCopyable, Sendable {
    /// Whether somebody at the near end speaks, by ``SpeechDetector``; nil without voice detection.
    public var voiceActivity: Bool?
    /// The beginning or end of speech that this block made certain, in time of processed signal since the processor was
    /// made.
    public var speech: SpeechDetector.Event?
    /// RMS, dBFS, of the talker over the speech of ``speech``: since it began, as it came, without noise and before the
    /// gain; nil while nobody speaks.
    public var utteranceLevel: Float?
    /// Time of processed signal since the processor was made, at the end of this block; nil without a near end's
    /// stages.
    public var processedTime: Duration?
    /// RMS of what the echo canceller left, before noise suppression and gain, dBFS.
    public var cancelledLevel: Float?
    /// The same octave by octave, and the noise's level; nil where ``noiseLevel`` is.
    package var cancelledOctaves: OctaveLevels?
    /// Probability of near speech in the block, 0...1, what may be left of an echo discounted; nil with gain and voice
    /// detection both off.
    public var speechProbability: Float?
    /// Level of the near end's noise before its suppression, dBFS; nil with noise suppression, gain and
    /// voice detection all off.
    public var noiseLevel: Float?
    /// What the noise suppressor took of the block's power, dB.
    public var noiseSuppression: Float?
    /// Gain at the end of the block, dB, without the limiter's; nil with the gain control off.
    public var gain: Float?
    /// What the limiter took at the end of the block, dB.
    public var limiting: Float?
    /// Level of the talker's speech before the gain, dBFS; nil before any speech.
    public var speechLevel: Float?
    /// Loudness of what leaves over 400 ms, LUFS (ITU-R BS.1770-4), -70 at least.
    public var momentaryLoudness: Float?
    /// Loudness of what leaves over 3 s, LUFS.
    public var shortTermLoudness: Float?
    /// RMS of the microphone's block as it came, dBFS, -127...0 (RFC 6464's floor stands for digital silence).
    public var inputLevel: Float
    /// RMS of the block as it leaves, dBFS, -127...0.
    public var outputLevel: Float
    /// RMS of the reference's block, dBFS, -127...0.
    public var referenceLevel: Float?
    /// Echo return loss, dB: the reference's power over that of its echo.
    public var echoReturnLoss: Float?
    /// Echo return loss enhancement, dB: the echo's power over that of what is left.
    public var echoReturnLossEnhancement: Float?
    /// Frames from a reference frame's entry into the processor to its echo's arrival, where the processor finds it
    /// itself.
    public var echoDelay: Int?
    /// ppm by which that delay grows: how much slower the playback's clock runs than the microphone's; nil while no
    /// drift was found.
    public var echoDriftPPM: Float?
    /// 0...1: how sure it is that the microphone hears the loudspeaker, and so how much of the canceller's output is
    /// used.
    public var echoPresence: Float?
    /// 0...1: how far what is left after cancelling can be taken for the near end, so that an interruption can be told
    /// from an echo; nil while the far end was not heard yet.
    public var echoReadiness: Float?
    /// RMS of the echo in the microphone's block as it is estimated, dBFS.
    public var echoLevel: Float?
    /// How hard the residual is suppressed in this block, which `auto` chooses; nil where the canceller is off or does
    /// not tell.
    public var echoSuppression: ProcessingSettings.EchoSuppression?
    /// Mean gain, dB, that the residual suppressor applied to the bins of speech.
    public var suppressionGain: Float?
    /// Whether the reference is what was played; nil where the processor does not look.
    public var referenceIntegrity: ReferenceIntegrity?
    /// What the native canceller decided in this block; nil for others.
    package var echoDecisions: EchoDecisions?
    /// Median delay in milliseconds that the library sees between its two inputs over its last second.
    public var libraryDelayMilliseconds: Int32?
    /// Standard deviation of that delay, milliseconds.
    public var libraryDelayDeviationMilliseconds: Int32?
    /// Share of the library's delay estimates, 0...1, at which it cancels badly.
    public var poorDelayFraction: Float?
    /// Whether the block might contain echo; false means almost certainly not.
    public var mayContainEcho: Bool?
    /// Likelihood, 0...1, that echo is left in the output.
    public var residualEchoLikelihood: Float?
    /// Frames by which the output lags the input in the active settings: the constant that was measured for them.
    public var processingDelay: Int
    /// False when the library failed on this block and it passed unprocessed; ``CaptureProcessor/failedBlocks`` counts
    /// them.
    public var processed: Bool

    /// A report of levels only.
    public init(inputLevel: Float, outputLevel: Float, processingDelay: Int = 0, processed: Bool = true) {
        self.inputLevel = inputLevel
        self.outputLevel = outputLevel
        self.processingDelay = processingDelay
        self.processed = processed
    }
}
