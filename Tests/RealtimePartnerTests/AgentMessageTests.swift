import RealtimePartner
import Testing

@Suite("What an app asks of an agent in a room")
struct AgentMessageTests {
    @Test(
        "is read as it was written",
        arguments: [.say("Hëllo \"there\""), .ask("what?"), .update(["user": "Ada", "page": ""]), .cancel]
            as [AgentMessage])
    func roundTrip(message: AgentMessage) {
        #expect(AgentMessage(message.bytes) == message)
    }

    @Test("is nothing where it is another message, or too long")
    func others() {
        for text in [
            "", "hello", "{}", "[1]", "{\"agent\":\"say\"}", "{\"agent\":\"fly\",\"text\":\"x\"}",
            "{\"agent\":\"update\",\"parameters\":{\"a\":1}}", "{\"agent\":\"update\"}",
        ] { #expect(AgentMessage(Array(text.utf8)) == nil, "\(text)") }
        #expect(AgentMessage.say(String(repeating: "x", count: 1_024)).bytes.isEmpty)
        #expect(AgentMessage([UInt8](repeating: 0x20, count: 2_000)) == nil)
    }
}
