import Glibc
import SimulatedCalls
import Synchronization
import VoiceEngine
import VoicePartner
import VoiceRooms
import VoiceSimulation
import VoiceTransport

/// A sound card in software before which somebody talks, and as much of what is heard there as is to be kept.
func card(
    hearing talker: SpeechSource, recording seconds: Int = 0, seed: UInt64 = 1
) throws -> SimulatedDevice<ConversationAir> {
    let air = ConversationAir(
        acoustics: try RoomAcoustics(RoomConditions(), seed: seed), talker: talker, longestRecording: seconds * 48_000)
    return try SimulatedDevice(
        air: air, configuration: SimulatedDeviceConfiguration(pacing: .realTime(priority: 0)))
}

/// An engine before whose sound card in software somebody talks; nobody, unless a talker is given.
func engine(
    hearing talker: SpeechSource = SpeechSource([0], repetition: .once), seed: UInt64 = 1
) throws -> VoiceEngine {
    engine(on: try card(hearing: talker, seed: seed))
}

/// An engine on a sound card in software, for a machine that is busy.
func engine(on card: SimulatedDevice<ConversationAir>) -> VoiceEngine {
    var configuration = EngineConfiguration.headset
    configuration.device = .custom(card)
    configuration.mediaPriority = 0
    configuration.playoutMargin = .fixed(PlayoutMargin.limit)
    return VoiceEngine(configuration)
}

/// Two seconds of speech behind half a second of silence; and again long after, where a busy machine has lost it.
let somebody = SpeechSource(silence(24_000) + words(seed: 3) + silence(12 * 48_000), repetition: .loop)

/// Two seconds of speech.
func words(seed: UInt64) -> [Float] {
    SyntheticSpeech.samples(frames: 96_000, seed: seed, voice: .low, levelDecibels: -20)
}

func silence(_ frames: Int) -> [Float] { [Float](repeating: 0, count: frames) }

/// A room server on loopback, which gives tokens to whoever asks, until it is closed.
final class Venue: Sendable {
    private let key: TokenKey
    private let server: RoomServer
    private let port: UInt16

    init() throws {
        key = try TokenKey(name: "test", secret: [UInt8](repeating: 7, count: TokenKey.minimumSecretSize))
        server = RoomServer(
            configuration: RoomServerConfiguration(port: 0), verifier: TokenVerifier(keys: [key]))
        port = try server.start()
    }

    func close() { server.stop() }

    func endpoint(_ identity: String) throws -> RoomEndpoint {
        let now = Int64(time(nil))
        let token = try TokenIssuer(key: key).token(
            for: TokenGrants(identity: identity, room: "house"), notBefore: now - 60, expires: now + 600)
        return try RoomEndpoint(url: "udp://127.0.0.1:\(port)", token: token)
    }
}

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
