import Testing
import VoiceRealtime

@testable import VoiceEngine

@Suite("Taps at the points of the sound's way")
struct SoundPointTests {
    private func take(_ tap: SoundPointTap, _ frames: Int = 200_000) -> (samples: [Float], take: SoundTake) {
        var samples = [Float](repeating: 0, count: frames)
        var span = samples.mutableSpan
        let take = tap.take(into: &span)
        return (Array(samples[..<take.frames]), take)
    }

    @Test("muted, the microphone is there as captured and as processed, and a room gets silence")
    func microphone() throws {
        let rig = try FarEndRig()
        let captured = try rig.core.openTap(at: .captured, rate: .hertz48000)
        let processed = try rig.core.openTap(at: .processed, rate: .hertz48000)
        let sent = try rig.core.openTap(at: .sent, rate: .hertz48000)
        let start = rig.now
        rig.run(blocks: 10) { Float($0 + 1) / 1_000_000 }
        for tap in [captured, processed, sent] {
            let (samples, take) = take(tap)
            #expect(samples.map { number(of: $0) } == Array(1...4_800))
            #expect(take.time == start.sinceEpoch)
        }
        try rig.core.send(.setMuted(true))
        rig.run(blocks: 3) { _ in 0.1 }
        #expect(take(captured).samples == [Float](repeating: 0.1, count: 1_440))
        #expect(take(processed).samples == [Float](repeating: 0.1, count: 1_440))
        let muted = take(sent).samples
        #expect(muted.count == 1_440 && muted.suffix(960).allSatisfy { $0 == 0 })
    }

    @Test("the mix has what is heard, with the times at which it is")
    func mix() throws {
        let rig = try FarEndRig()
        rig.run(blocks: 5)
        let tap = try rig.core.openTap(at: .mix, rate: .hertz48000)
        let agent = try rig.core.openFarEnd(FarEndConfiguration())
        #expect(agent.offer(numbered(4_800), utterance: 1, isLast: true) == 4_800)
        rig.run(blocks: 20)
        let (samples, take) = take(tap)
        let first = try #require(samples.firstIndex { $0 != 0 })
        #expect(samples[first..<first + 4_800].map { number(of: $0) } == Array(1...4_800))
        let heard = try #require(rig.speaker.first { $0.sample != 0 }).time
        let told = take.time + Duration(frames: first)
        #expect(abs((told - heard.sinceEpoch) / .microseconds(1)) < 200)
    }

    @Test("what nobody takes is dropped and counted; no more than 16 are open, with sinks")
    func bounded() throws {
        let rig = try FarEndRig()
        let tap = try rig.core.openTap(at: .captured, rate: .hertz16000)
        rig.run(blocks: 250) { _ in 0.1 }
        #expect(tap.droppedFrames == 24_000)
        var others = try (1..<16).map { _ in try rig.core.openTap(at: .mix, rate: .hertz48000) }
        #expect(throws: EngineError.self) { try rig.core.openTap(at: .mix, rate: .hertz48000) }
        others.removeAll()
        rig.run(blocks: 2)
        _ = try rig.core.openTap(at: .mix, rate: .hertz24000)
    }
}
