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

    @Test("is no more, and of the present alone, where the device's clock goes back by hours, or by a moment")
    func backwards() {
        // Given a minute of sound, and a device whose clock is three hours behind
        var memory = SoundMemory()
        let ahead = 3 * 3_600_000
        for milliseconds in stride(from: ahead, to: ahead + 60_000, by: 20) {
            #expect(memory.append(Self.frame(milliseconds)) == false)
        }
        // When it is heard for ten minutes
        #expect(memory.append(Self.frame(1_000)) == true)
        #expect(memory.frames(from: .zero).map(\.samples) == [[1_000]])
        for milliseconds in stride(from: 1_020, to: 601_000, by: 20) {
            #expect(memory.append(Self.frame(milliseconds)) == false)
        }
        // Then a minute of that is kept, in order
        #expect(memory.keptFrames < 2 * 3_001 + 2)
        let kept = memory.frames(from: .seconds(560)).map(\.time)
        #expect(kept.count == 2_050 && kept == kept.sorted())
        // And a clock that goes back by 50 ms takes as much away
        #expect(memory.append(Self.frame(600_930)) == true)
        #expect(memory.frames(from: .milliseconds(600_900)).map(\.samples) == [[600_900], [600_920], [600_930]])
    }

    @Test("is bounded by a clock that all but stands still, too")
    func standing() {
        var memory = SoundMemory()
        for number in 0..<20_000 {
            memory.append(SoundFrame(samples: [0], time: .nanoseconds(number), isAfterGap: false))
        }
        #expect(memory.frames(from: .zero).count == SoundMemory.frameLimit)
        #expect(memory.keptFrames <= 2 * SoundMemory.frameLimit + 1)
    }
}
