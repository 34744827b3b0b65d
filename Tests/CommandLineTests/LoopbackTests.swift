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

    @Test("the stages are those of the rounds around the median; with an unknown one there are none")
    func stages() {
        func budget(_ milliseconds: Int) -> LatencyBudget {
            var budget = LatencyBudget()
            for stage in LatencyBudget.Stage.allCases { budget[stage] = .milliseconds(milliseconds) }
            return budget
        }
        let stages = EngineLoopback.stages([(500, budget(50)), (9, budget(1)), (10, budget(2)), (11, budget(4))])
        #expect(stages.map(\.milliseconds) == [Double](repeating: 3, count: LatencyBudget.Stage.allCases.count))
        #expect(stages.map(\.key).contains("codec_lookahead_ms"))
        #expect(stages.first?.key == "capture_ms")
        var lacking = budget(1)
        lacking[.network] = nil
        #expect(EngineLoopback.stages([(10, lacking)]).isEmpty)
        #expect(EngineLoopback.stages([]).isEmpty)
    }
}
