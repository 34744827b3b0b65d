/// What is known after one block of 10 ms. Unknown is nil, never 0.
public struct ProcessingReport: BitwiseCopyable, Sendable {
    /// Whether the block is voice; nil without voice detection.
    public var voiceActivity: Bool?
    /// Probability of speech, 0...1, as the noise suppressor sees it; nil without one, or where the library does not tell.
    public var speechProbability: Float?
    /// RMS of the microphone's block as it came, dBFS, -127...0 (RFC 6464's floor stands for digital silence).
    public var inputLevel: Float
    /// RMS of the block as it leaves, dBFS, -127...0.
    public var outputLevel: Float
    /// Echo return loss, dB: the reference's power over that of its echo.
    public var echoReturnLoss: Float?
    /// Echo return loss enhancement, dB: the echo's power over that of what is left.
    public var echoReturnLossEnhancement: Float?
    /// Frames from a reference frame's entry into the processor to its echo's arrival, where the processor finds it itself.
    public var echoDelay: Int?
    /// ppm by which that delay grows: how much slower the playback's clock runs than the microphone's; nil while no drift was found.
    public var echoDriftPPM: Float?
    /// 0...1: how sure it is that the microphone hears the loudspeaker, and so how much of the canceller's output is used.
    public var echoPresence: Float?
    /// 0...1: how far what is left after cancelling can be taken for the near end, so that an interruption can be told from an echo;
    /// nil while the far end was not heard yet.
    public var echoReadiness: Float?
    /// RMS of the reference's block, dBFS.
    public var referenceLevel: Float?
    /// RMS of the echo in the microphone's block as it is estimated, dBFS.
    public var echoLevel: Float?
    /// Mean gain, dB, that the residual suppressor applied to the bins of speech.
    public var suppressionGain: Float?
    /// Whether the reference is what was played; nil where the processor does not look.
    public var referenceIntegrity: ReferenceIntegrity?
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
    /// False when the library failed on this block and it passed unprocessed; ``VoiceProcessor/failedBlocks`` counts them.
    public var processed: Bool

    /// A report of levels only.
    public init(inputLevel: Float, outputLevel: Float, processingDelay: Int = 0, processed: Bool = true) {
        voiceActivity = nil
        speechProbability = nil
        self.inputLevel = inputLevel
        self.outputLevel = outputLevel
        echoReturnLoss = nil
        echoReturnLossEnhancement = nil
        echoDelay = nil
        echoDriftPPM = nil
        echoPresence = nil
        echoReadiness = nil
        referenceLevel = nil
        echoLevel = nil
        suppressionGain = nil
        referenceIntegrity = nil
        libraryDelayMilliseconds = nil
        libraryDelayDeviationMilliseconds = nil
        poorDelayFraction = nil
        mayContainEcho = nil
        residualEchoLikelihood = nil
        self.processingDelay = processingDelay
        self.processed = processed
    }
}
