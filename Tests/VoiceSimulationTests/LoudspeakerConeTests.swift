import Glibc
import Testing
import VoiceSimulation

@Suite struct LoudspeakerConeTests {
    /// Hz.
    @Test(arguments: [150.0, 420, 3_000])
    func `hardly driven it is the high-pass of its resonance`(hertz: Double) throws {
        let plain = Loudspeaker(lowestHertz: 420)
        var cone = plain
        cone.cone = LoudspeakerCone(ratedAmplitude: 10)
        let expected = try tone(hertz, amplitude: 0.1, through: plain).power(hertz)
        let found = try tone(hertz, amplitude: 0.1, through: cone).power(hertz)
        #expect(abs(decibels(found / expected)) < 0.5, "\(decibels(found / expected)) dB at \(hertz) Hz")
    }

    @Test func `bass moves it far and is distorted, treble as loud is not`() throws {
        let bass = try tone(300, amplitude: 0.04, through: .strained)
        let treble = try tone(3_000, amplitude: 0.04, through: .strained)
        let ofBass = decibels(bass.power(900) / bass.power(300))
        let ofTreble = decibels(treble.power(9_000) / treble.power(3_000))
        #expect((-30 ... -8).contains(ofBass), "\(ofBass) dB")
        #expect(ofTreble < -60, "\(ofTreble) dB")
    }

    @Test func `bass modulates the treble above it`() throws {
        func sidebands(_ loudspeaker: Loudspeaker) throws -> Double {
            let treble = sine(hertz: 2_000, frames: 48_000)
            let both = zip(sine(hertz: 200, frames: 48_000), treble).map { 0.1 * $0 + 0.02 * $1 }
            let sound = try Heard(both, through: loudspeaker)
            return decibels((sound.power(1_600) + sound.power(2_400)) / sound.power(2_000))
        }
        let strained = try sidebands(.strained)
        let small = try sidebands(.small)
        #expect(strained > -32, "\(strained) dB")
        #expect(strained > small + 15, "\(strained) and \(small) dB")
    }

    @Test func `the amplifier cuts off`() throws {
        let loudspeaker = Loudspeaker(lowestHertz: 40, amplifierCeiling: 0.1)
        let whole = try tone(1_000, amplitude: 0.09, through: loudspeaker)
        let cut = try tone(1_000, amplitude: 0.4, through: loudspeaker)
        #expect(decibels(whole.power(3_000) / whole.power(1_000)) < -80)
        // Nearly a square wave, whose third harmonic has a ninth of the power.
        let third = decibels(cut.power(3_000) / cut.power(1_000))
        #expect(abs(third + 9.5) < 1.5, "\(third) dB")
    }

    @Test func `a loose part buzzes when the cone goes far, and never twice the same`() throws {
        #expect(try buzz(amplitude: 0.01, seed: 1).allSatisfy { $0 == 0 })
        let loud = try buzz(amplitude: 0.2, seed: 1)
        let level = try #require(rms(loud)) - #require(rms(tone(250, amplitude: 0.2, through: .rattling).samples))
        #expect((-40 ... -10).contains(level), "\(level) dB")
        #expect(try isSame(loud, buzz(amplitude: 0.2, seed: 1)))
        #expect(try !isSame(loud, buzz(amplitude: 0.2, seed: 2)))
    }

    /// What a loose part adds to a tone of 250 Hz.
    private func buzz(amplitude: Float, seed: UInt64) throws -> [Float] {
        var whole = Loudspeaker.rattling
        whole.cone?.rattle = nil
        let played = sine(hertz: 250, frames: 48_000).map { $0 * amplitude }
        let rattling = try Heard(played, through: .rattling, seed: seed).samples
        return zip(rattling, try Heard(played, through: whole, seed: seed).samples).map { $0 - $1 }
    }

    /// What of speech at the level of a call no fixed filter explains, in dB.
    @Test(arguments: [("small", -46.0 ... -36), ("rattling", -26 ... -17), ("strained", -20 ... -11)])
    func `speech is distorted as much as the presets say`(name: String, range: ClosedRange<Double>) throws {
        let presets: [String: Loudspeaker] = ["small": .small, "rattling": .rattling, "strained": .strained]
        let loudspeaker = try #require(presets[name])
        let speech = SyntheticSpeech.samples(frames: 240_000, seed: 3, levelDecibels: -23)
        let heard = try Heard(speech, through: loudspeaker).samples
        let linear = try Heard(speech, through: Loudspeaker(lowestHertz: loudspeaker.lowestHertz)).samples
        let rest = -(try #require(distortion(heard, of: linear, taps: 128)))
        #expect(range.contains(rest), "\(name): \(rest) dB")
    }

    @Test func `impossible loudspeakers are refused by name`() {
        let cases: [(String, Loudspeaker)] = [
            ("loudspeaker.amplifierCeiling", Loudspeaker(lowestHertz: 100, amplifierCeiling: 0)),
            (
                "loudspeaker.cone.ratedAmplitude",
                Loudspeaker(lowestHertz: 100, cone: LoudspeakerCone(ratedAmplitude: 0))
            ),
            (
                "loudspeaker.cone.forceLoss",
                Loudspeaker(lowestHertz: 100, cone: LoudspeakerCone(ratedAmplitude: 1, forceLoss: 2))
            ),
            (
                "loudspeaker.cone.rattle.level",
                Loudspeaker(
                    lowestHertz: 100,
                    cone: LoudspeakerCone(ratedAmplitude: 1, rattle: Rattle(excursion: 1, level: .nan)))
            ),
        ]
        for (setting, loudspeaker) in cases {
            var conditions = RoomConditions.anechoic
            conditions.loudspeaker = loudspeaker
            let error = #expect(throws: SimulationSettingError.self) { _ = try RoomAcoustics(conditions, seed: 1) }
            #expect(error?.setting == setting)
        }
    }

    private func tone(_ hertz: Double, amplitude: Float, through loudspeaker: Loudspeaker) throws -> Heard {
        try Heard(sine(hertz: hertz, frames: 48_000).map { $0 * amplitude }, through: loudspeaker)
    }

    private func decibels(_ ratio: Double) -> Double { 10 * log10(ratio) }
}

/// Sound in a room without walls; the second half of its first second is looked at.
private struct Heard {
    let samples: [Float]

    init(_ played: [Float], through loudspeaker: Loudspeaker, seed: UInt64 = 1) throws {
        var conditions = RoomConditions.anechoic
        conditions.loudspeaker = loudspeaker
        var room = try RoomAcoustics(conditions, seed: seed)
        samples = render(&room, speaker: played).echo
    }

    /// Of a tone, on the scale on which a tone of amplitude 1 has 1/4.
    func power(_ hertz: Double) -> Double {
        var (re, im) = (0.0, 0.0)
        for index in 24_000..<48_000 {
            let angle = 2 * Double.pi * hertz * Double(index) / 48_000
            re += Double(samples[index]) * cos(angle)
            im += Double(samples[index]) * sin(angle)
        }
        return (re * re + im * im) / (24_000 * 24_000)
    }
}
