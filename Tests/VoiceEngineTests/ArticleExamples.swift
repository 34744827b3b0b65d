// The code of the articles in docs, word for word; ArticleTests compares the two.

import VoiceEngine
import VoiceRooms
import VoiceTransport

// docs/embedding.md

func call(url: String, token: String) async {
    let engine = VoiceEngine(.voiceChat)
    let events = engine.events
    do {
        let formats = try await engine.start()
        print("the microphone has \(formats.capture?.active.sampleRate ?? 0) Hz")
        let others = try await engine.join(RoomEndpoint(url: url, token: token))
        print("\(others.count) others are here")
    } catch {
        print(PlainText.escaped("\(error)"))
        return await engine.stop()
    }
    listening: for await event in events {
        switch event {
        case .participantJoined(let participant): print("\(PlainText.escaped(participant.identity)) came in")
        case .left: break listening
        case .deviceLost(let loss): print(PlainText.escaped("\(loss.name) is gone: \(loss.reason)"))
        case .eventsDropped: print(await engine.snapshot.others.count, "others are here")
        default: break
        }
    }
    await engine.stop()
}

// docs/embedding.md

/// Called from the program's own audio callback, 48 kHz mono. Takes no lock and allocates nothing.
func exchange(_ device: ClientDevice, microphone: Span<Float>, loudspeaker: inout MutableSpan<Float>) {
    device.sendAudioData(microphone)
    device.pullPlayback(into: &loudspeaker)
}

// docs/turns.md

func converse(on engine: VoiceEngine, answer: @escaping (Turn) async -> [Float]) async throws {
    let conversation = try await engine.converse(.duplex(Duplex(endOfTurn: .milliseconds(600))))
    for await event in conversation.events {
        switch event {
        case .turnEnded(let turn):
            guard let spoken = try? conversation.answer(turn.id) else { continue }
            await spoken.play(await answer(turn), rate: .hertz24000)
            await spoken.finish()
        case .answerEnded(_, let heard):
            print("\(heard.heard) of it were heard: \(heard.reason)")
        default: break
        }
    }
}

// docs/tuning-latency.md

/// From the talker's microphone to the listener's loudspeaker; nil where a stage is not known yet.
func mouthToEar(from talker: VoiceEngine, to listener: VoiceEngine) async throws -> Duration? {
    let budget = try await LatencyBudget(
        from: talker.statistics(), to: listener.statistics(), network: .milliseconds(8))
    for stage in LatencyBudget.Stage.allCases {
        if let time = budget[stage] { print(stage, time) }
    }
    return budget.total
}

// docs/tuning-latency.md

/// A headset on a card that is known to keep up with periods of 2.5 ms.
func rehearsal() -> EngineConfiguration {
    var configuration = EngineConfiguration.lowDelay
    var card = ALSADeviceConfiguration.lowDelay
    card.captureName = "hw:CARD=Headset,DEV=0"
    card.playbackName = "hw:CARD=Headset,DEV=0"
    configuration.device = .alsa(card)
    configuration.encoder.frameDuration = .milliseconds5
    return configuration
}

// docs/architecture.md

/// Says `greeting` in the mix, and returns the first second of what the near end says meanwhile.
func greet(on engine: VoiceEngine, with greeting: [Float]) async throws -> [Float] {
    let farEnd = try await engine.openFarEnd()
    await farEnd.play(greeting, rate: .hertz24000, utterance: 1)
    var heard: [Float] = []
    for await frame in farEnd.nearEnd() {
        heard += frame.samples
        if heard.count >= 16_000 { break }
    }
    return heard
}

// docs/architecture.md

/// Keeps `show` up to date, however slow it is.
func follow(_ engine: VoiceEngine, show: (EngineSnapshot) async -> Void) async {
    for await event in engine.events {
        switch event {
        case .participantJoined, .participantLeft, .routeChanged, .eventsDropped: await show(engine.snapshot)
        default: break
        }
    }
}

// docs/architecture.md

/// An echo stage that mutes the microphone while the far end is heard.
final class Gate: EchoStage {
    let traits = EchoTraits(library: "gate")
    let delay = 0

    func apply(_ settings: ProcessingSettings) -> Int? { nil }

    func run(capture: inout MutableSpan<Float>, reference: Span<Float>, delay: Int, report: inout ProcessingReport) {
        for index in reference.indices where abs(reference[index]) > 0.01 { report.mayContainEcho = true }
        guard report.mayContainEcho == true else { return }
        for index in capture.indices { capture[index] = 0 }
    }
}

let gated = EngineConfiguration(backend: .custom("gate") { _, _ in Gate() })

// docs/architecture.md

/// An engine on a device of the client's own.
func engine(on device: any AudioDevice) -> VoiceEngine {
    VoiceEngine(EngineConfiguration(device: .custom(device)))
}

/// Goes over to a headset, by the name that `duplex devices` prints; the call goes on.
func putOnHeadset(_ engine: VoiceEngine) async throws -> String? {
    try await engine.selectDevices(capture: "hw:CARD=Headset", playback: "hw:CARD=Headset").playback?.name
}

// docs/running-a-room.md

/// Serves rooms of up to 100 people until the task is cancelled; tokens are made with the same secret.
func serveRooms(host: String, secret: [UInt8], state: String) async throws {
    let configuration = RoomServerConfiguration(
        host: "::", port: RoomEndpoint.defaultPort, security: .protected(.kept(directory: state, names: [host])),
        directory: RoomDirectoryConfiguration(roomCapacity: 100))
    let key = try TokenKey(name: "duplex", secret: secret)
    let server = RoomServer(configuration: configuration, verifier: TokenVerifier(keys: [key]))
    let port = try server.start()
    print("rooms on \(RoomEndpoint.url(host: host, port: port, fingerprint: server.fingerprint))")
    for await event in server.events {
        if case .joined = event { print("\(server.statistics.participants) are here") }
    }
    server.stop()
}
