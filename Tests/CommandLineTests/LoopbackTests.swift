import Foundation
import Testing
import VoiceEngine

@testable import duplex

@Suite("The loopback command")
struct LoopbackTests {
    /// Nothing but the built-in PCMs, whatever the machine has.
    private let noCards = ["ALSA_CONFIG_PATH": "/usr/share/alsa/alsa.conf"]

    @Test(
        "a device that is not there is told, with exit code 69",
        arguments: [
            ["--capture", "no-such-pcm", "--playback", "no-such-pcm"],
            ["--through", "engine", "--capture", "no-such-pcm", "--mouth", "m", "--ear", "e"],
        ])
    func absent(_ arguments: [String]) throws {
        let result = try ChildProcess.run(["loopback"] + arguments, environment: noCards)
        expectFailure(result, code: 69, saying: "no audio device is named 'no-such-pcm'")
        #expect(result.standardError.contains("duplex devices"))
        #expect(result.standardOutput.isEmpty)
    }

    @Test("a mouth that is not there ends the engines, with exit code 69")
    func absentMouth() throws {
        let result = try ChildProcess.run(
            [
                "loopback", "--through", "engine", "--capture", "null", "--playback", "null", "--mouth", "no-such-pcm",
                "--ear", "null",
            ],
            environment: noCards)
        expectFailure(result, code: 69, saying: "no-such-pcm")
    }

    @Test("where nothing comes back nothing is measured: exit code 69, and no figure")
    func silence() throws {
        // Given alsa-lib's null PCM, which takes all and gives silence
        let result = try ChildProcess.run(
            ["loopback", "--capture", "null", "--playback", "null", "--rounds", "2", "--json"], limit: 60,
            environment: noCards)
        // Then
        expectFailure(result, code: 69, saying: "not measured")
        let lines = try #require(result.json)
        let summary = try #require(lines.last)
        #expect(summary["type"] as? String == "summary")
        #expect(summary["schema"] as? String == "duplexvoice.loopback/1")
        for key in ["p50_ms", "p95_ms", "max_ms", "stages_sum_ms"] { #expect(summary[key] == nil, "\(key)") }
        #expect(summary["confidence"] as? Double == 0)
        #expect(summary["rounds"] as? Int == 2)
        #expect(lines.dropLast().allSatisfy { $0["type"] as? String == "round" && $0["ms"] == nil })
    }

    @Test("a budget with an unknown stage has no sum")
    func unknownStage() {
        var whole = LatencyBudget()
        for (index, stage) in LatencyBudget.Stage.allCases.enumerated() { whole[stage] = .milliseconds(index + 1) }
        let stages = EngineLoopback.stages([whole, whole])
        #expect(stages.map(\.milliseconds).reduce(0, +) == 55)
        #expect(stages.map(\.key).contains("codec_lookahead_ms"))
        #expect(stages.first?.key == "capture_ms")
        whole[.network] = nil
        #expect(EngineLoopback.stages([whole]).isEmpty)
    }
}
