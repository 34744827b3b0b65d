import TestCases
import Testing
import VoiceSimulation

@Suite struct SyntheticMusicTests {
    @Test(arguments: cases(1...4 as ClosedRange<UInt64>))
    func `it has the level asked for and no pause`(seed: UInt64) throws {
        let music = SyntheticMusic.samples(frames: 480_000, seed: seed, levelDecibels: -26)
        let level = try #require(rms(music))
        #expect(abs(level + 26) < 2, "seed \(seed): \(level) dB")
        #expect(music.allSatisfy { abs($0) < 1 })
        for start in stride(from: 0, to: music.count, by: 24_000) {
            let half = try #require(rms(Array(music[start..<start + 24_000])))
            #expect(half > level - 15, "seed \(seed): \(half) dB at \(start)")
        }
    }

    @Test func `a seed is a piece`() {
        let one = SyntheticMusic.samples(frames: 48_000, seed: 1)
        #expect(isSame(one, SyntheticMusic.samples(frames: 48_000, seed: 1)))
        #expect(!isSame(one, SyntheticMusic.samples(frames: 48_000, seed: 2)))
    }
}
