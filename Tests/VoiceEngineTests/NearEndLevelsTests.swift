import Testing
import VoiceProcessing
import VoiceTurns

@testable import VoiceEngine

@Suite("What levels tell of where a sound comes from")
struct NearEndLevelsTests {
    /// Feeds blocks of 10 ms with these levels, dBFS, and returns by how much each was cancelled, or another part, dB:
    /// of each block.
    @discardableResult
    private func feed(
        _ levels: inout NearEndLevels, blocks: Int, reference: Float, input: (Int) -> Float, left: (Int) -> Float,
        part: KeyPath<SpeechEvidence.SoundLevels, Float> = \.cancelled, cancelsEcho: Bool = true
    ) -> [Float] {
        let told: [Float] = (0..<blocks).compactMap { block in
            var report = ProcessingReport(inputLevel: input(block), outputLevel: -60)
            (report.referenceLevel, report.cancelledLevel, report.noiseLevel) = (reference, left(block), -65)
            return levels.take(report, cancelsEcho: cancelsEcho)?[keyPath: part]
        }
        #expect(told.count == blocks)
        return told
    }

    /// An answer that has sounded for 3 s, whose echo was -30 dBFS and cancelled by 40 dB.
    private func heard() -> NearEndLevels {
        var levels = NearEndLevels()
        feed(&levels, blocks: 300, reference: -28, input: { _ in -30 }, left: { _ in -70 })
        return levels
    }

    @Test("Given an answer that has paused, when its reverberation is left over, then that lies far below the echo")
    func reverberation() {
        var levels = heard()
        // The room fades by 60 dB in 0.5 s, and the canceller's filter reaches less and less of it
        let cancelled = feed(
            &levels, blocks: 20, reference: -127, input: { -30 - 1.2 * Float($0) }, left: { _ in -57 })
        #expect(cancelled.allSatisfy { $0 > 12 }, "\(cancelled)")
    }

    @Test(
        "Given an answer over a loudspeaker that distorts, when the distortion is left of one of its weaker sounds, then that lies far below the echo"
    )
    func distortion() {
        var levels = heard()
        let cancelled = feed(&levels, blocks: 20, reference: -28, input: { _ in -36 }, left: { _ in -43 })
        #expect(cancelled.allSatisfy { $0 > 11 }, "\(cancelled)")
    }

    @Test(
        "Given an answer, when somebody speaks as loud as its echo, or in its pause, then that lies no more than 9 dB below the echo"
    )
    func talker() {
        var levels = heard()
        let together = feed(&levels, blocks: 20, reference: -28, input: { _ in -27 }, left: { _ in -30 })
        #expect(together.allSatisfy { $0 <= 3.1 }, "\(together)")
        levels = heard()
        feed(&levels, blocks: 50, reference: -127, input: { _ in -65 }, left: { _ in -65 })
        let pausing = feed(&levels, blocks: 10, reference: -127, input: { _ in -50 }, left: { _ in -50 })
        #expect(pausing.allSatisfy { $0 <= 0 }, "\(pausing)")
    }

    @Test(
        "Given an answer that was ducked by 12 dB, when a third of a second has passed, then its echo is known to be weaker"
    )
    func ducked() {
        var levels = heard()
        feed(&levels, blocks: 33, reference: -40, input: { _ in -42 }, left: { _ in -75 })
        let cancelled = feed(&levels, blocks: 10, reference: -40, input: { _ in -39 }, left: { _ in -42 })
        #expect(cancelled.allSatisfy { $0 < 6 }, "\(cancelled)")
    }

    @Test(
        "Given what a canceller leaves of every word, when it does again, then that does not stand out; a weak sound that it never left does, for as long as a hiss lasts"
    )
    func residual() {
        var levels = NearEndLevels()
        func rest(_ block: Int) -> Float { block % 50 < 20 ? -55 : -70 }
        feed(&levels, blocks: 100, reference: -28, input: { _ in -30 }, left: rest)
        let again = feed(
            &levels, blocks: 400, reference: -28, input: { _ in -30 }, left: rest, part: \.overResidual)
        #expect(again.allSatisfy { $0 < 6 }, "\(again.max() ?? 0)")
        let hiss = feed(
            &levels, blocks: 30, reference: -28, input: { _ in -37 }, left: { _ in -43 }, part: \.overResidual)
        #expect(hiss.prefix(15).allSatisfy { $0 > 8 } && hiss.suffix(14).allSatisfy { $0 < 1 }, "\(hiss)")
    }

    @Test(
        "Given an echo that nobody cancelled, when it is cancelled for a second, then a talker stands out of what is left"
    )
    func switched() {
        var levels = NearEndLevels()
        feed(&levels, blocks: 300, reference: -28, input: { _ in -30 }, left: { _ in -30 }, cancelsEcho: false)
        feed(&levels, blocks: 100, reference: -28, input: { _ in -30 }, left: { _ in -70 })
        let talker = feed(
            &levels, blocks: 10, reference: -28, input: { _ in -27 }, left: { _ in -35 }, part: \.overResidual)
        #expect(talker.allSatisfy { $0 > 30 }, "\(talker)")
    }

    @Test(
        "Given noise, when a hiss is softer than that and louder in one octave, then that octave stands out; what was left in it of every word does not, nor what is no louder than the noise there"
    )
    func octaves() {
        /// 0.5 s of each word are left at `word` in the octave from 4 kHz on, then comes the sound.
        func rise(word: Float, sound: Float, noise: Float) -> [Float] {
            var levels = NearEndLevels()
            var octaves = OctaveLevels(level: SIMD8(repeating: -50), noise: SIMD8(repeating: noise))
            func take(_ level: Float) -> Float? {
                octaves.level[4] = level
                var report = ProcessingReport(inputLevel: -38, outputLevel: -60)
                (report.referenceLevel, report.cancelledLevel, report.noiseLevel) = (-28, -40, -40)
                report.cancelledOctaves = octaves
                return levels.take(report, cancelsEcho: true)?.octaveOverResidual
            }
            for block in 0..<300 { _ = take(block % 50 < 20 ? word : -60) }
            let rises = (0..<10).compactMap { _ in take(sound) }
            #expect(rises.count == 10)
            return rises
        }
        #expect(rise(word: -60, sound: -45, noise: -50).allSatisfy { $0 > 12 })
        #expect(rise(word: -46, sound: -45, noise: -50).allSatisfy { $0 < 6 })
        #expect(rise(word: -60, sound: -45, noise: -46).allSatisfy { $0 == 0 })
    }

    @Test(
        "Given what a filter leaves in noise, when a hiss comes that is a little louder in one octave, then it stands out for as long as one lasts; what the filter left there before does not, nor what lies no farther above the echo than a path that has changed"
    )
    func octavesOfTheError() {
        /// Noise, with 0.2 s of every half second left at `word` in the octave from 4 kHz on; then 30 blocks of the sound.
        func rise(word: Float, sound: Float, echo: Float) -> [Float] {
            var levels = NearEndLevels()
            func take(_ level: Float) -> Float? {
                var report = ProcessingReport(inputLevel: -38, outputLevel: -60)
                (report.referenceLevel, report.cancelledLevel, report.noiseLevel) = (-28, -45, -43)
                var decisions = EchoDecisions()
                decisions.octaves.left = SIMD8(-48, -52, -52, -52, level, -127, -127, -127)
                decisions.octaves.echo = SIMD8(-40, -34, -50, -56, echo, -127, -127, -127)
                report.echoDecisions = decisions
                return levels.take(report, cancelsEcho: true)?.octaveOverError
            }
            for block in 0..<300 { _ = take(block % 50 < 20 ? word : -52) }
            let rises = (0..<30).compactMap { _ in take(sound) }
            #expect(rises.count == 30)
            return rises
        }
        let hiss = rise(word: -52, sound: -44, echo: -62)
        #expect(hiss.prefix(15).allSatisfy { $0 > 7 } && hiss.suffix(14).allSatisfy { $0 < 1 }, "\(hiss)")
        #expect(rise(word: -44, sound: -44, echo: -62).allSatisfy { $0 < 3 })
        #expect(rise(word: -52, sound: -44, echo: -50).allSatisfy { $0 == 0 })
    }

    @Test("how surely the far end is heard alone is what the canceller says, 0 where it does not; nil without levels")
    func unknown() {
        var levels = NearEndLevels()
        var report = ProcessingReport(inputLevel: -30, outputLevel: -30)
        (report.cancelledLevel, report.noiseLevel) = (-40, -60)
        #expect(levels.take(report, cancelsEcho: true)?.farEndAlone == 0)
        report.echoDecisions = EchoDecisions()
        report.echoDecisions?.farOnly = 0.7
        #expect(levels.take(report, cancelsEcho: true)?.farEndAlone == 0.7)
        #expect(levels.take(report, cancelsEcho: true)?.nearShare == 0)
        report.echoDecisions?.near = 0.4
        #expect(levels.take(report, cancelsEcho: true)?.nearShare == 0.4)
        #expect(levels.take(ProcessingReport(inputLevel: -30, outputLevel: -30), cancelsEcho: true) == nil)
    }
}
