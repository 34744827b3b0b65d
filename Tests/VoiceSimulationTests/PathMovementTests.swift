import Testing
import VoiceSimulation

@Suite struct PathMovementTests {
    /// 2 ms after the direct sound, in frames.
    private static let early = 96
    /// What is looked at of a response: the path hardly moves within it.
    private static let window = 2_400

    @Test func `a walker changes the reflections and not the direct sound`() throws {
        var conditions = RoomConditions.office
        conditions.noise = nil
        conditions.bulkDelayFrames = 0
        conditions.loudspeaker = .linear
        conditions.movement = .walker(share: 0.7, step: .seconds(1))
        let (first, second) = try responses(conditions, seconds: 1)
        let direct = try #require(first.indices.max { abs(first[$0]) < abs(first[$1]) })
        for index in direct - 5...direct + 5 {
            #expect(abs(first[index] - second[index]) < 0.05 * abs(first[direct]), "frame \(index - direct)")
        }
        let (one, other) = (Array(first[(direct + Self.early)...]), Array(second[(direct + Self.early)...]))
        let alike = product(one, other) / (product(one, one) * product(other, other)).squareRoot()
        #expect((0.4...0.95).contains(alike), "\(alike)")
        #expect((0.5...2).contains(product(other, other) / product(one, one)))
    }

    @Test func `a swaying microphone hears the direct sound later and earlier again`() throws {
        var conditions = RoomConditions.anechoic
        conditions.movement = .microphone(reach: [0.36, 0, 0], step: .milliseconds(500))
        // 0.36 m of flight are 50.3 frames; the last place is reached after three steps, the first again after six
        let (first, far) = try responses(conditions, seconds: 1.5)
        let (_, back) = try responses(conditions, seconds: 3)
        func peak(_ response: [Float]) -> Int { response.indices.max { abs(response[$0]) < abs(response[$1]) } ?? 0 }
        #expect(abs(peak(far) - peak(first) - 50) <= 1)
        #expect(peak(back) == peak(first))
    }

    @Test func `one seed gives the same bits however the stream is cut`() throws {
        var conditions = RoomConditions.office
        conditions.movement = .walker(share: 0.5, step: .milliseconds(50))
        conditions.loudspeaker = .rattling
        conditions.playbackCompressor = Compressor(thresholdDecibels: -40)
        let speaker = SyntheticSpeech.samples(frames: 12_000, seed: 1)
        var one = try RoomAcoustics(conditions, seed: 7)
        var other = try RoomAcoustics(conditions, seed: 7)
        let whole = render(&one, speaker: speaker, blocks: [480]).microphone
        let pieces = render(&other, speaker: speaker, blocks: [1, 128, 333, 960]).microphone
        #expect(isSame(whole, pieces))
    }

    @Test func `impossible movements are refused by name`() {
        let cases: [(String, PathMovement)] = [
            ("movement.share", .walker(share: 2, step: .seconds(1))),
            ("movement.step", .walker(share: 0.5, step: .zero)),
            ("movement.reach.microphone", .microphone(reach: [9, 0, 0], step: .seconds(1))),
        ]
        for (setting, movement) in cases {
            var conditions = RoomConditions.office
            conditions.movement = movement
            let error = #expect(throws: SimulationSettingError.self) { _ = try RoomAcoustics(conditions, seed: 1) }
            #expect(error?.setting == setting)
        }
    }

    /// What the microphone hears of two pulses, at the beginning and so many seconds later.
    private func responses(_ conditions: RoomConditions, seconds: Double) throws -> ([Float], [Float]) {
        var room = try RoomAcoustics(conditions, seed: 1)
        let later = Int(seconds * 48_000)
        var speaker = [Float](repeating: 0, count: later + Self.window)
        speaker[0] = 0.5
        speaker[later] = 0.5
        let echo = render(&room, speaker: speaker).echo
        return (Array(echo[..<Self.window]), Array(echo[later...]))
    }

    private func product(_ one: [Float], _ other: [Float]) -> Double {
        zip(one, other).reduce(0) { $0 + Double($1.0) * Double($1.1) }
    }
}
