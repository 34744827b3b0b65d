import Foundation
import SimulatedCalls
import TestCases
import Testing
import VoiceSignal
import VoiceSimulation

@testable import VoiceEngine

/// Each part runs in a process of its own: the level of the kernels is the whole process's.
@Suite("A recording's level of CPU kernels")
struct RecordingLevelTests {
    /// Records three seconds over loudspeakers, where the canceller has something to do.
    private static func record(_ folder: String) throws {
        let talk = Talk(a: [0.3...2], b: [0.5...3], length: 3, seed: 11)
        var configuration = talk.overLoudspeakers
        configuration.recordings = [RecordingConfiguration(folder: folder, includesSound: true), nil]
        let call = try SimulatedCall(configuration)
        call.run(for: .seconds(3))
        call.closeRecording(.a)
    }

    /// Writes the recording in `folder` again, as one made with other kernels.
    static func rename(kernels: String, in folder: String) throws {
        let file = URL(filePath: "\(folder)/\(RecordingFormat.fileName)")
        let bytes = Array(try Data(contentsOf: file))
        let length = Int(bytes.span.word(at: 12))
        var settings = RecordedSettings()
        var reader = RecordCoder(reading: Array(bytes[16..<16 + length]))
        try settings.code(with: &reader)
        settings.kernels = kernels
        var writer = RecordCoder()
        try settings.code(with: &writer)
        let form = writer.bytes
        func little(_ value: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
        }
        let head =
            bytes[..<12] + little(UInt64(form.count), 4) + form
            + little(RecordingFormat.checksum(form.span, number: 0), 8)
        try Data(head + bytes[(16 + length + 8)...]).write(to: file)
    }

    private static func newFolder() -> String {
        FileManager.default.temporaryDirectory.appending(path: "levels-\(UUID().uuidString)").path()
    }

    @Test(
        "Given a recording made at a level of kernels, when a process that runs another replays it, then that level is used and every stage is the same to the bit",
        arguments: cases(VectorLevel.allCases))
    func forced(level: VectorLevel) async throws {
        let folder = Self.newFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let code = level.rawValue
        // A processor without the level has nothing to record
        guard level == .baseline || level.rawValue <= VectorLevel.current.rawValue else { return }
        await #expect(processExitsWith: .success) { [folder = folder as String, code = code as Int32] in
            try #require(VectorLevel(rawValue: code)?.use() == true)
            try Self.record(folder)
        }
        await #expect(processExitsWith: .success) { [folder = folder as String, code = code as Int32] in
            // Another than the recording's, where there is one
            _ = (code == 1 ? VectorLevel.v3 : .baseline).use()
            let replay = try Replay(folder: folder)
            #expect(VectorLevel.current.rawValue == code && replay.settings.difference == nil)
            let report = replay.run()
            #expect(report.isExact, "\(report)")
            #expect(report.stages.count >= 6)
        }
    }

    @Test(
        "Given a recording made at a level that the processor lacks, when it is replayed, then an error says so, and on request other kernels run and stages are found to differ",
        .enabled(if: isOptimised))
    func lacking() async throws {
        let folder = Self.newFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let hasLevels = VectorLevel.current != .baseline
        await #expect(processExitsWith: .success) { [folder = folder as String] in
            _ = VectorLevel.baseline.use()
            try Self.record(folder)
            try Self.rename(kernels: "x86-64-v9", in: folder)
        }
        await #expect(processExitsWith: .success) { [folder = folder as String, hasLevels = hasLevels as Bool] in
            let here = VectorLevel.current.name
            #expect(throws: RecordingFault.lacksKernels(recorded: "x86-64-v9", here: here)) {
                try Replay(folder: folder)
            }
            let replay = try Replay(folder: folder, anyKernels: true)
            #expect(VectorLevel.current.name == here && replay.settings.difference?.contains("x86-64-v9") == true)
            let report = replay.run()
            #expect(report.fault == nil && report.runs > 250)
            // Levels do round differently: what was recorded with the baseline is not what others make
            #expect(report.isExact != hasLevels, "\(report)")
        }
    }
}
