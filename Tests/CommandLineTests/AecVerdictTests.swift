import Foundation
import Testing
import VoiceDevices
import VoiceSimulation

@testable import duplex

@Suite("The verdict on an echo")
struct AecVerdictTests {
    private static let rate = 16_000

    /// 12 s as in the demonstration: one talks, then the other, then both, then the first again.
    private static func conversation() -> (far: [Float], echo: [Float], near: [Float]) {
        let script = DemoScript(length: 12)
        func part(_ side: Int, seed: UInt64, _ voice: SyntheticSpeech.Voice) -> [Float] {
            var part = SyntheticSpeech.samples(frames: 12 * rate, seed: seed, voice: voice)
            for frame in part.indices
            where !script.speaking(side).contains(where: { $0.contains(Double(frame) / Double(rate)) }) {
                part[frame] = 0
            }
            return part
        }
        let far = part(1, seed: 5, .low)
        let echo = [Float](repeating: 0, count: 800) + far.dropLast(800).map { $0 / 2 }
        return (far, echo, part(0, seed: 6, .high))
    }

    @Test("who talks at both ends does not make a removed echo a poor result, and is drawn as two lanes")
    func bothTalk() throws {
        let (far, echo, near) = Self.conversation()
        let folder = try TestFolder()
        for (name, samples) in [("ref", far), ("mic", zip(echo, near).map { $0 + $1 })] {
            try AudioFile.write(samples, to: folder("\(name).wav"), sampleRate: Self.rate)
        }
        let run = try ChildProcess.run([
            "aec", "--mic", folder("mic.wav"), "--ref", folder("ref.wav"), "--out", folder("o.wav"), "--report",
            folder("r"),
        ])
        #expect(run.exitCode == 0)
        #expect(run.standardOutput.contains("good: While the far end alone was heard"), "\(run.standardOutput)")
        #expect(!run.standardOutput.contains("poor:"), "\(run.standardOutput)")
        let page = try String(contentsOfFile: folder("r/index.html"), encoding: .utf8)
        let after = try #require(page.components(separatedBy: "Who talks").last)
        let panel = try #require(after.components(separatedBy: "Echo removed").first)
        #expect(panel.contains(">far end<") && panel.contains(">near end<"))
        #expect(!panel.contains("polyline"))
    }

    @Test("an echo that is left is poor, whoever the speech in it is taken for")
    func left() throws {
        let (far, echo, _) = Self.conversation()
        let folder = try TestFolder()
        for (name, samples) in [("ref", far), ("mic", echo)] {
            try AudioFile.write(samples, to: folder("\(name).wav"), sampleRate: Self.rate)
        }
        let run = try ChildProcess.run([
            "aec", "--mic", folder("mic.wav"), "--ref", folder("ref.wav"), "--out", folder("o.wav"), "--backend",
            "bypass",
        ])
        #expect(run.standardOutput.contains("poor: While the far end alone was heard"), "\(run.standardOutput)")
    }

    @Test("the far end alone is measured apart from both")
    func apart() throws {
        // Given an echo that is gone, and a talker as loud as it in the second half.
        let (far, echo, _) = Self.conversation()
        let talker = echo.indices.map { $0 < echo.count / 2 ? 0 : echo[echo.count - 1 - $0] }
        let output = zip(echo, talker).map { $0 / 100 + $1 }
        let near = NearActivity.blocks(near: talker, rate: Self.rate, count: 1_200)
        let evidence = EchoEvidence(
            microphone: zip(echo, talker).map { $0 + $1 }, reference: far, output: output, rate: Self.rate, delay: 800,
            lag: 0, nearTalks: near)
        #expect(evidence.aloneSeconds > 1 && evidence.aloneSeconds < evidence.heardSeconds - 1)
        #expect(abs(try #require(evidence.aloneEnhancementDecibels) - 40) < 0.5)
        #expect(try #require(evidence.enhancementDecibels) < 15)
    }

    @Test("speech in what is left is the near end's only where the microphone holds more than the echo")
    func whose() {
        let echo = [Float](repeating: 0.1, count: 4 * Self.rate)
        var microphone = echo
        for frame in 2 * Self.rate..<3 * Self.rate { microphone[frame] = 0.3 }
        // Given speech found from 0.5 to 1 s, and from 2 to 3 s
        let speaks = (0..<400).map { (50..<100).contains($0) || (200..<300).contains($0) }
        let near = NearActivity.blocks(isSpeaking: speaks, microphone: microphone, echo: echo, rate: Self.rate)
        // Then only the second is the near end's, with what may come before and after it
        #expect(near.firstIndex(of: true) == 175 && near.lastIndex(of: true) == 329)
        let all = NearActivity.blocks(isSpeaking: speaks, microphone: microphone, echo: nil, rate: Self.rate)
        #expect(all.firstIndex(of: true) == 25)
    }

    @Test("the linear echo of a path is what the microphone holds of it", arguments: [-1_600, 800])
    func predicted(delay: Int) throws {
        var random = SeededGenerator(seed: 12)
        let far = (0..<8 * Self.rate).map { _ in Float.random(in: -0.3...0.3, using: &random) }
        let echo = far.indices.map { far.indices.contains($0 - delay) ? far[$0 - delay] / 2 : 0 }
        let path = try #require(EchoPath(reference: far, microphone: echo, rate: Self.rate))
        let inner = 2 * Self.rate..<6 * Self.rate
        let left = zip(path.echo(of: far)[inner], echo[inner]).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
        #expect(left < 0.02 * echo[inner].reduce(0) { $0 + $1 * $1 })
    }

    @Test("a batch's table and lines give each recording's verdict")
    func batch() throws {
        let folder = try TestFolder()
        let (far, echo, _) = Self.conversation()
        for (name, samples) in [("a_ref", far), ("a_mic", echo), ("b_ref", far), ("b_mic", far)] {
            try AudioFile.write(samples, to: folder("\(name).wav"), sampleRate: Self.rate)
        }
        let run = try ChildProcess.run(["aec", "--batch", folder.path, "--backend", "bypass"])
        let lines = run.standardOutput.split(separator: "\n")
        #expect(lines.first?.hasSuffix("verdict") == true)
        #expect(lines.count == 3 && lines.dropFirst().allSatisfy { $0.hasSuffix("poor") }, "\(run.standardOutput)")
        let json = try #require(try ChildProcess.run(["aec", "--batch", folder.path, "--json"]).json)
        #expect(json.count == 3, "\(json)")
        #expect(json.dropLast().allSatisfy { ["good", "fair"].contains($0["verdict"] as? String) }, "\(json)")
    }
}
