import Glibc
import Testing
import VoiceSimulation

@Suite struct RoomAcousticsTests {
    static let presets: [(name: String, conditions: RoomConditions)] = [
        ("office", .office), ("livingRoom", .livingRoom), ("car", .car), ("headset", .headset), ("anechoic", .anechoic),
    ]

    @Test(arguments: presets.map(\.name))
    func `one seed gives the same bits however the stream is cut`(name: String) throws {
        let conditions = try #require(Self.presets.first { $0.name == name }).conditions
        let speaker = SyntheticSpeech.samples(frames: 24_000, seed: 1)
        let near = SyntheticSpeech.samples(frames: 24_000, seed: 2)
        var first = try RoomAcoustics(conditions, seed: 7)
        var second = try RoomAcoustics(conditions, seed: 7)
        let one = render(&first, speaker: speaker, near: near, blocks: [480])
        let two = render(&second, speaker: speaker, near: near, blocks: [1, 128, 333, 960])
        #expect(isSame(one.microphone, two.microphone))
        #expect(isSame(one.echo, two.echo))
        #expect(one.microphone.allSatisfy { $0.isFinite && abs($0) <= 1 })
    }

    /// Echo return loss in dB.
    @Test(arguments: [("office", -6.0), ("office", 10), ("livingRoom", 15), ("car", 3), ("anechoic", 25)])
    func `the echo of speech is as much weaker as asked`(name: String, loss: Double) throws {
        // Given a room with a linear loudspeaker
        var conditions = try #require(Self.presets.first { $0.name == name }).conditions
        conditions.echoReturnLossDecibels = loss
        conditions.loudspeaker.saturation = 0
        conditions.loudspeaker.secondHarmonic = 0
        conditions.noise = nil
        var room = try RoomAcoustics(conditions, seed: 1)
        // When speech of two voices is played
        let speaker =
            SyntheticSpeech.samples(frames: 240_000, seed: 3)
            + SyntheticSpeech.samples(frames: 240_000, seed: 4, voice: .high)
        let echo = render(&room, speaker: speaker).echo
        // Then its level has fallen by the loss, within what one voice's spectrum differs from the average one's
        let played = try #require(rms(speaker))
        let heard = try #require(rms(echo))
        #expect(abs(played - heard - loss) < 3, "\(played - heard) dB for \(loss) dB")
    }

    @Test func `bulk delay and flight are what the echo is late by`() throws {
        var conditions = RoomConditions.anechoic
        conditions.bulkDelayFrames = 5_000
        var room = try RoomAcoustics(conditions, seed: 1)
        var speaker = [Float](repeating: 0, count: 12_000)
        speaker[100] = 0.5
        // 0.5 m of flight are 69.9 frames
        let delayOfRoom = room.echoDelayFrames
        let delay = try #require(delayOfRoom)
        #expect(abs(delay - 5_069.9) < 0.1)
        let echo = render(&room, speaker: speaker).echo
        #expect(echo.indices.max { abs(echo[$0]) < abs(echo[$1]) } == 5_170)
    }

    @Test func `a jump of the bulk delay takes effect at once`() throws {
        var conditions = RoomConditions.anechoic
        conditions.bulkDelayFrames = 2_000
        var room = try RoomAcoustics(conditions, seed: 1)
        let speaker = whiteNoise(48_000, seed: 1)
        _ = render(&room, speaker: speaker)
        room.bulkDelayFrames = 4_000
        let next = whiteNoise(48_000, seed: 2)
        let echo = render(&room, speaker: next).echo
        let alignment = try #require(align(echo, after: next, longest: 10_000))
        #expect(alignment.delayFrames == 4_070)
        room.bulkDelayFrames = 1_000_000
        let clamped = room.bulkDelayFrames
        #expect(clamped == RoomConditions.longestBulkDelayFrames)
    }

    /// Parts per million.
    @Test(arguments: [-200.0, -50, 50, 200])
    func `a faster loudspeaker clock makes the echo come ever earlier`(ppm: Double) throws {
        // Given a delay of 100 ms
        var conditions = RoomConditions.anechoic
        conditions.bulkDelayFrames = 4_800
        conditions.loudspeakerClockPPM = ppm
        var room = try RoomAcoustics(conditions, seed: 1)
        // When 5 s have been played
        let speaker = whiteNoise(240_000, seed: 1)
        let echo = render(&room, speaker: speaker).echo
        // Then the delay has moved by ppm / 1,000,000 of what has passed
        for start in [9_600, 120_000, 237_600] {
            let lead = 6_000
            let heard = Array(echo[start..<start + 2_400])
            let played = Array(speaker[start - lead..<start + 2_400])
            let alignment = try #require(align(heard, after: played, longest: 8_400))
            let expected = 4_870 - ppm * 1e-6 * Double(start + 1_200)
            #expect(abs(Double(alignment.delayFrames + lead) - expected) < 1, "\(ppm) ppm: \(alignment)")
            #expect(alignment.isTrusted, "\(ppm) ppm: \(alignment)")
        }
    }

    @Test func `a swinging delay goes to and fro`() throws {
        // Given a delay of 100 ms that swings by 20 frames in 2 s
        var conditions = RoomConditions.anechoic
        conditions.bulkDelayFrames = 4_800
        conditions.delaySwing = DelaySwing(frames: 20, period: .seconds(2))
        var room = try RoomAcoustics(conditions, seed: 1)
        let speaker = whiteNoise(96_000, seed: 1)
        let echo = render(&room, speaker: speaker).echo
        // Then it is longest after a quarter of that, shortest after three quarters, and 69.9 frames of flight are
        // beside it
        for (second, expected) in [(0.5, 4_890.0), (1, 4_870), (1.5, 4_850)] {
            let middle = Int(second * 48_000)
            let lead = 6_000
            let heard = Array(echo[middle - 600..<middle + 600])
            let played = Array(speaker[middle - 600 - lead..<middle + 600])
            let alignment = try #require(align(heard, after: played, longest: 7_200))
            #expect(abs(Double(alignment.delayFrames + lead) - expected) <= 1, "\(alignment) at \(second) s")
        }
    }

    @Test func `slipping keeps a tone clean`() throws {
        // Given a tone whose delay shrinks by 500 ppm: it sounds 0.5 Hz higher
        var conditions = RoomConditions.anechoic
        conditions.bulkDelayFrames = 4_800
        conditions.loudspeakerClockPPM = 500
        var room = try RoomAcoustics(conditions, seed: 1)
        let echo = render(&room, speaker: sine(hertz: 1_000, frames: 96_000).map { $0 * 0.5 }).echo
        // Then it is a tone of that frequency and nothing else down to -70 dB
        let steady = Array(echo[48_000...])
        let step = 2 * Double.pi * 1_000.5 / 48_000
        var (re, im, total) = (0.0, 0.0, 0.0)
        for (index, sample) in steady.enumerated() {
            re += Double(sample) * cos(step * Double(index))
            im += Double(sample) * sin(step * Double(index))
            total += Double(sample) * Double(sample)
        }
        let tone = 2 * (re * re + im * im) / Double(steady.count)
        #expect(total - tone < total * 1e-7, "\(10 * log10((total - tone) / total)) dB")
    }

    @Test func `a driven loudspeaker adds harmonics and a linear one none`() throws {
        func harmonics(_ loudspeaker: Loudspeaker) throws -> (second: Double, third: Double) {
            var conditions = RoomConditions.anechoic
            conditions.loudspeaker = loudspeaker
            var room = try RoomAcoustics(conditions, seed: 1)
            let echo = render(&room, speaker: sine(hertz: 1_000, frames: 48_000).map { $0 * 0.5 }).echo
            func power(_ hertz: Double) -> Double {
                var (re, im) = (0.0, 0.0)
                for index in 24_000..<48_000 {
                    let angle = 2 * Double.pi * hertz * Double(index) / 48_000
                    re += Double(echo[index]) * cos(angle)
                    im += Double(echo[index]) * sin(angle)
                }
                return re * re + im * im
            }
            return (10 * log10(power(2_000) / power(1_000)), 10 * log10(power(3_000) / power(1_000)))
        }
        let linear = try harmonics(.linear)
        #expect(linear.second < -90 && linear.third < -90, "\(linear)")
        let small = try harmonics(.small)
        #expect((-50 ... -30).contains(small.second), "\(small)")
        #expect((-50 ... -20).contains(small.third), "\(small)")
        let overdriven = try harmonics(.overdriven)
        #expect(overdriven.third > small.third + 10, "\(overdriven)")
    }

    @Test(arguments: AmbientNoise.Colour.allCases, [-40.0, -60])
    func `noise has its level and its colour`(colour: AmbientNoise.Colour, level: Double) throws {
        var conditions = RoomConditions.headset
        conditions.noise = AmbientNoise(colour, levelDecibels: level)
        var room = try RoomAcoustics(conditions, seed: 11)
        let silence = [Float](repeating: 0, count: 480_000)
        let noise = render(&room, speaker: silence).microphone
        let found = try #require(rms(noise))
        #expect(abs(found - level) < 1, "\(found) dB")
        // Differences of neighbours are quiet where low frequencies carry the power.
        let steps = zip(noise, noise.dropFirst()).map { $1 - $0 }
        let roughness = try #require(rms(steps)) - found
        let range: ClosedRange<Double> =
            switch colour {
            case .white: 2.5...3.5
            case .pink: -8 ... -1
            case .brown: -25 ... -12
            }
        #expect(range.contains(roughness), "\(colour): \(roughness) dB")
    }

    @Test func `a headset hears the near talker and nothing of the far end`() throws {
        var conditions = RoomConditions.headset
        conditions.noise = nil
        conditions.nearGainDecibels = -6
        var room = try RoomAcoustics(conditions, seed: 1)
        let near = whiteNoise(4_800, seed: 2)
        let (microphone, echo) = render(&room, speaker: whiteNoise(4_800, seed: 1), near: near)
        #expect(echo.allSatisfy { $0 == 0 })
        #expect(zip(microphone, near).allSatisfy { abs($0 - $1 * gain(-6)) < 1e-6 })
        let delay = room.echoDelayFrames
        #expect(delay == nil)
    }

    @Test func `the microphone is cut off at full scale and says so`() throws {
        var room = try RoomAcoustics(.headset, seed: 1)
        let loud = sine(hertz: 100, frames: 4_800).map { $0 * 2 }
        let microphone = render(&room, speaker: [Float](repeating: 0, count: 4_800), near: loud).microphone
        #expect(microphone.max() == 1 && microphone.min() == -1)
        // A sine of amplitude 2 is beyond 1 for two thirds of the time.
        let clipped = room.clippedFrames
        #expect(abs(Double(clipped) / 4_800 - 2.0 / 3) < 0.02)
    }

    @Test func `the microphone is echo, near talker and noise together`() throws {
        var conditions = RoomConditions.office
        conditions.noise = nil
        var room = try RoomAcoustics(conditions, seed: 1)
        let near = SyntheticSpeech.samples(frames: 48_000, seed: 5)
        let (microphone, echo) = render(
            &room, speaker: SyntheticSpeech.samples(frames: 48_000, seed: 6), near: near)
        #expect(isSame(microphone, zip(echo, near).map { $0 + $1 }))
    }

    @Test func `turning the volume changes the echo at once`() throws {
        var room = try RoomAcoustics(.anechoic, seed: 1)
        let speaker = whiteNoise(48_000, seed: 1)
        let before = try #require(rms(render(&room, speaker: speaker).echo))
        room.echoReturnLossDecibels -= 12
        let after = try #require(rms(render(&room, speaker: speaker).echo))
        #expect((11.8...12.2).contains(after - before))
    }

    @Test func `impossible conditions are refused by name`() {
        let cases: [(String, (inout RoomConditions) -> Void)] = [
            ("bulkDelayFrames", { $0.bulkDelayFrames = -1 }), ("bulkDelayFrames", { $0.bulkDelayFrames = 1_000_000 }),
            ("echoReturnLossDecibels", { $0.echoReturnLossDecibels = .nan }),
            ("loudspeakerClockPPM", { $0.loudspeakerClockPPM = 1e6 }),
            ("loudspeaker.lowestHertz", { $0.loudspeaker.lowestHertz = 0 }),
            ("noise.levelDecibels", { $0.noise?.levelDecibels = 3 }), ("responseLength", { $0.responseLength = .zero }),
            ("delaySwing.period", { $0.delaySwing = DelaySwing(frames: 1, period: .zero) }),
            ("echoPath.microphone", { $0.echoPath?.microphone = [9, 9, 9] }),
            ("nearGainDecibels", { $0.nearGainDecibels = .infinity }),
        ]
        for (setting, change) in cases {
            var conditions = RoomConditions.office
            change(&conditions)
            let error = #expect(throws: SimulationSettingError.self) { _ = try RoomAcoustics(conditions, seed: 1) }
            #expect(error?.setting == setting)
        }
    }
}
