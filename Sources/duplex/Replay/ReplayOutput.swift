import Glibc
import VoiceDevices
import VoiceEngine
import VoiceRealtime

/// What a replay writes: a WAV file for each stage, and the decisions. Remembers the first failure until it is closed.
@safe
final class ReplayOutput {
    /// A file each for the stages, and for the talkers that an ordinary call has.
    private static let mostFiles = 64

    private let folder: String
    private var files: [String: StageFile] = [:]
    private var decisions: UnsafeMutablePointer<FILE>?
    private var failure: Failure?
    /// Frames of the mix so far, with which those of each talker go.
    private var mixed = 0

    /// One stage's file.
    private final class StageFile {
        var writer: AudioFileWriter?

        init(_ path: String) throws(AudioFileError) {
            writer = try AudioFileWriter(path, encoding: .float32)
        }

        var frames: Int { writer?.frames ?? 0 }

        func write(_ frames: Span<Float>) throws(AudioFileError) { try writer?.write(frames) }

        func close() throws(AudioFileError) {
            guard let writer = writer.take() else { return }
            try writer.close()
        }
    }

    init(_ folder: String) throws {
        // What somebody said is its owner's alone, as the recording is.
        umask(0o077)
        try OutputFolder.make(folder, option: "--output", for: ["decisions.ndjson"])
        self.folder = folder
        unsafe decisions = fopen("\(folder)/decisions.ndjson", "we")
        guard unsafe decisions != nil else {
            throw Failure(.thresholdMissed, "'\(folder)/decisions.ndjson' cannot be written: \(systemReason(errno))")
        }
    }

    deinit { if let decisions = unsafe decisions { unsafe fclose(decisions) } }

    /// A decision.
    func write(_ decision: ReplayDecision) {
        guard let decisions = unsafe decisions, let line = try? Console.encode(decision) else { return }
        var text = PlainText.escapedJSON(line) + "\n"
        let isWritten = text.withUTF8 { unsafe fwrite($0.baseAddress, 1, $0.count, decisions) == $0.count }
        if !isWritten, failure == nil {
            failure = Failure(
                .thresholdMissed, "'\(folder)/decisions.ndjson' cannot be written: \(systemReason(errno))")
        }
    }

    /// Sound that passed a stage. A talker's begins where the mix does, with silence while there was nothing.
    func write(_ stage: Stage, _ frames: Span<Float>) {
        if stage == .point(.mix) { mixed += frames.count }
        let isTalker = stage.name.hasPrefix("participant")
        write(stage.name, frames, from: isTalker ? mixed : nil)
    }

    /// What the device played.
    func writePlayback(_ frames: Span<Float>) { write("playback", frames, from: nil) }

    private func write(_ name: String, _ frames: Span<Float>, from first: Int?) {
        guard failure == nil else { return }
        do throws(AudioFileError) {
            let file: StageFile
            if let known = files[name] {
                file = known
            } else {
                guard files.count < Self.mostFiles else { return }
                file = try StageFile("\(folder)/\(name).wav")
                files[name] = file
            }
            if let first, file.frames < first {
                let silence = [Float](repeating: 0, count: min(first - file.frames, 48_000))
                while file.frames < first {
                    try file.write(silence.span.extracting(first: min(silence.count, first - file.frames)))
                }
            }
            try file.write(frames)
        } catch {
            failure = Failure(error)
        }
    }

    /// Completes the files, and throws what went wrong with any.
    func close() throws {
        if let failure { throw failure }
        for file in files.values { do throws(AudioFileError) { try file.close() } catch { throw Failure(error) } }
        guard let decisions = unsafe self.decisions else { return }
        unsafe self.decisions = nil
        guard unsafe fclose(decisions) == 0 else {
            throw Failure(.thresholdMissed, "'\(folder)/decisions.ndjson' cannot be written: \(systemReason(errno))")
        }
    }
}
