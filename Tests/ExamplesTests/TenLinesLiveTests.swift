import Foundation
import Synchronization
import Testing
import VoiceEngine
import VoicePartner

@testable import TenLines

@Suite(
    "Example: ten lines",
    .enabled(
        if: ["/usr/bin/espeak-ng", "/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict"].allSatisfy {
            FileManager.default.fileExists(atPath: $0)
        }, "needs tools/setup --agent"), .timeLimit(.minutes(2)))
struct TenLinesLiveTests {
    @Test("somebody who says good morning is greeted")
    func greeted() async throws {
        // Given a recording of a voice that says so, and again, for a busy machine loses some of it
        let voice = Mutex([Float](repeating: 0, count: 48_000))
        try await EspeakSynthesiser(wordsPerMinute: 150).synthesise("good morning") { sound in
            voice.withLock { $0 += sound.samples }
            return true
        }
        let path = FileManager.default.temporaryDirectory.appending(path: "morning-\(UUID().uuidString).wav").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let saying = voice.withLock { $0 } + silence(5 * 48_000)
        try AudioFile.write((0..<6).flatMap { _ in saying }, to: path)
        var configuration = EngineConfiguration.headset
        configuration.device = .custom(
            FileDevice(FileDeviceConfiguration(input: path, output: nil, pacing: .realTime(priority: 0))))
        configuration.mediaPriority = 0
        let engine = VoiceEngine(configuration)
        // When it is talked with
        let answers = Shown<SpokenText>()
        let talk = Task {
            try await TenLines.talk(on: engine) { if case .answered(_, let text) = $0 { answers.append(text) } }
        }
        // Then it is answered
        let isGreeted = try await answers.wait { $0.contains { $0.heard == "Hello. What can I do for you?" } }
        #expect(isGreeted, "\(answers.lines)")
        await engine.stop()
        try await talk.value
    }
}
