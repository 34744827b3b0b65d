import ArgumentParser
import VoiceEngine
import VoiceRealtime

/// What is recorded of a call for `duplex replay`.
struct RecordOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Record what 'duplex replay' needs into this new folder: packets' headers, settings, decisions, times; no keys, no names.",
            valueName: "dir"))
    var record: String?
    @Flag(help: "With --record: the sound too, without which nothing can be run again. Some 24 MB a minute.")
    var recordSound = false
    @Option(help: ArgumentHelp("With --record: stop recording at so many MB. (default: 1024)", valueName: "MB"))
    var recordLimit: Int?

    private static let limits = 1...1_048_576
    private static let usualLimit = 1_024

    func validate() throws {
        guard record != nil || !recordSound else {
            throw ValidationError("--record-sound needs --record, the folder to record into")
        }
        guard let recordLimit else { return }
        guard record != nil else { throw ValidationError("--record-limit needs --record, the folder to record into") }
        guard Self.limits.contains(recordLimit) else {
            throw ValidationError(
                "--record-limit is \(recordLimit); use \(Self.limits.lowerBound) to \(Self.limits.upperBound) MB")
        }
    }

    /// Has the engine record, into a folder within the given one where several do.
    func apply(to configuration: inout EngineConfiguration, folder: String? = nil) throws {
        guard let record else { return }
        guard !record.isEmpty else { throw Failure(.usage, "--record is empty; name a folder") }
        if folder != nil { try OutputFolder.make(record, option: "--record", for: []) }
        configuration.recording = RecordingConfiguration(
            folder: folder.map { "\(record)/\($0)" } ?? record, includesSound: recordSound,
            maximumBytes: (recordLimit ?? Self.usualLimit) << 20)
    }

    /// What is wrong with a recording; nil where nothing is.
    static func complaint(_ status: RecordingStatus?) -> String? {
        guard let status else { return nil }
        var faults: [String] = []
        if status.lostRuns > 0 {
            faults.append(
                "it lacks \(status.lostRuns) runs of the media thread, since the disk was too slow, and can be run again up to the first of them"
            )
        }
        switch status.end {
        case nil: break
        case .full: faults.append("it ends at --record-limit")
        case .unwritable(let number): faults.append("it ends early: \(systemReason(number))")
        }
        return faults.isEmpty ? nil : "the recording is not whole: \(faults.joined(separator: "; "))"
    }
}
