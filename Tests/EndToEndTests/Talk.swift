import SimulatedCalls
import VoiceEngine
import VoiceSimulation

/// Who says what when, as the talkers of a `SimulatedCall`. Times are seconds since the call's beginning.
struct Talk {
    /// When a side speaks; silence between.
    var a: [ClosedRange<Double>]
    var b: [ClosedRange<Double>]
    var length: Double
    var seed: UInt64

    /// The usual level of speech in telephony, ITU-T P.56 active speech level, dBFS.
    static let levelDecibels = -26.0

    /// Two talkers; a side that is not named is silent.
    init(a: [ClosedRange<Double>] = [], b: [ClosedRange<Double>] = [], length: Double, seed: UInt64) {
        (self.a, self.b, self.length, self.seed) = (a, b, length, seed)
    }

    /// A call for this talk over loudspeakers: an office, a living room, a wired network between them.
    var overLoudspeakers: SimulatedCall.Configuration {
        var configuration = SimulatedCall.Configuration(talkers: [
            Self.part(a, voice: .high, length: length, seed: seed),
            Self.part(b, voice: .low, length: length, seed: seed &+ 1_000),
        ])
        configuration.seed = seed
        configuration.longest = .seconds(length)
        return configuration
    }

    /// A call for this talk without echo, noise or processing: what is heard is what the network and the jitter buffer
    /// make of the voice.
    var overCables: SimulatedCall.Configuration {
        var configuration = overLoudspeakers
        configuration.rooms = [RoomConditions(), RoomConditions()]
        configuration.engine.backend = .bypass
        configuration.engine.processing = .bypass
        return configuration
    }

    private static func part(
        _ stretches: [ClosedRange<Double>], voice: SyntheticSpeech.Voice, length: Double, seed: UInt64
    ) -> SpeechSource {
        guard !stretches.isEmpty else { return SpeechSource([], repetition: .once) }
        let frames = Int(length * 48_000)
        let speech = SyntheticSpeech.samples(frames: frames, seed: seed, voice: voice, levelDecibels: levelDecibels)
        var part = [Float](repeating: 0, count: frames)
        var spoken = 0
        for stretch in stretches {
            for frame in frameRange(stretch) where frame < frames {
                part[frame] = speech[spoken]
                spoken += 1
            }
        }
        return SpeechSource(part, repetition: .once)
    }
}

/// The frames of 48 kHz of a stretch of seconds.
func frameRange(_ seconds: ClosedRange<Double>) -> Range<Int> {
    Int(seconds.lowerBound * 48_000)..<Int(seconds.upperBound * 48_000)
}
