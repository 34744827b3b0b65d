import SimulatedCalls
import Synchronization
import VoiceEngine
import VoicePartner
import VoiceSimulation

/// An engine before whose sound card in software somebody talks; nobody, unless a talker is given.
func engine(hearing talker: SpeechSource = SpeechSource([0], repetition: .once)) throws -> VoiceEngine {
    let air = ConversationAir(
        acoustics: try RoomAcoustics(RoomConditions(), seed: 1), talker: talker, longestRecording: 0)
    let card = try SimulatedDevice(
        air: air, configuration: SimulatedDeviceConfiguration(pacing: .realTime(priority: 0)))
    var configuration = EngineConfiguration.headset
    configuration.device = .custom(card)
    configuration.mediaPriority = 0
    configuration.playoutMargin = .fixed(PlayoutMargin.longest)
    return VoiceEngine(configuration)
}

/// Two seconds of speech, once, behind half a second of silence.
let somebody = SpeechSource(
    [Float](repeating: 0, count: 24_000)
        + SyntheticSpeech.samples(frames: 96_000, seed: 3, voice: .low, levelDecibels: -20), repetition: .once)

/// Understands what it was told to, whatever is said, or fails as it was told to.
final class ScriptedRecogniser: Recogniser {
    private let outcome: Result<String, PartnerError>
    private let heard = Mutex(0)

    init(_ outcome: Result<String, PartnerError>) { self.outcome = outcome }
    convenience init(_ text: String) { self.init(.success(text)) }

    /// Frames at 16 kHz.
    var heardFrames: Int { heard.withLock { $0 } }

    func recognise(
        _ sound: AsyncStream<[Float]>, partial: @escaping @Sendable (String) async -> Void
    ) async throws(PartnerError) -> String {
        for await samples in sound {
            let count = samples.count
            heard.withLock { $0 += count }
        }
        return try outcome.get()
    }
}

/// Has no voice.
struct FailingSynthesiser: Synthesiser {
    let error: PartnerError

    func synthesise(
        _ sentence: String, play: @escaping @Sendable (SpeechFragment) async -> Bool
    ) async throws(PartnerError) { throw error }
}

/// Speaks by humming, 20 ms for each letter.
struct HummingSynthesiser: Synthesiser {
    func synthesise(
        _ sentence: String, play: @escaping @Sendable (SpeechFragment) async -> Bool
    ) async throws(PartnerError) {
        let hum = (0..<960).map { $0 % 96 < 48 ? Float(0.05) : -0.05 }
        for _ in sentence { guard await play(SpeechFragment(hum, rate: .hertz48000)) else { return } }
    }
}

/// What an example shows.
final class Shown<Line: Sendable>: Sendable {
    private let all = Mutex<[Line]>([])

    var lines: [Line] { all.withLock { $0 } }

    func append(_ line: Line) { all.withLock { $0.append(line) } }

    /// Waits until what was shown is as wanted; false where it is not within half a minute.
    func wait(_ isWanted: ([Line]) -> Bool) async throws -> Bool {
        let deadline = ContinuousClock.now + .seconds(30)
        while !isWanted(lines) {
            guard ContinuousClock.now < deadline else { return false }
            try await Task.sleep(for: .milliseconds(5))
        }
        return true
    }
}
