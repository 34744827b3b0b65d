import FoundationEssentials

/// A folder that a command is going to write files into.
enum OutputFolder {
    /// Makes the folder and those above it, and throws where it is plain beforehand that one of `files` cannot be
    /// written there.
    static func make(_ path: String, option: String, for files: [String]) throws {
        guard !path.isEmpty else { throw Failure(.usage, "\(option) is empty; name a folder") }
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            let isForbidden = (error as? CocoaError)?.code == .fileWriteNoPermission
            throw Failure(
                isForbidden ? .permissionDenied : .thresholdMissed,
                "the folder '\(path)' cannot be made: \(systemReason(of: error)); choose another with \(option)")
        }
        for file in files { try OutputFile.check("\(path)/\(file)", option: option) }
    }
}
