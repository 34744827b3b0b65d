import Glibc
import TestCases
import Testing
import VoiceSignal

@testable import VoiceProcessing

@Suite("Who talks")
struct TalkStateTests {
    /// Blocks of white spectra whose levels are given, dB; the same sound makes the echo and, as far as it goes, what
    /// is left of it.
    private struct Scene: ~Copyable {
        var talk = TalkState()
        var scattered = ScatteredEcho()
        var generator: SeededNumbers
        var error = Spectrum()
        var echo = Spectrum()
        var mic = Spectrum()

        init(seed: UInt64) { generator = SeededNumbers(seed: seed) }

        /// The echo, what is left of it, and the near end; expected is to be left what is 30 dB below the echo.
        mutating func run(echo echoLevel: Float, left: Float, near: Float?) {
            func amplitude(_ level: Float) -> Float { powf(10, level / 20) }
            for bin in 0..<Spectrum.bins {
                let (y, r, n) = (generator.pair(), generator.pair(), generator.pair())
                // A third of the bins hold little of the echo, and what is left of it all the same.
                let own = amplitude(echoLevel) * (bin % 3 == 0 ? 0.03 : 1)
                let other = near.map(amplitude) ?? 0
                echo.real[bin] = own * y.0
                echo.imaginary[bin] = own * y.1
                error.real[bin] = amplitude(left) * r.0 + other * n.0
                error.imaginary[bin] = amplitude(left) * r.1 + other * n.1
                mic.real[bin] = echo.real[bin] + error.real[bin]
                mic.imaginary[bin] = echo.imaginary[bin] + error.imaginary[bin]
            }
            talk.observe(error: error, echo: echo, mic: mic)
            var expected: Float = 0
            for bin in TalkState.judged { expected += 1e-3 * talk.echoPower[bin] }
            talk.judgeNear(expected: expected)
            scattered.observe(error: error, echo: echo, talk: talk)
        }
    }

    /// Levels of syllables: up and down some 20 dB four times a second.
    private static func syllables(_ block: Int) -> Float { 10 * sinf(2 * .pi * Float(block) / 25) }

    @Test(
        "a loudspeaker that leaves more than is expected is not taken for a near end for long", arguments: cases(1...4))
    func distortedEcho(seed: Int) {
        // Given an echo of which a share is left that goes up and down with it, 4 dB more than is expected
        var scene = Scene(seed: UInt64(seed))
        var heardEarly = 0
        var heardLate = 0
        for block in 0..<1_000 {
            let level = Self.syllables(block)
            scene.run(echo: level, left: level - 26 + 1.5 * sinf(Float(block) / 7), near: nil)
            if block < 100, scene.talk.near > 0.9 { heardEarly += 1 }
            if block >= 500, scene.talk.near > 0.9 { heardLate += 1 }
        }
        // Then it is mistaken for one at first, and later hardly ever
        #expect(heardEarly > 20, "the scene is too easy")
        #expect(heardLate < 25)
        let (farOnly, isDistorted) = (scene.talk.farOnly, scene.talk.isDistorted)
        #expect(farOnly > 0.9)
        #expect(isDistorted)
        // And what is scattered to where the echo is weak was learned: -26 dB of it, within 4 dB
        let power = 10 * log10f(scene.scattered.power)
        let mean = 10 * log10f(2 * powf(10, Self.syllables(999) / 10) * 2 / 3)
        #expect(abs(power - mean + 26) < 4, "\(power - mean) dB")
    }

    @Test("a near end is heard at once all the same, and for a while less of it will do", arguments: cases(1...4))
    func talker(seed: Int) throws {
        var scene = Scene(seed: UInt64(seed))
        for block in 0..<500 {
            let level = Self.syllables(block)
            scene.run(echo: level, left: level - 24, near: nil)
        }
        // When somebody begins to talk, half as loud as the echo
        var first: Int?
        for block in 500..<550 {
            scene.run(echo: Self.syllables(block), left: Self.syllables(block) - 24, near: -6)
            if first == nil, scene.talk.near == 1 { first = block - 500 }
        }
        // Then it is known within 40 ms, and that there is a conversation
        #expect(try #require(first) <= 4)
        let during = scene.talk.conversation
        #expect(during == 1)
        // And over, after a while
        for block in 550..<750 { scene.run(echo: Self.syllables(block), left: Self.syllables(block) - 34, near: nil) }
        let (after, near) = (scene.talk.conversation, scene.talk.near)
        #expect(after == 0)
        #expect(near < 0.1)
    }

    @Test("what does not go with the echo teaches nothing", arguments: cases(1...4))
    func otherSound(seed: Int) {
        // Given a near end with syllables of its own
        var scene = Scene(seed: UInt64(seed))
        for block in 0..<1_000 {
            scene.run(echo: Self.syllables(block), left: -90, near: -20 + 10 * sinf(2 * .pi * Float(block) / 31))
        }
        let (isDistorted, scattered) = (scene.talk.isDistorted, scene.scattered.power)
        #expect(!isDistorted)
        #expect(scattered < 1e-3)
    }

    @Test("silence is nobody's")
    func silence() {
        var scene = Scene(seed: 1)
        for _ in 0..<200 { scene.run(echo: -200, left: -200, near: nil) }
        let (farOnly, isHeard, scattered) = (scene.talk.farOnly, scene.talk.isEchoHeard, scene.scattered.power)
        #expect(farOnly == 0)
        #expect(!isHeard)
        #expect(scattered == 0)
    }
}

extension SeededNumbers {
    fileprivate mutating func pair() -> (Float, Float) { (normal(), normal()) }
}
