import Glibc
import Testing
import VoiceSimulation

@Suite struct SignalLevelTests {
    @Test func `a full-scale sine is at -3 dB`() throws {
        let level = SignalLevel(of: sine(hertz: 1_000, frames: 48_000).span)
        #expect(abs(try #require(level.rmsDecibels) + 3.01) < 0.01)
        #expect(abs(try #require(level.activeDecibels) + 3.01) < 0.01)
        #expect(abs(level.peak - 1) < 1e-4 && level.activity == 1)
    }

    @Test func `pauses lower the RMS and not the active level`() throws {
        let tone = sine(hertz: 500, frames: 48_000)
        let level = SignalLevel(of: (tone + [Float](repeating: 1e-5, count: 144_000)).span)
        #expect(abs(try #require(level.rmsDecibels) + 9.03) < 0.05)
        #expect(abs(try #require(level.activeDecibels) + 3.01) < 0.05)
        #expect(abs(level.activity - 0.25) < 0.01)
    }

    @Test func `silence has no level`() {
        let level = SignalLevel(of: [Float](repeating: 0, count: 5_000).span)
        #expect(level.rmsDecibels == nil && level.activeDecibels == nil && level.activity == 0)
        #expect(SignalLevel(of: [Float]().span).rmsDecibels == nil)
    }
}

@Suite struct EchoReturnLossTests {
    @Test(arguments: [0.0, 12, 40])
    func `finds the attenuation of an echo with pauses`(attenuation: Double) throws {
        let echo = SyntheticSpeech.samples(frames: 480_000, seed: 1)
        let residual = echo.map { $0 * gain(-attenuation) }
        let loss = try #require(enhancement(echo: echo, residual: residual))
        #expect(abs(loss.enhancementDecibels - attenuation) < 0.1)
        #expect(abs(loss.medianDecibels - attenuation) < 0.1)
        #expect((200..<500).contains(loss.activeFrames))
    }

    @Test func `noise in the pauses of the echo does not count`() throws {
        let echo = sine(hertz: 300, frames: 48_000).map { $0 * 0.3 } + [Float](repeating: 0, count: 48_000)
        let residual = echo[..<48_000].map { $0 * gain(-20) } + whiteNoise(48_000, seed: 1)
        let loss = try #require(enhancement(echo: echo, residual: residual))
        #expect(abs(loss.enhancementDecibels - 20) < 0.1)
        #expect(loss.activeFrames == 50)
    }

    @Test func `without echo nothing is measured and perfect silence is bounded`() throws {
        let silence = [Float](repeating: 0, count: 9_600)
        #expect(enhancement(echo: silence, residual: silence) == nil)
        let echo = sine(hertz: 300, frames: 9_600).map { $0 * gain(-20) }
        let loss = try #require(enhancement(echo: echo, residual: silence))
        #expect(abs(loss.enhancementDecibels - 73) < 0.2, "from -23 dB to the floor of -96 dB")
    }
}

@Suite struct SignalAlignmentTests {
    @Test(
        arguments: [-48_000, -1_000, -1, 0, 1, 37, 12_345, 96_000], [SignalAlignment.Weighting.none, .phaseTransform])
    func `finds the delay of speech`(delay: Int, weighting: SignalAlignment.Weighting) throws {
        let speech = SyntheticSpeech.samples(frames: 96_000, seed: 4)
        let later = [Float](repeating: 0, count: max(delay, 0)) + speech.dropFirst(max(-delay, 0))
        let alignment = try #require(align(later, after: speech, longest: max(abs(delay), 1_000), weighting: weighting))
        #expect(alignment.delayFrames == delay)
        #expect(alignment.correlation > 0.999 && alignment.isTrusted, "\(alignment)")
    }

    @Test(arguments: [SignalAlignment.Weighting.none, .phaseTransform])
    func `finds the echo under a near talker and noise`(weighting: SignalAlignment.Weighting) throws {
        var room = try RoomAcoustics(.office, seed: 5)
        let speaker = SyntheticSpeech.samples(frames: 480_000, seed: 6)
        let near = SyntheticSpeech.samples(frames: 480_000, seed: 7, voice: .high, levelDecibels: -36)
        let microphone = render(&room, speaker: speaker, near: near).microphone
        let alignment = try #require(align(microphone, after: speaker, longest: 28_800, weighting: weighting))
        let delayOfRoom = room.echoDelayFrames
        let expected = try #require(delayOfRoom)
        #expect(abs(Double(alignment.delayFrames) - expected) < 48, "\(alignment), \(expected)")
    }

    @Test func `inverted polarity shows in the sign`() throws {
        let noise = whiteNoise(20_000, seed: 8)
        let inverted = delayed(noise.map { -$0 }, by: 55)
        let alignment = try #require(align(inverted, after: noise, longest: 1_000))
        #expect(alignment.delayFrames == 55 && alignment.correlation < -0.99)
    }

    @Test func `unrelated signals and silence are not measured`() throws {
        let one = whiteNoise(48_000, seed: 1)
        let other = whiteNoise(48_000, seed: 2)
        let alignment = try #require(align(one, after: other, longest: 20_000))
        #expect(!alignment.isTrusted, "\(alignment)")
        let silence = [Float](repeating: 0, count: 1_000)
        #expect(align(silence, after: one, longest: 10) == nil)
        #expect(align([Float](), after: one, longest: 10) == nil)
    }

    @Test func `a tone is seen to be ambiguous`() throws {
        let tone = sine(hertz: 1_000, frames: 96_000)
        let alignment = try #require(align(delayed(tone, by: 480), after: tone, longest: 4_800))
        #expect(!alignment.isTrusted, "\(alignment)")
    }
}

@Suite struct ScaleInvariantDistortionTests {
    let reference = SyntheticSpeech.samples(frames: 96_000, seed: 9)

    @Test(arguments: [0.0, 10, 30], [1, 16])
    func `is the ratio of speech to what was added`(ratio: Double, taps: Int) throws {
        let energy = try #require(rms(reference))
        // White noise of RMS 0.25 is at -12.04 dB
        let scale = gain(energy - ratio + 12.04)
        let estimate = zip(reference, whiteNoise(96_000, seed: 10)).map { 0.3 * ($0 + $1 * scale) }
        let found = try #require(
            distortion(estimate, of: reference, taps: taps))
        #expect(abs(found - ratio) < 0.3, "\(found) dB")
    }

    @Test func `forgives delay, gain and a short filter, each when asked`() throws {
        let late = delayed(reference.map { $0 * -2 }, by: 333)
        func ratio(_ estimate: [Float], delay: Int, taps: Int) throws -> Double {
            try #require(
                distortion(estimate, of: reference, delay: delay, taps: taps))
        }
        #expect(try ratio(late, delay: 333, taps: 1) > 100)
        #expect(try ratio(late, delay: 0, taps: 1) < 10)
        let filtered = late.indices.map { $0 < 5 ? 0 : late[$0] - 0.8 * late[$0 - 1] + 0.2 * late[$0 - 5] }
        #expect(try ratio(filtered, delay: 333, taps: 1) < 20)
        #expect(try ratio(filtered, delay: 333, taps: 16) > 60)
    }

    @Test func `silence has no ratio`() {
        let silence = [Float](repeating: 0, count: 96_000)
        #expect(distortion(silence, of: reference) == nil)
        #expect(distortion(reference, of: silence) == nil)
        #expect(distortion([Float](), of: reference) == nil)
    }
}

@Suite("Which part of a known sound a loudspeaker plays")
struct PositionSearchTests {
    @Test(
        "no position is told within half a window behind a jump to where the sound is alike",
        arguments: [-300, -120, 0, 120, 300, 600])
    func likeness(sinceJump: Int) {
        // Given a sound that is the same 8 ms later for a while, and a loudspeaker that skips these 8 ms
        var said = PositionSearch.samples(seconds: 1, seed: 3)
        let (at, length) = (24_000, 384)
        for frame in at..<at + length { said[frame + length] = said[frame] }
        let heard = Array(said[..<at]) + Array(said[(at + length)...])
        let search = PositionSearch(in: said)
        // When it is asked near the jump
        let frame = at + sinceJump
        let told = search.steadyPosition(before: frame, of: heard, near: frame + (sinceJump > 0 ? length : 0))
        // Then what it tells is what is played, or nothing
        let played = sinceJump > 0 ? frame + length : frame
        #expect(told == nil || abs((told ?? 0) - played) <= 48, "\(told ?? 0) where \(played) is played")
        // And far from the jump it does tell
        #expect(search.steadyPosition(before: 12_000, of: heard, near: 12_100) == 12_000)
    }

    @Test("what is far from where it is expected is found all the same", arguments: [-60_000, -6_000, 6_000, 90_000])
    func far(off: Int) {
        // Given a loudspeaker that plays another part of the sound than it is said to
        let said = PositionSearch.samples(seconds: 4, seed: 7)
        let search = PositionSearch(in: said)
        // When it is asked for the position, then it tells the part that is played
        #expect(search.steadyPosition(before: 90_000, of: said, near: 90_000 + off) == 90_000)
        // And nothing where no part of the sound is played
        let other = PositionSearch.samples(seconds: 4, seed: 8)
        #expect(search.steadyPosition(before: 90_000, of: other, near: 90_000 + off) == nil)
    }

    @Test("a position behind the end of the sound, or before its beginning, is looked for without a trap")
    func outside() {
        let said = PositionSearch.samples(seconds: 1, seed: 3)
        let search = PositionSearch(in: said)
        for guess in [-100_000, 60_000, 1_000_000] {
            #expect(search.position(before: 12_000, of: said, near: guess) == nil)
            #expect(search.steadyPosition(before: 12_000, of: said, near: guess) == 12_000)
        }
    }
}
