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
    /// The rate is not one that can be converted: 1 to 768,000 Hz. Choose another.
    case unsupportedRate(sampleRate: Int)
}

extension AudioFileError: CustomStringConvertible {
    /// What, where, and what to do.
    public var description: String {
        switch self {
        case .missing(let path): "there is no file '\(path)'"
        case .permissionDenied(let path): "no permission to open '\(path)'"
        case .notAudio(let path, let reason):
            "'\(path)' is not an audio file of a known kind (\(reason)); convert it to WAV"
        case .unreadable(let path, let reason): "'\(path)' is damaged: \(reason)"
        case .unwritable(let path, let reason): "'\(path)' cannot be written: \(reason)"
        case .diskFull(let path): "the disk is full; '\(path)' is incomplete"
        case .unsupportedRate(let rate): "a sample rate of \(rate) Hz cannot be converted; use 1 to 768,000 Hz"
        }
    }
}
