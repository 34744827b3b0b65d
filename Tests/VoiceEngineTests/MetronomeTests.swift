import Testing
import VoiceRealtime

@testable import VoiceEngine

@Suite("The pace of an app's streams without a microphone")
struct MetronomeTests {
    private func ticks(_ metronome: inout Metronome, at now: Int64) -> Int {
        var count = 0
        while metronome.tick(now: MonotonicTime(nanoseconds: now * 1_000_000), frames: 480) != nil { count += 1 }
        return count
    }

    @Test("it begins half a second behind the last block, keeps real time, and ends with the next")
    func pace() {
        var metronome = Metronome()
        #expect(ticks(&metronome, at: 1_000) == 0)
        metronome.captured(at: MonotonicTime(nanoseconds: 1_200_000_000))
        #expect(ticks(&metronome, at: 1_699) == 0)
        #expect(ticks(&metronome, at: 1_700) == 1)
        // Runs every 4 ms
        #expect(stride(from: Int64(1_704), through: 3_700, by: 4).reduce(0) { $0 + ticks(&metronome, at: $1) } == 200)
        // After a freeze of an hour no more than 100 ms
        #expect(ticks(&metronome, at: 3_600_000) == 11)
        metronome.captured(at: MonotonicTime(nanoseconds: 3_600_001_000_000))
        #expect(ticks(&metronome, at: 3_600_100) == 0)
    }

    @Test("without any block from the first run on")
    func none() {
        var metronome = Metronome()
        #expect(ticks(&metronome, at: 5) == 0)
        #expect(ticks(&metronome, at: 505) == 1)
        #expect(ticks(&metronome, at: 605) == 10)
    }
}
