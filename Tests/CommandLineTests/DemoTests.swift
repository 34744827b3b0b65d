import Testing
import VoiceDevices
import VoiceSimulation

@testable import SimulatedCalls
@testable import VoiceEngine
@testable import duplex

@Suite("The demo's script and its judge")
struct DemoTests {
    @Test(
        "the script's stretches follow each other and leave room to measure, for every length",
        arguments: [10.0, 15, 120])
    func script(length: Double) {
        let script = DemoScript(length: length)
        let stretches = [script.learning, script.onlyA, script.both, script.onlyB]
        for (earlier, later) in zip(stretches, stretches.dropFirst()) { #expect(earlier.upperBound < later.lowerBound) }
        #expect(script.onlyB.upperBound < length)
        for stretch in stretches.dropFirst() { #expect(DemoScript.inner(stretch).count >= 48_000) }
        // Each side is silent where only the other speaks.
        let speech = [Float](repeating: 1, count: Int(length * 48_000))
        let parts = [script.part(of: 0, speech: speech), script.part(of: 1, speech: speech)]
        #expect(DemoScript.inner(script.onlyA).allSatisfy { parts[0][$0] == 1 && parts[1][$0] == 0 })
        #expect(DemoScript.inner(script.onlyB).allSatisfy { parts[0][$0] == 0 && parts[1][$0] == 1 })
        #expect(DemoScript.inner(script.both).allSatisfy { parts[0][$0] == 1 && parts[1][$0] == 1 })
    }

    /// A call of A and B in which B hears A after `delay` frames, and its own echo from A's room by `residual` weaker.
    private func judge(delay: Int, residual: Float, muteInDoubleTalk: Bool = false) -> DemoJudge {
        let script = DemoScript(length: 10)
        let frames = 480_000
        let near = script.part(of: 0, speech: SyntheticSpeech.samples(frames: frames, seed: 3, voice: .high))
        let far = script.part(of: 1, speech: SyntheticSpeech.samples(frames: frames, seed: 4))
        let echo = far.map { $0 / 4 }
        let silenced = muteInDoubleTalk ? DemoScript.inner(script.both) : 0..<0
        var heard = [Float](repeating: 0, count: frames)
        for frame in delay..<frames {
            let said = silenced.contains(frame - delay) ? 0 : near[frame - delay]
            heard[frame] = said + echo[frame - delay] * residual
        }
        let silence = [Float](repeating: 0, count: frames)
        return DemoJudge(
            script: script, a: side(speaker: far, near: near, echo: echo, start: 0),
            b: side(speaker: heard, near: far, echo: silence, start: 5_000_000))
    }

    private func side(speaker: [Float], near: [Float], echo: [Float], start: Int64) -> DemoSide {
        var recording = AirRecording(capacity: speaker.count)
        let microphone = near.indices.map { near[$0] + echo[$0] }
        recording.append(speaker: speaker.span, near: near.span, microphone: microphone.span, echo: echo.span)
        let statistics = EngineStatistics(MediaStatistics(), device: DeviceCounts(), roundTrip: nil, room: nil)
        return DemoSide(recording: recording, statistics: statistics, start: start)
    }

    @Test("the judge finds the delay, the echo that is gone and the voice that is kept")
    func verdict() throws {
        // Given 100 ms of way, recordings that begin 5 ms apart, and an echo that is a hundredth of what it was.
        let judge = judge(delay: 4_800, residual: 0.01)
        #expect(abs(try #require(judge.mouthToEarMilliseconds) - 105) < 0.1)
        #expect(abs(try #require(judge.echoReturnLossEnhancement) - 40) < 1)
        #expect(judge.voiceKept == 1)
    }

    @Test("the judge sees a talker who is cut off in double talk")
    func damage() throws {
        let kept = try #require(judge(delay: 4_800, residual: 0.01, muteInDoubleTalk: true).voiceKept)
        #expect(kept < 0.1)
    }

    @Test("what was not heard is not measured")
    func silence() {
        let script = DemoScript(length: 10)
        let silence = [Float](repeating: 0, count: 480_000)
        let side = side(speaker: silence, near: silence, echo: silence, start: 0)
        let judge = DemoJudge(script: script, a: side, b: side)
        #expect(judge.mouthToEarMilliseconds == nil)
        #expect(judge.echoReturnLossEnhancement == nil)
        #expect(judge.voiceKept == nil)
        #expect(judge.stages.sum == nil)
    }
}
