import Synchronization
import Testing

@testable import VoicePartner

@Suite("Functions of the dialogue core")
struct DialogueToolTests {
    @Test("it calls the one that it is told to use, and says what came of it")
    func use() async throws {
        let tool = ResponderTool(name: "door_state", description: "", parameters: "{}")
        let said = Mutex<[String]>([])
        let calls = Mutex<[ResponderCall]>([])
        func respond(_ dialogue: Dialogue) async throws {
            try await DialogueCore().respond(to: dialogue, tools: [tool]) { piece in
                said.withLock { $0.append(piece) }
                return true
            } call: { call in
                calls.withLock { $0.append(call) }
                return true
            }
        }
        var dialogue = Dialogue()
        dialogue.append(.talker("Use door state"))
        try await respond(dialogue)
        let call = try #require(calls.withLock { $0 }.first)
        #expect(call.name == "door_state" && said.withLock { $0 }.isEmpty)
        dialogue.append(.call(call, outcome: "open"))
        try await respond(dialogue)
        #expect(said.withLock { $0 } == ["The answer is: open."])
    }
}
