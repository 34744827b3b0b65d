import VoiceRealtime

/// A folder that a command is going to write files into.
enum OutputFolder {
    /// Makes the folder and those above it, and throws where it is plain beforehand that one of `files` cannot be
    /// written there.
    static func make(_ path: String, option: String, for files: [String]) throws {
        guard !path.isEmpty else { throw Failure(.usage, "\(option) is empty; name a folder") }
        do throws(SystemError) {
            try Folder.make(path)
        } catch {
            throw Failure(
                error.isForbidden ? .permissionDenied : .thresholdMissed,
                "the folder '\(path)' cannot be made: \(systemReason(error.number)); choose another with \(option)")
        }
        for file in files { try OutputFile.check("\(path)/\(file)", option: option) }
    }
}
