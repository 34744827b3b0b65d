import SimulatedCalls
import VoiceEngine
import VoicePartner
import VoiceSimulation

/// Understands what it was told to, where there is sound.
struct ScriptedRecogniser: Recogniser {
    let text: String

    func recognise(
        _ sound: AsyncStream<[Float]>, partial: @escaping @Sendable (String) async -> Void
    ) async throws(PartnerError) -> String {
        var loudest: Float = 0
        for await samples in sound { loudest = max(loudest, samples.max() ?? 0) }
        return loudest > 0.01 ? text : ""
    }
}

/// Serves one turn at a time: the next one's beginning ends the one before, of which nothing comes.
actor OneTurnRecogniser: Recogniser {
    private var turn = 0
    /// Turns of which something came.
    private(set) var done = 0

    func recognise(
        _ sound: AsyncStream<[Float]>, partial: @escaping @Sendable (String) async -> Void
    ) async throws(PartnerError) -> String {
        turn += 1
        let own = turn
        var frames = 0
        for await samples in sound {
            frames += samples.count
            await partial("\(frames)")
        }
        guard !Task.isCancelled, own == turn else { return "" }
        done += 1
        return "\(frames) frames"
    }
}

/// Says back what it was asked.
struct Echo: Responder {
    func respond(
        to dialogue: Dialogue, say: @escaping @Sendable (String) async -> Bool
    ) async throws(PartnerError) {
        _ = await say("You said: \(dialogue.question). Well.")
    }
}

/// Speaks what a detector takes for speech, 60 ms for each letter.
struct ChatteringSynthesiser: Synthesiser {
    func synthesise(
        _ sentence: String, play: @escaping @Sendable (SpeechFragment) async -> Bool
    ) async throws(PartnerError) {
        let speech = SyntheticSpeech.samples(frames: sentence.count * 2_880, seed: 7, voice: .low, levelDecibels: -20)
        for start in stride(from: 0, to: speech.count, by: 960) {
            let part = Array(speech[start..<min(start + 960, speech.count)])
            guard await play(SpeechFragment(part, rate: .hertz48000)) else { return }
        }
    }
}

/// A sound card in software, before which somebody talks for two seconds; and again long after, where a busy machine has
/// lost it.
func card(talks: Bool) -> DeviceChoice {
    let speech =
        [Float](repeating: 0, count: 48_000)
        + SyntheticSpeech.samples(frames: 96_000, seed: 3, voice: .low, levelDecibels: -20)
        + [Float](repeating: 0, count: 20 * 48_000)
    let talker = talks ? SpeechSource(speech, repetition: .loop) : SpeechSource([0], repetition: .once)
    guard
        let acoustics = try? RoomAcoustics(RoomConditions(), seed: 1),
        let card = try? SimulatedDevice(
            air: ConversationAir(acoustics: acoustics, talker: talker, longestRecording: 0),
            configuration: SimulatedDeviceConfiguration(pacing: .realTime(priority: 0)))
    else { return .systemDefault }
    return .custom(card)
}
