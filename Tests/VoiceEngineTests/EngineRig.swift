import Glibc
import SimulatedCalls
import VoiceEngine
import VoiceRooms
import VoiceSimulation

@testable import VoiceTransport

/// A room server on loopback, and what opens its room.
struct LoopbackRoom {
    static let name = "kitchen"
    private static let secret = [UInt8](repeating: 7, count: TokenKey.minimumSecretSize)

    let server: RoomServer
    let port: UInt16

    /// - Parameter state: where a server that protects its rooms keeps its certificate; nil: one without protection.
    init(
        port: UInt16 = 0, directory: RoomDirectoryConfiguration = RoomDirectoryConfiguration(), state: String? = nil
    ) throws {
        server = RoomServer(
            configuration: RoomServerConfiguration(
                port: port, security: state.map { .protected(.kept(directory: $0, names: ["x"])) } ?? .plaintext,
                directory: directory),
            verifier: TokenVerifier(keys: [try TokenKey(name: "test", secret: Self.secret)]))
        self.port = try server.start()
    }

    /// Ends the server without a word to anyone.
    func close() { server.kill() }

    /// What lets `identity` in, between now and `seconds` later.
    func endpoint(
        _ identity: String, for seconds: Int64 = 600, secret: [UInt8] = secret, port: UInt16? = nil
    ) throws -> RoomEndpoint {
        let now = Int64(time(nil))
        let token = try TokenIssuer(key: TokenKey(name: "test", secret: secret)).token(
            for: TokenGrants(identity: identity, room: Self.name), notBefore: now - 600, expires: now + seconds)
        let port = port ?? self.port
        let url = server.fingerprint.map { RoomEndpoint.url(host: "127.0.0.1", port: port, fingerprint: $0) }
        return try RoomEndpoint(url: url ?? "udp://127.0.0.1:\(port)", token: token)
    }
}

/// A sound card in software, paced by the clock without real-time priority, before which somebody talks all the time.
func talkingCard(periodFrames: Int = 480) throws -> SimulatedDevice<ConversationAir> {
    let air = ConversationAir(
        acoustics: try RoomAcoustics(RoomConditions(), seed: 1),
        talker: SpeechSource(SyntheticSpeech(seed: 1)), longestRecording: 0)
    var shape = SimulatedDeviceConfiguration(pacing: .realTime(priority: 0))
    shape.periodFrames = periodFrames
    return try SimulatedDevice(air: air, configuration: shape)
}

/// A configuration that asks nothing of the machine: no priority, no punctuality, no processing, a card in software.
func modestConfiguration(device: any AudioDevice) -> EngineConfiguration {
    EngineConfiguration(
        device: .custom(device), backend: .bypass, processing: .bypass, maximumStreams: 2, mediaPriority: 0,
        networkPriority: 0, playoutMargin: .fixed(PlayoutMargin.limit))
}

/// An engine that asks nothing of the machine.
func modestEngine() throws -> VoiceEngine { VoiceEngine(modestConfiguration(device: try talkingCard())) }

extension EventStream {
    /// What `wanted` makes of the first event from here on that it makes something of; nil where the events end before.
    func first<Found>(_ wanted: (EngineEvent) -> Found?) async -> Found? {
        for await event in self {
            if let found = wanted(event) { return found }
        }
        return nil
    }

    /// Waits for the event that `wanted` holds for; false where the events end before.
    func wait(_ wanted: (EngineEvent) -> Bool) async -> Bool {
        await first { wanted($0) ? true : nil } ?? false
    }
}

/// Waits until `condition` holds, which is asked every few milliseconds; false where it does not hold within a minute.
func eventually(_ condition: () async throws -> Bool) async throws -> Bool {
    let deadline = ContinuousClock.now + .seconds(60)
    while !(try await condition()) {
        guard ContinuousClock.now < deadline else { return false }
        try await Task.sleep(for: .milliseconds(5))
    }
    return true
}

extension EngineEvent {
    /// Who came, where somebody did.
    var arrival: Participant? { if case .participantJoined(let participant) = self { participant } else { nil } }

    /// What was sent, where something was.
    var message: [UInt8]? { if case .message(_, let bytes) = self { bytes } else { nil } }

    /// Whose speech was interrupted, where it was.
    var interruption: (talker: ParticipantID, generation: UInt32)? {
        if case .interrupted(let talker, _, let generation) = self { (talker, generation) } else { nil }
    }

    /// Why the engine is out of its room, where it is.
    var ending: RoomClientEnd? { if case .left(let end) = self { end } else { nil } }

    /// Why `participant` went, where that is what happened.
    func departure(of participant: ParticipantID) -> LeaveReason? {
        if case .participantLeft(participant, let reason) = self { reason } else { nil }
    }

    /// Whether `participant` muted or unmuted, where it did.
    func mute(of participant: ParticipantID) -> Bool? {
        if case .participantMuted(participant, let muted) = self { muted } else { nil }
    }
}
