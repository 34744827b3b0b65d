/// Why an audio file could not be read or written.
public enum AudioFileError: Error, Equatable, Sendable {
    /// There is no such file. Check the path.
    case missing(path: String)
    /// The file or its folder may not be opened. Check its permissions.
    case permissionDenied(path: String)
    /// The file is not audio, or of a kind that is not known. Convert it to WAV.
    case notAudio(path: String, reason: String)
    /// The file is audio but could not be read to its end. It is damaged; fetch it anew.
    case unreadable(path: String, reason: String)
    /// The file could not be made or written. Choose another place.
    case unwritable(path: String, reason: String)
    /// The disk is full. Free some space; what was written before may be incomplete.
    case diskFull(path: String)
    /// The file's rate, or the one asked for, is not one that can be converted: ``AudioFile/sampleRates``. Choose
    /// another.
    case unsupportedRate(path: String, sampleRate: Int)
    /// The file has more channels than ``AudioFile/maximumChannels``. Extract those that are meant.
    case tooManyChannels(path: String, channels: Int)
    /// The file lasts longer than ``AudioFile/longest``, and was to be read whole. Cut it.
    case tooLong(path: String)
}

extension AudioFileError: CustomStringConvertible {
    /// What, where, and what to do.
    public var description: String {
        switch self {
        case .missing(let path): "there is no file '\(path)'"
        case .permissionDenied(let path): "no permission to open '\(path)'"
        case .notAudio(let path, let reason):
            "'\(path)' is not an audio file of a known kind (\(reason)); convert it to WAV"
        case .unreadable(let path, let reason): "'\(path)' cannot be read to its end: \(reason)"
        case .unwritable(let path, let reason): "'\(path)' cannot be written: \(reason)"
        case .diskFull(let path): "the disk is full; '\(path)' is incomplete"
        case .unsupportedRate(let path, let rate):
            "'\(path)' has a sample rate of \(rate) Hz, which cannot be converted; use "
                + "\(AudioFile.sampleRates.lowerBound) to \(AudioFile.sampleRates.upperBound) Hz"
        case .tooManyChannels(let path, let channels):
            "'\(path)' has \(channels) channels; use at most \(AudioFile.maximumChannels): extract those that are meant"
        case .tooLong(let path):
            "'\(path)' lasts longer than \(AudioFile.longest.components.seconds / 3_600) hours; cut it"
        }
    }
}
