import Foundation
import Testing
import VoiceDevices
import VoiceSimulation

@testable import duplex

@Suite("Echo in one recording")
struct AecTests {
    private static let rate = 16_000

    /// The arguments that process `folder`'s mic.wav and ref.wav.
    private static func command(_ folder: TestFolder) -> [String] {
        ["aec", "--mic", folder("mic.wav"), "--ref", folder("ref.wav"), "--out", folder("o.wav")]
    }

    @Test("what cannot be measured is left out of the summary, and nothing says that it is no number")
    func beyondMeasure() throws {
        let folder = try TestFolder()
        var far = SyntheticSpeech.samples(frames: 3 * Self.rate, seed: 8)
        let echo = [Float](repeating: 0, count: 800) + far.dropLast(800).map { $0 / 2 }
        // Given a file of floats with one sample that no sound has
        far[Self.rate] = 1e18
        for (name, samples) in [("ref.wav", far), ("mic.wav", echo)] {
            try AudioFile.write(samples, to: folder(name), sampleRate: Self.rate, encoding: .float32)
        }
        // When
        let json = try ChildProcess.run(Self.command(folder) + ["--json"])
        let text = try ChildProcess.run(Self.command(folder))
        // Then
        #expect(json.exitCode == 0 && !json.standardError.contains("error"), "\(json.standardError)")
        #expect(json.json?.last?["type"] as? String == "summary")
        #expect(text.exitCode == 0 && !text.standardOutput.contains("nan"), "\(text.standardOutput)")
    }

    @Test("measures that are no numbers are unknown")
    func unknown() {
        let far = SyntheticSpeech.samples(frames: 6 * Self.rate, seed: 9)
        let broken = far.map { _ in Float.nan }
        let evidence = EchoEvidence(
            microphone: far, reference: far, output: broken, rate: Self.rate, delay: 0, lag: 0)
        #expect(evidence.enhancementDecibels == nil && evidence.heardSeconds > 1)
        #expect(EchoPath(reference: far, microphone: broken, delay: 0, rate: Self.rate) == nil)
    }

    @Test("a line that cannot be put as JSON is lost output")
    func lostLine() {
        struct Line: JSONLine {
            let schema = "duplexvoice.test/1"
            let type = "summary"
            let value = Double.nan
        }
        #expect(!Console.hasLostOutput)
        Console.emit(Line())
        #expect(Console.hasLostOutput)
    }
}
