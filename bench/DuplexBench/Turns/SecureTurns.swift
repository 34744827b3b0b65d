import Dispatch
import Foundation
import SimulatedCalls
import Synchronization
import VoiceDevices
import VoiceEngine
import VoiceRooms
import VoiceSimulation
import VoiceTransport

/// Speaking into an agent in real time: two engines on simulated devices, and a room server that speaks DTLS-SRTP, on
/// loopback.
///
///     story ─► device ─► engine ══ DTLS-SRTP ══ room server ══ DTLS-SRTP ══ engine ─► loudspeaker
///                                                                             ▲            │ an office
///                                                                             └─ device ◄──┴── person
enum SecureTurns {
    /// Whether `--secure` was asked for.
    static let isWanted = CommandLine.arguments.contains("--secure")
    private static let seeds: ClosedRange<UInt64> = BenchmarkLength.seeds ?? 1...10

    static func run() throws -> BenchmarkResult {
        var table = MarkdownTable("", "median", "worst", "of")
        let folder = NSTemporaryDirectory() + "duplex-bench-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let room = try SecureRoom(folder: folder)
        defer { room.stop() }
        let rounds = try seeds.map { seed in try waiting { try await SecureRound(seed: seed, room: room) } }
        func add(_ name: String, _ values: [Double]) {
            table.add(
                name, TurnsTally.median(values).fixed(1), (values.max() ?? .nan).fixed(1), String(values.count))
        }
        let (quiet, silent) = (rounds.compactMap(\.quiet), rounds.compactMap(\.silent))
        let (receipt, bounds) = (rounds.compactMap(\.receipt), rounds.compactMap(\.bound))
        add("first sound to quiet, ms", quiet)
        add("first sound to silent, ms", silent)
        add("given up to the agent's knowing how far it was heard, ms", receipt)
        add("the bound that it tells, ms", bounds)
        return BenchmarkResult(
            description: """
                Two engines in real time on simulated devices of this machine's clock, and a room server with DTLS-SRTP on loopback; a person in an office \
                speaks for 2.5 s into an agent's story, seeds \(seeds.lowerBound) to \(seeds.upperBound). "Quiet": until the loudspeaker is 6 dB below the \
                story, by 10 ms. "Silent": until its last sound. \(rounds.count { $0.isInterrupted }) of \(rounds.count) stories were given up.
                """,
            table: table,
            summary: [
                ("barge_in_duck_ms", .number(TurnsTally.median(quiet), digits: 0)),
                ("barge_in_silent_ms", .number(TurnsTally.median(silent), digits: 0)),
                ("receipt_ms", .number(TurnsTally.median(receipt), digits: 0)),
                ("missed_ratio", .number(Double(rounds.count { !$0.isInterrupted }) / Double(rounds.count), digits: 3)),
            ])
    }

    private final class Outcome<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, any Error>?>(nil)
    }

    private static func waiting<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        let (outcome, done) = (Outcome<Value>(), DispatchSemaphore(value: 0))
        Task {
            let result: Result<Value, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            outcome.result.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        guard let result = outcome.result.withLock(\.self) else { throw CancellationError() }
        return try result.get()
    }
}

/// A protected room on loopback.
private final class SecureRoom: Sendable {
    private let server: RoomServer
    private let key: TokenKey
    private let url: String

    init(folder: String) throws {
        key = try TokenKey(name: "bench", secret: (0..<32).map { _ in UInt8.random(in: 0...255) })
        let configuration = RoomServerConfiguration(
            security: .protected(.kept(directory: folder, names: ["localhost"])),
            threadPriority: EngineConfiguration().networkPriority)
        server = RoomServer(configuration: configuration, verifier: TokenVerifier(keys: [key]))
        let port = try server.start()
        url = RoomEndpoint.url(host: "127.0.0.1", port: port, fingerprint: server.fingerprint)
    }

    func stop() { server.stop() }

    func endpoint(for identity: String, in room: String) throws -> RoomEndpoint {
        let now = Int64(Date().timeIntervalSince1970)
        let token = try TokenIssuer(key: key).token(
            for: TokenGrants(identity: identity, room: room), notBefore: now, expires: now + 600)
        return try RoomEndpoint(url: url, token: token)
    }
}

/// One story, spoken into once. Times in milliseconds.
private struct SecureRound: Sendable {
    /// From the person's first sound; nil where it did not become quieter.
    private(set) var quiet: Double?
    private(set) var silent: Double?
    /// From the interruption's confirmation to the agent's being told how far it was heard.
    private(set) var receipt: Double?
    /// By how much that may be wrong, as it says.
    private(set) var bound: Double?
    private(set) var isInterrupted = false

    private static let onset = 6.0
    private static let length = 9.0
    /// The story begins so long after its device; by then both are in the room.
    private static let begin = 2.0

    private final class Seen: Sendable {
        let events = Mutex<[(event: EngineEvent, time: ContinuousClock.Instant)]>([])
        func follow(_ engine: VoiceEngine) -> Task<Void, Never> {
            let stream = engine.events
            return Task { for await event in stream { events.withLock { $0.append((event, .now)) } } }
        }
    }

    init(seed: UInt64, room: SecureRoom) async throws {
        func silence(_ seconds: Double) -> [Float] { Array(repeating: 0, count: Int(seconds * 48_000)) }
        let story = Story.story(seed: seed)
        let person = silence(Self.onset) + NearSound.speech.samples(seed: seed &* 31 &+ 1, level: Story.level)
        let name = "story \(seed)"
        let talking = try Self.device(silence(Self.begin) + story, in: RoomConditions(), seed: seed)
        let listening = try Self.device(person, in: .office, seed: seed &+ 1)
        let (agent, listener) = (Self.engine(talking), Self.engine(listening))
        let (told, heard) = (Seen(), Seen())
        let following = [told.follow(agent), heard.follow(listener)]
        _ = try await agent.start()
        try await agent.join(
            try room.endpoint(for: "agent", in: name),
            configuration: RoomClientConfiguration(interruptibleBy: .anyone))
        try await agent.beginUtterance(1)
        _ = try await listener.start()
        let others = try await listener.join(try room.endpoint(for: "listener", in: name))
        guard let other = others.first else { throw SecureFailure("the agent is not in the room") }
        try await listener.setBargeIn(.staged(), for: other.id)
        try await Task.sleep(for: .seconds(Self.length))
        await listener.stop()
        await agent.stop()
        following.forEach { $0.cancel() }
        measure(
            story: story, recording: listening.withAir { $0.recording }, told: told.events.withLock(\.self),
            heard: heard.events.withLock(\.self))
    }

    private static func device(
        _ talker: [Float], in room: RoomConditions, seed: UInt64
    ) throws -> SimulatedDevice<ConversationAir> {
        var random = SeededGenerator(seed: seed)
        let air = ConversationAir(
            acoustics: try RoomAcoustics(room, seed: random.next()),
            talker: SpeechSource(talker, repetition: .once), longestRecording: Int((Self.length + 4) * 48_000))
        return try SimulatedDevice(
            air: air, configuration: SimulatedDeviceConfiguration(pacing: .realTime(priority: 71)))
    }

    private static func engine(_ device: SimulatedDevice<ConversationAir>) -> VoiceEngine {
        var configuration = EngineConfiguration.voiceAgent
        configuration.device = .custom(device)
        return VoiceEngine(configuration)
    }

    private mutating func measure(
        story: [Float], recording: AirRecording, told: [(event: EngineEvent, time: ContinuousClock.Instant)],
        heard: [(event: EngineEvent, time: ContinuousClock.Instant)]
    ) {
        let speaker = recording.speaker
        guard let spoken = recording.near.firstIndex(where: { abs($0) > Story.audible }) else { return }
        let changes = heard.compactMap { told -> (stage: BargeInStage, time: ContinuousClock.Instant)? in
            if case .bargeIn(_, let change) = told.event { (change.stage, told.time) } else { nil }
        }
        let confirmed = changes.first { $0.stage == .confirmed }
        isInterrupted = confirmed != nil
        guard let confirmed, let last = speaker.lastIndex(where: { abs($0) > Story.audible }) else { return }
        silent = Double(last - spoken) / 48
        // Where the story is in the loudspeaker's sound, and how loud: by the envelopes of the 2 s before anybody spoke
        let (shown, meant) = (Envelope(speaker), Envelope(story))
        if let place = shown.place(of: meant, before: spoken / Envelope.frames) {
            quiet = (spoken / Envelope.frames..<shown.levels.count - 10).first { index in
                let wanted = place.gain * meant.power(index - place.lag, 10)
                return wanted > 1e-4 && shown.power(index, 10) < 0.25 * wanted
            }.map { Double($0 + 10 - spoken / Envelope.frames) }
        }
        let final = told.compactMap { told -> (heard: HeardUtterance, time: ContinuousClock.Instant)? in
            if case .heard(let heard, _) = told.event, heard.isFinal { (heard, told.time) } else { nil }
        }.first
        guard let final else { return }
        receipt = (final.time - confirmed.time) / .milliseconds(1)
        bound = final.heard.bound / .milliseconds(1)
    }
}

/// Powers of each millisecond.
private struct Envelope {
    static let frames = 48
    let levels: [Float]

    init(_ samples: [Float]) {
        levels = stride(from: 0, to: samples.count - Self.frames, by: Self.frames).map { start in
            samples[start..<start + Self.frames].reduce(0) { $0 + $1 * $1 } / Float(Self.frames)
        }
    }

    func power(_ start: Int, _ count: Int) -> Float {
        guard start >= 0, start + count <= levels.count else { return 0 }
        return levels[start..<start + count].reduce(0, +) / Float(count)
    }

    /// By how many ms `other` lies later here, and how many times its power it has, by the 2 s before `end`; nil where
    /// nothing matches.
    ///
    /// On the way it was coded, levelled and freed of noise, and what was lost was made up: the envelopes of 10 ms are
    /// compared, and the best of all lags is taken, as long as most of it agrees.
    func place(of other: Envelope, before end: Int) -> (lag: Int, gain: Float)? {
        let (length, window) = (2_000, 10)
        guard end >= length, end <= levels.count else { return nil }
        let mine = (end - length..<end).map { power($0, window).squareRoot() }
        let all = other.levels.indices.map { other.power($0, window).squareRoot() }
        func likeness(_ lag: Int) -> Float {
            guard end - length - lag >= 0, end - lag <= all.count else { return 0 }
            let theirs = Array(all[end - length - lag..<end - lag])
            let (a, b) = (mine.reduce(0, +) / Float(length), theirs.reduce(0, +) / Float(length))
            var (both, first, second): (Float, Float, Float) = (0, 1e-9, 1e-9)
            for index in 0..<length {
                both += (mine[index] - a) * (theirs[index] - b)
                first += (mine[index] - a) * (mine[index] - a)
                second += (theirs[index] - b) * (theirs[index] - b)
            }
            return both / (first * second).squareRoot()
        }
        guard let best = (0..<end - length).max(by: { likeness($0) < likeness($1) }), likeness(best) > 0.7 else {
            return nil
        }
        let (heard, told) = (power(end - length, length), other.power(end - length - best, length))
        return told > 0 ? (best, heard / told) : nil
    }
}
