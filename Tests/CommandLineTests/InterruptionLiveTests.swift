import SimulatedCalls
import Testing
import VoiceEngine
import VoiceSimulation

@Suite("Who may interrupt a call is what its caller said", .timeLimit(.minutes(3)))
struct InterruptionLiveTests {
    /// An engine in software that asks nothing of the machine, before which nobody talks.
    private func silentEngine() throws -> VoiceEngine {
        let air = ConversationAir(
            acoustics: try RoomAcoustics(RoomConditions(), seed: 1), talker: SpeechSource([], repetition: .once),
            longestRecording: 0)
        let card = try SimulatedDevice(
            air: air, configuration: SimulatedDeviceConfiguration(pacing: .realTime(priority: 0)))
        return VoiceEngine(
            EngineConfiguration(
                device: .custom(card), backend: .bypass, processing: .bypass, mediaPriority: 0, networkPriority: 0,
                playoutMargin: .fixed(.milliseconds(20))))
    }

    @Test("anyone in the room, or nobody else", arguments: [true, false])
    func policy(isAnyone: Bool) async throws {
        // Given a call whose caller speaks
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        try folder.speak("in.wav", seconds: 60, seed: 1)
        let arguments = server.call(token: try server.token("agent"), "--input", folder("in.wav"))
        var call = try ChildProcess(arguments + (isAnyone ? ["--interruptible-by", "anyone"] : []))
        _ = try call.event("speech_started")
        // When another in the room interrupts
        let engine = try silentEngine()
        try await engine.start()
        let events = engine.events
        let room = try RoomEndpoint(url: server.url, token: try server.token("ben"))
        let agent = try #require(try await engine.join(room).first)
        try await engine.interrupt(agent.id)
        // Then the caller is told, or the room refuses
        if isAnyone {
            #expect(try call.event("interrupted")["is_own"] as? Bool == true)
        } else {
            var refusal: RoomRefusal?
            for await case .requestRefused(_, let reason) in events {
                refusal = reason
                break
            }
            #expect(refusal == .noInterruptionRight)
        }
        await engine.stop()
        call.interrupt()
        let result = call.wait()
        #expect(result.exitCode == 0, "\(result.standardError)")
        _ = server.stop()
    }
}
