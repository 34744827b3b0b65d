import Testing

@testable import VoiceEngine
@testable import VoicePartner

@Suite("What is kept of the near end")
struct SoundMemoryTests {
    private static func frame(_ milliseconds: Int) -> SoundFrame {
        SoundFrame(samples: [Float(milliseconds)], time: .milliseconds(milliseconds), isAfterGap: false)
    }

    @Test("is a minute, however long the talk is, and is found by its time")
    func bounded() {
        var memory = SoundMemory()
        for milliseconds in stride(from: 0, to: 600_000, by: 20) { memory.append(Self.frame(milliseconds)) }
        let all = memory.frames(from: .zero)
        #expect(all.count == 3_001 && all.first?.time == .milliseconds(539_980))
        #expect(memory.keptFrames < 2 * 3_001 + 2)
        #expect(memory.frames(from: .milliseconds(599_950)).map(\.samples) == [[599_960], [599_980]])
        #expect(memory.frames(from: .seconds(900)).isEmpty)
        #expect(SoundMemory().frames(from: .zero).isEmpty)
    }
}
