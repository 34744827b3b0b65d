import TestCases
import Testing
import VoiceEngine
import VoiceSimulation

/// What is left of a talker while the far end talks too, in rooms. The talkers are synthetic: like none that the
/// canceller's network has learned from, which is what anything that has learned may fail on.
@Suite("A talker through the far end", .enabled(if: isOptimised))
struct TalkerTests {
    struct Room: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var conditions = RoomConditions.office
        /// As loud as the echo of an office is.
        var talkDecibels = -31.0
        /// Signal-to-distortion ratio that must remain, dB.
        var least: Double

        init(_ name: String, least: Double, _ change: (inout Room) -> Void = { _ in }) {
            testDescription = name
            self.least = least
            conditions.noise = AmbientNoise(.pink, levelDecibels: -75)
            change(&self)
        }
    }

    // Measured for seeds 1 and 2: 17.6 and 18.5, 9.3 and 10.6, 11.6 and 11.6, 10.9 and 8.7 dB.
    static let rooms = [
        Room("an office", least: 15),
        Room("an office, the echo 12 dB over the talker", least: 7.5) {
            $0.conditions.echoReturnLossDecibels = 0
            $0.talkDecibels = -35
        },
        Room("an office with noise", least: 10) { $0.conditions.noise = AmbientNoise(.pink, levelDecibels: -46) },
        Room("a loudspeaker that distorts", least: 7) { $0.conditions.loudspeaker = .strained },
    ]

    /// 3 s of the far end alone, then 4 s of both.
    private static let (alone, frames) = (3 * 48_000, 7 * 48_000)

    @Test("is understood", arguments: rooms, [UInt64(1), 2])
    func isUnderstood(room: Room, seed: UInt64) throws {
        // Given
        let far = SyntheticSpeech.samples(
            frames: Self.frames, seed: seed + 1_000, voice: .low, levelDecibels: -23)
        let talk =
            [Float](repeating: 0, count: Self.alone)
            + SyntheticSpeech.samples(
                frames: Self.frames - Self.alone, seed: seed, voice: .high, levelDecibels: room.talkDecibels)
        var acoustics = try RoomAcoustics(room.conditions, seed: seed)
        var path = try CapturePath()
        let recording = RoomRecording(
            in: &acoustics, through: &path, played: far, near: talk, talk: talk
        ) { _, _, _ in }
        // When
        var chain = try ProcessingChain(sampleRate: 48_000, settings: ProcessingSettings(echo: .soft))
        var output = recording.microphone
        for start in stride(from: 0, to: Self.frames, by: 480) {
            var block = Array(output[start..<start + 480])
            var span = block.mutableSpan
            _ = chain.run(capture: &span, reference: far.span.extracting(start..<start + 480))
            output.replaceSubrange(start..<start + 480, with: block)
        }
        // Then
        let delay = chain.processor.processingDelay
        let both = Self.alone..<Self.frames - delay
        let heard = Array(output[both.lowerBound + delay..<both.upperBound])
        let said = Array(recording.talk[both])
        let ratio = ScaleInvariantDistortion.ratioDecibels(
            estimate: heard.span, reference: said.span, taps: ScaleInvariantDistortion.usualTaps)
        let kept = try #require(ratio)
        #expect(kept > room.least, "\(kept) dB")
    }
}
