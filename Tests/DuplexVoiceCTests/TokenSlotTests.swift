import CDuplexVoice
import Testing

@testable import DuplexVoiceC

@Suite("The tokens that a program of C's gives")
struct TokenSlotTests {
    @Test("each is handed out once, and a room that was not entered takes none of them")
    func order() async throws {
        let slot = TokenSlot()
        try slot.give("of the room before")
        let entered = try slot.provider(first: "first", asking: EventQueue())
        // Given a second room, which is refused before it asks
        _ = try slot.provider(first: "of another room", asking: EventQueue())
        var tokens = [try await entered()]
        try slot.give("second")
        tokens.append(try await entered())
        #expect(tokens == ["first", "second"])
        #expect(throws: Failure.self) {
            _ = try slot.provider(first: String(repeating: "x", count: 1 << 20), asking: EventQueue())
        }
    }
}
