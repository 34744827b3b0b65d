import Glibc
import Testing

@testable import VoiceEngine

@Suite("Talkers brought to like loudness")
struct TalkerLevellerTests {
    /// Lets seconds of a tone of this level through, in blocks of half a millisecond or 10 ms; returns the level of the
    /// last 100 ms, dB.
    private static func pass(
        _ leveller: inout TalkerLeveller, _ levelling: TalkerLevelling?, decibels: Float, seconds: Double,
        blockFrames: Int = 480
    ) -> Float {
        let amplitude = powf(10, decibels / 20) * Float(2).squareRoot()
        let frames = Int(seconds * 48_000)
        var energy: Float = 0
        var frame = 0
        while frame < frames {
            var block = (0..<blockFrames).map {
                amplitude * sinf(2 * .pi * 1_000 * Float((frame + $0) % 48_000) / 48_000)
            }
            var span = block.mutableSpan
            leveller.apply(levelling, to: &span)
            for sample in block where frame >= frames - 4_800 { energy += sample * sample }
            frame += blockFrames
        }
        return 10 * log10f(energy / 4_800 + 1e-20)
    }

    @Test(
        "Given a talker, when it has spoken for a while, then its level is the one wanted, as far as the range reaches",
        arguments: [(Float(-32), Float(-23)), (-18, -23), (-45, -36), (-8, -17)], [24, 480])
    func level(levels: (given: Float, wanted: Float), blockFrames: Int) {
        var leveller = TalkerLeveller()
        let levelling = TalkerLevelling(target: -23, range: 9)
        let level = Self.pass(&leveller, levelling, decibels: levels.given, seconds: 12, blockFrames: blockFrames)
        // The K-weighting raises 1 kHz by 0.7 dB, of which 0.69 are taken off.
        #expect(abs(level - levels.wanted) < 1, "\(level)")
        #expect(abs(leveller.decibels) <= 9)
    }

    @Test("Given a levelled talker, when it pauses, breathes or coughs, then the gain stays")
    func pauses() {
        var leveller = TalkerLeveller()
        let levelling = TalkerLevelling(target: -23, range: 9)
        _ = Self.pass(&leveller, levelling, decibels: -30, seconds: 12)
        let gain = leveller.decibels
        #expect(gain > 6 && gain < 8)
        // A room's noise, breath, silence
        for level in [-60, -45, -120] as [Float] {
            _ = Self.pass(&leveller, levelling, decibels: level, seconds: 10)
            #expect(abs(leveller.decibels - gain) < 0.3, "\(level) dB: \(leveller.decibels)")
        }
        // A shout of half a second moves it by what half a second may
        _ = Self.pass(&leveller, levelling, decibels: -10, seconds: 0.5)
        #expect(abs(leveller.decibels - gain) < 1)
    }

    @Test("it moves by 1.5 dB a second at most, does nothing where it is off, and forgets its talker")
    func slow() {
        var leveller = TalkerLeveller()
        let levelling = TalkerLevelling(target: -23, range: 9)
        var before: Float = 0
        for _ in 0..<10 {
            _ = Self.pass(&leveller, levelling, decibels: -40, seconds: 1)
            #expect(abs(leveller.decibels - before) <= 1.51)
            before = leveller.decibels
        }
        #expect(before > 8)
        leveller.reset()
        #expect(leveller.decibels == 0)
        #expect(abs(Self.pass(&leveller, nil, decibels: -40, seconds: 5) + 40) < 0.01)
        #expect(leveller.decibels == 0)
    }

    @Test("what is out of range is refused, with what is wrong")
    func ranges() {
        for levelling in [
            TalkerLevelling(target: -41), TalkerLevelling(target: -11), TalkerLevelling(target: .nan),
            TalkerLevelling(range: -1), TalkerLevelling(range: 13), TalkerLevelling(range: .nan),
        ] {
            #expect(throws: EngineError.self) { try levelling.validate() }
        }
        #expect(throws: Never.self) { try TalkerLevelling().validate() }
    }
}
