import Testing
import VoiceDialog
import VoicePartner

@testable import RealtimePartner

/// Servers refuse a request whole where a call has no outcome directly behind it, or an outcome no call before it.
@Suite("What a server of chat completions is told of functions")
struct ChatRequestTests {
    private static func call(_ number: Int) -> ResponderCall {
        ResponderCall(id: "call_\(number)", name: "weather", arguments: "{}")
    }

    private static func messages(_ lines: [Dialogue.Line]) -> [ChatRequest.Message] {
        var dialogue = Dialogue()
        for line in lines { dialogue.append(line) }
        return ChatRequest(dialogue, model: "m", instructions: "").messages
    }

    /// Whether each call has its outcome directly behind it, and each outcome its call before it.
    private static func arePaired(_ messages: [ChatRequest.Message]) -> Bool {
        var open: [String] = []
        for message in messages {
            if message.role == .tool {
                guard let index = open.firstIndex(where: { $0 == message.callID }) else { return false }
                open.remove(at: index)
            } else {
                guard open.isEmpty else { return false }
                open = message.calls.map(\.id)
            }
        }
        return open.isEmpty
    }

    @Test("each call has its outcome behind it, also one of which nothing is known yet")
    func pairs() {
        let messages = Self.messages([
            .talker("and in Ulm?"), .call(Self.call(1), outcome: "rain"), .call(Self.call(2), outcome: nil),
            .talker("hurry up"),
        ])
        #expect(Self.arePaired(messages))
        #expect(messages.map(\.role) == [.user, .assistant, .tool, .assistant, .tool, .user])
        #expect(messages[2].text == "rain" && !messages[4].text.isEmpty)
    }

    @Test("a long dialogue loses calls with their outcomes", arguments: 0..<2)
    func trimmed(offset: Int) {
        var lines: [Dialogue.Line] = []
        for number in 0..<Dialogue.capacity { lines += [.call(Self.call(number), outcome: "rain"), .talker("and?")] }
        lines += [Dialogue.Line](repeating: .talker("and?"), count: offset)
        #expect(Self.arePaired(Self.messages(lines)))
    }
}
