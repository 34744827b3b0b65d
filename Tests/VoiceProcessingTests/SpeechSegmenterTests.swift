import Testing

@testable import VoiceProcessing

@Suite("Speech is cut into segments")
struct SpeechSegmenterTests {
    private static func segments(
        _ parts: [(Float, Int)], _ configuration: SpeechDetector.Configuration = .init(), preRoll: Duration = .zero
    ) -> [SpeechSegmenter.Segment] {
        var segmenter = SpeechSegmenter(configuration, preRoll: preRoll)
        let ended = parts.flatMap { Array(repeating: $0.0, count: $0.1) }.compactMap { segmenter.take($0) }
        let last = segmenter.finish()
        return ended + (last.map { [$0] } ?? [])
    }

    @Test("with the mean of the probabilities from the first speech to the last")
    func plain() throws {
        // Given 400 ms of silence, speech of 600 ms with a pause, and silence
        let found = Self.segments([(0.1, 40), (0.9, 40), (0.1, 10), (0.9, 10), (0.1, 60)])
        let segment = try #require(found.first)
        #expect(found.count == 1)
        #expect(segment.start == .milliseconds(400) && segment.end == .milliseconds(1_000))
        #expect(abs(segment.probability - (50 * 0.9 + 10 * 0.1) / 60) < 0.02, "\(segment.probability)")
    }

    @Test("begins earlier by the pre-roll, but neither before the recording nor in the segment before")
    func preRoll() {
        let found = Self.segments(
            [(0.9, 20), (0, 32), (0.9, 20), (0, 80), (0.9, 20), (0, 40)], preRoll: .milliseconds(500))
        #expect(
            found.map(\.start) == [.zero, .milliseconds(200), .milliseconds(1_020)], "\(found)")
        #expect(found.map(\.end) == [.milliseconds(200), .milliseconds(720), .milliseconds(1_720)])
    }

    @Test("one that the recording cuts off ends with it, or where its last pause began")
    func cutOff() {
        #expect(Self.segments([(0, 20), (0.9, 30)]).map(\.end) == [.milliseconds(500)])
        #expect(Self.segments([(0, 20), (0.9, 30), (0, 10)]).map(\.end) == [.milliseconds(500)])
        #expect(Self.segments([(0, 20), (0.9, 4)]).isEmpty)
    }

    @Test("frames of 32 ms are 32 ms though blocks have 10, and 40 ms of silence can end speech")
    func frames() {
        // Given frames of 32 ms
        let configuration = SpeechDetector.Configuration(
            frame: .milliseconds(32), threshold: 0.5, hysteresis: 0.15, onsetConfirmation: .milliseconds(64),
            minimumSpeech: .milliseconds(64), minimumSilence: .milliseconds(40))
        // When speech begins at frame 10 and lasts for 20 frames, each of 3.2 blocks
        let found = Self.segments([(0, 32), (1, 64), (0, 32)], configuration)
        // Then it is told in whole frames
        #expect(found.map(\.start) == [.milliseconds(320)])
        #expect(found.map(\.end) == [.milliseconds(960)])
    }

    @Test(
        "minimum speech is a length, onset confirmation an amount",
        arguments: [(200, 60, 1), (60, 200, 0), (310, 60, 0)])
    func apart(speech: Int, onset: Int, count: Int) {
        // Given speech that is there for 100 ms of 300, with a gap in between
        let parts: [(Float, Int)] = [(0, 20), (0.9, 8), (0.5, 18), (0.9, 4), (0, 60)]
        let configuration = SpeechDetector.Configuration(
            onsetConfirmation: .milliseconds(onset), minimumSpeech: .milliseconds(speech))
        #expect(Self.segments(parts, configuration).count == count)
    }
}
