/// Why voice processing could not be set up or changed. What runs keeps running as it was.
public enum ProcessingError: Error, Equatable, Sendable {
    /// A number of ``ProcessingSettings`` or ``ProcessingChain/Configuration`` that has a range.
    public enum Field: Equatable, Sendable {
        /// ``ProcessingSettings/Gain/targetLevel``, -40...-10 dBFS.
        case targetLevel
        /// ``ProcessingSettings/Gain/maximumGain``, 0...40 dB.
        case maximumGain
        /// ``ProcessingSettings/Gain/fixedGain``, -40...40 dB.
        case fixedGain
        /// ``ProcessingSettings/speechDetector``; ``SpeechDetector/Configuration/isValid`` has the ranges.
        case speechDetector
        /// ``ProcessingChain/Configuration/lead``, 0...1 s.
        case lead
        /// ``ProcessingChain/Configuration/tolerance``, 0...1 s.
        case tolerance
        /// ``ProcessingChain/Configuration/expectedDelay``, 0 s or more.
        case expectedDelay
        /// ``ProcessingChain/Configuration/patience``, 0 s or more; without end is allowed.
        case patience
    }

    /// The sample rate is none of 16, 32 and 48 kHz. Resample to one of them.
    case unsupportedSampleRate(Int)
    /// A setting is out of its range. Correct the field.
    case invalidSetting(Field)
    /// The library could not allocate. Free memory and try again.
    case outOfMemory
    /// The library refused with a code of its own, or threw (code 0). Use ``ProcessingBackend/bypass``; this is worth a
    /// report.
    case libraryRefused(code: Int32)
}

extension ProcessingError: CustomStringConvertible {
    /// What is wrong and what to do, in one sentence for people.
    public var description: String {
        switch self {
        case .unsupportedSampleRate(let rate): "\(rate) Hz is not processed; resample to 16,000, 32,000 or 48,000 Hz"
        case .invalidSetting(.targetLevel): "gain.targetLevel is out of range; take -40 to -10 dBFS"
        case .invalidSetting(.maximumGain): "gain.maximumGain is out of range; take 0 to 40 dB"
        case .invalidSetting(.fixedGain): "gain.fixedGain is out of range; take -40 to 40 dB"
        case .invalidSetting(.speechDetector):
            "speechDetector is out of range; SpeechDetector.Configuration says what it takes"
        case .invalidSetting(.lead): "lead is out of range; take 0 to 1 s"
        case .invalidSetting(.tolerance): "tolerance is out of range; take 0 to 1 s"
        case .invalidSetting(.expectedDelay): "expectedDelay is out of range; take 0 s or more, or nil"
        case .invalidSetting(.patience): "patience is out of range; take 0 s or more"
        case .outOfMemory: "there is no memory for it; free some and try again"
        case .libraryRefused(let code): "its library refused (\(code)); take the bypass backend, and report this"
        }
    }
}
