/// Why voice processing could not be set up or changed. What runs keeps running as it was.
public enum ProcessingError: Error, Equatable, Sendable {
    /// A number of ``ProcessingSettings`` that has a range.
    public enum Field: Equatable, Sendable {
        /// ``ProcessingSettings/Gain/targetLevel``, -40...-10 dBFS.
        case targetLevel
        /// ``ProcessingSettings/Gain/largestGain``, 0...40 dB.
        case largestGain
        /// ``ProcessingSettings/Gain/fixedGain``, -40...40 dB.
        case fixedGain
        /// ``ProcessingSettings/speechDetector``; ``SpeechDetector/Configuration/isValid`` has the ranges.
        case speechDetector
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
