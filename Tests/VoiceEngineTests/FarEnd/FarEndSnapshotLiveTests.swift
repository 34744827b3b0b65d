import Testing
import VoiceDevices

@testable import VoiceEngine

@Suite("A snapshot shows what is open in this process", .timeLimit(.minutes(1)))
struct FarEndSnapshotLiveTests {
    @Test("far ends in the order of their opening, and a conversation, until they are closed")
    func shown() async throws {
        // Given an engine that runs
        var configuration = EngineConfiguration.voiceAgent
        configuration.device = .custom(ClientDevice())
        configuration.mediaPriority = 0
        let engine = VoiceEngine(configuration)
        #expect(await engine.snapshot.farEnds.isEmpty)
        try await engine.start()
        // When a far end is opened, and a conversation begun
        let first = try await engine.openFarEnd()
        #expect(await engine.snapshot.farEnds == [first.id])
        #expect(await !engine.snapshot.isConversing)
        let conversation = try await engine.converse()
        // Then the snapshot has both
        let snapshot = await engine.snapshot
        #expect(snapshot.farEnds == [first.id, conversation.farEnd.id])
        #expect(snapshot.isConversing)
        // And once they are closed neither
        first.close()
        conversation.close()
        #expect(try await eventually { await engine.snapshot.farEnds.isEmpty })
        #expect(await !engine.snapshot.isConversing)
        await engine.stop()
    }
}
