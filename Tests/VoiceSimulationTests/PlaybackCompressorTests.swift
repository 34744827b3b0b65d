import Testing
import VoiceSimulation

@Suite struct PlaybackCompressorTests {
    @Test func `above the threshold the level grows by the ratio`() throws {
        func level(_ amplitude: Float) throws -> Double {
            var conditions = RoomConditions.anechoic
            conditions.playbackCompressor = Compressor(thresholdDecibels: -30, ratio: 5)
            var room = try RoomAcoustics(conditions, seed: 1)
            let echo = render(&room, speaker: sine(hertz: 1_000, frames: 48_000).map { $0 * amplitude }).echo
            return try #require(rms(Array(echo[24_000...])))
        }
        // -57, -47; -23 and -13 dB
        let below = try level(0.0063) - level(0.002)
        let above = try level(0.316) - level(0.1)
        #expect(abs(below - 10) < 0.2, "\(below) dB")
        #expect(abs(above - 2) < 0.5, "\(above) dB")
    }

    @Test func `it lets go slowly`() throws {
        // Given a loud tone that becomes quiet after half a second
        var conditions = RoomConditions.anechoic
        conditions.playbackCompressor = Compressor(thresholdDecibels: -30, ratio: 5, release: .milliseconds(200))
        var room = try RoomAcoustics(conditions, seed: 1)
        let speaker = sine(hertz: 1_000, frames: 96_000).enumerated().map { $1 * ($0 < 24_000 ? 0.5 : 0.01) }
        let echo = render(&room, speaker: speaker).echo
        // Then the quiet part rises by what had been taken away
        let early = try #require(rms(Array(echo[25_000..<27_000])))
        let late = try #require(rms(Array(echo[90_000...])))
        #expect((10...20).contains(late - early), "\(late - early) dB")
    }

    @Test func `impossible compressors are refused by name`() {
        var conditions = RoomConditions.anechoic
        conditions.playbackCompressor = Compressor(thresholdDecibels: -30, ratio: 0.5)
        let error = #expect(throws: SimulationSettingError.self) { _ = try RoomAcoustics(conditions, seed: 1) }
        #expect(error?.setting == "playbackCompressor.ratio")
    }
}
