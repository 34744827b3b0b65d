internal import CDuplexBuild
import VoiceEngine

/// What `duplex --version` says: of which version and commit it is, and with which files of libraries it runs.
enum EngineVersion {
    static let number = "0.1.0"

    /// Made only where it is asked for: it reads what is mapped into the process.
    static var text: String { CommandLine.arguments.contains("--version") ? full : "duplex \(number)" }

    private static let libraries = [
        "libopus", "libasound", "libwebrtc", "libspeexdsp", "libsndfile", "libssl", "libjwt", "libjansson",
    ]

    private static var full: String {
        let commit = unsafe String(cString: duplex_commit())
        let files = Finding.loadedFiles
        let loaded = libraries.compactMap { name in files.first { $0.hasPrefix(name) } }
        return """
            duplex \(number)\(commit.isEmpty ? "" : ", commit \(commit)")
            \(OpusLibrary.version), alsa-lib \(ALSALibrary.version)
            \(loaded.joined(separator: ", "))
            """
    }
}
