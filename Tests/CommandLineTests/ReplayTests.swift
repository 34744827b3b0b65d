import Foundation
import SimulatedCalls
import Testing
import VoiceDevices
import VoiceEngine
import VoiceSimulation

@Suite("A recorded call is run again")
struct ReplayTests {
    /// Records two seconds of a call as `folder/recording`.
    private func record(_ folder: TestFolder, sound: Bool = true) throws {
        var configuration = SimulatedCall.Configuration(talkers: [
            SpeechSource(SyntheticSpeech(seed: 1)), SpeechSource(SyntheticSpeech(seed: 2)),
        ])
        configuration.longest = .seconds(2)
        configuration.recordings = [RecordingConfiguration(folder: folder("recording"), includesSound: sound), nil]
        let call = try SimulatedCall(configuration)
        call.run(for: .seconds(2))
        call.closeRecording(.a)
    }

    @Test("to the bit, with a file for each stage and one for the decisions")
    func replay() throws {
        let folder = try TestFolder()
        try record(folder)
        let result = try ChildProcess.run(["replay", folder("recording"), "--output", folder("heard"), "--json"])
        #expect(result.exitCode == 0, "\(result.standardError)")
        let lines = try #require(result.json)
        let summary = try #require(lines.last)
        #expect(summary["type"] as? String == "summary" && summary["is_exact"] as? Bool == true)
        #expect(
            lines.contains {
                $0["type"] as? String == "command" && ($0["detail"] as? String)?.hasPrefix("publish") == true
            })
        let names = try #require(summary["stages"] as? [[String: Any]]).compactMap { $0["name"] as? String }
        #expect(Set(names).isSuperset(of: ["captured", "processed", "sent", "mix", "playout", "packets"]), "\(names)")
        for name in ["captured", "processed", "sent", "mix", "playout", "playback"] {
            let samples = try AudioFile.read(folder("heard/\(name).wav")).samples
            #expect(samples.count > 90_000, "\(name): \(samples.count)")
        }
        let talker = try #require(names.first { $0.hasPrefix("participant-") })
        #expect(try AudioFile.read(folder("heard/\(talker).wav")).samples.contains { abs($0) > 0.01 })
        let decisions = try String(contentsOfFile: folder("heard/decisions.ndjson"), encoding: .utf8)
        #expect(decisions.split(separator: "\n").count == lines.count - 1)
        // A part of it, for people
        let part = try ChildProcess.run(["replay", folder("recording"), "--until", "1"])
        #expect(part.exitCode == 0 && part.standardOutput.contains("the same to the bit"), "\(part.standardOutput)")
    }

    @Test("what cannot be run is refused with what, where and what to do")
    func refusals() throws {
        let folder = try TestFolder()
        try record(folder, sound: false)
        let mute = try ChildProcess.run(["replay", folder("recording"), "--json"])
        #expect(mute.exitCode == 66 && mute.standardError.contains("--record-sound"), "\(mute.standardError)")
        #expect((mute.json?.count ?? 0) > 1)
        let missing = try ChildProcess.run(["replay", folder("nowhere")])
        #expect(missing.exitCode == 66 && missing.standardError.contains("nowhere/recording.dvr"))
        #expect(missing.standardError.contains("No such file or directory"), "\(missing.standardError)")
        try FileManager.default.createDirectory(atPath: folder("text"), withIntermediateDirectories: true)
        try folder.write(Array("no recording at all".utf8), to: "text/recording.dvr")
        let other = try ChildProcess.run(["replay", folder("text")])
        #expect(other.exitCode == 66 && other.standardError.contains("is no recording"))
        let sound = try ChildProcess.run(["call", "--server", "udp://127.0.0.1:1", "--token", "x", "--record-sound"])
        #expect(sound.exitCode == 64 && sound.standardError.contains("--record"))
    }
}
