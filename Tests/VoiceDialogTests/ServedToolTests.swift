import Testing

@testable import VoiceDialog

@Suite("Functions and generations of a served Realtime session")
struct ServedToolTests {
    private static let weather: JSON = [
        "type": "function", "name": "weather", "description": "Tells the weather.",
        "parameters": ["type": "object", "properties": ["town": ["type": "string"]]],
    ]

    private func talk() throws -> ServedTalk {
        var talk = try ServedTalk()
        try talk.request(["type": "session.update", "session": ["type": "realtime", "tools": [Self.weather]]])
        #expect(try talk.takeMessages().last?["session"]?["tools"] == [Self.weather])
        return talk
    }

    private func offered(_ talk: inout ServedTalk) throws -> (tools: [String], lines: [ServedLine]) {
        for case .respond(_, let lines, _, let tools) in try talk.takeOrders() { return (tools.map(\.name), lines) }
        return ([], [])
    }

    @Test("a function is called in the protocol's order, and its outcome reaches the next answer")
    func call() throws {
        // Given a client that offers a function, and a question
        var talk = try talk()
        try talk.say("what is the weather")
        let first = try talk.ask()
        #expect(try offered(&talk).tools == ["weather"])
        _ = try talk.takeMessages()
        // When the answer calls it
        let call = DialogToolCall(id: "call_1", name: "weather", arguments: "{\"town\":\"Ulm\"}")
        let isCalled = talk.session.called(first, call)
        #expect(isCalled)
        talk.session.responseEnded(first, nil)
        let messages = try talk.takeMessages()
        #expect(
            messages.compactMap { $0["type"]?.string } == [
                "response.output_item.added", "conversation.item.added", "response.function_call_arguments.delta",
                "response.function_call_arguments.done", "response.output_item.done", "conversation.item.done",
                "response.done",
            ])
        let output = messages.last?["response"]?["output"]?.array
        #expect(output?.count == 1 && output?.first?["type"] == "function_call")
        #expect(output?.first?["arguments"] == .string(call.arguments))
        // And the client tells what came of it, and asks on
        try talk.request([
            "type": "conversation.item.create",
            "item": ["type": "function_call_output", "call_id": "call_1", "output": "rain"],
        ])
        let second = try talk.ask()
        #expect(second != first)
        #expect(
            try offered(&talk).lines == [.user("what is the weather"), .call(call, output: "rain")])
    }

    @Test("a call stands with its outcome, whatever is said, forgotten or deleted in between")
    func pairs() throws {
        // Given two calls, of which one has come to something after the talker went on
        var talk = try talk()
        try talk.say("what is the weather")
        let first = try talk.ask()
        let calls = ["call_1", "call_2"].map { DialogToolCall(id: $0, name: "weather", arguments: "{}") }
        for call in calls {
            let isCalled = talk.session.called(first, call)
            #expect(isCalled)
        }
        talk.session.responseEnded(first, nil)
        let items = try talk.takeMessages().last?["response"]?["output"]?.array ?? []
        _ = try talk.takeOrders()
        try talk.say("hurry up")
        func tell(_ output: String, of call: String) throws {
            try talk.request([
                "type": "conversation.item.create",
                "item": ["type": "function_call_output", "call_id": .string(call), "output": .string(output)],
            ])
        }
        try tell("rain", of: "call_1")
        try tell("snow", of: "call_3")
        // When the next answer is asked for, then the call stands where its outcome came, and the other has none
        _ = try talk.ask()
        #expect(
            try offered(&talk).lines == [
                .user("what is the weather"), .call(calls[1], output: nil), .user("hurry up"),
                .call(calls[0], output: "rain"),
            ])
        // When a call is deleted, then its outcome is told no more
        try talk.request(["type": "response.cancel"])
        try talk.request(["type": "conversation.item.delete", "item_id": items[0]["id"] ?? .null])
        _ = try talk.ask()
        #expect(
            try offered(&talk).lines == [
                .user("what is the weather"), .call(calls[1], output: nil), .user("hurry up"),
            ])
    }

    @Test("what is no function of the client's is not called, nor in an answer that is over, nor more than eight")
    func refusals() throws {
        var talk = try talk()
        try talk.say("hello")
        let response = try talk.ask()
        func call(_ name: String, _ arguments: String = "{}") -> Bool {
            talk.session.called(response, DialogToolCall(id: "c", name: name, arguments: arguments))
        }
        #expect(!call("rockets"))
        #expect(!call("weather", String(repeating: " ", count: ClientRequest.maximumText + 1)))
        for _ in 0..<ServedResponse.maximumCalls { #expect(call("weather")) }
        #expect(!call("weather"))
        try talk.request(["type": "response.cancel"])
        #expect(!call("weather"))
    }

    @Test("functions are bounded, and are not offered where the client does not want them")
    func bounds() throws {
        var talk = try ServedTalk()
        let many = JSON.array(
            (0...DialogTool.maximumTools).map { ["type": "function", "name": .string("f\($0)")] })
        let large: JSON = [
            "type": "function", "name": "f",
            "parameters": ["x": .string(String(repeating: "x", count: DialogTool.maximumParameters))],
        ]
        let twice: JSON = [["type": "function", "name": "f"], ["type": "function", "name": "f"]]
        for tools in [many, [large], twice, [["type": "magic", "name": "f"]], "none"] as [JSON] {
            try talk.request(["type": "session.update", "session": ["type": "realtime", "tools": tools]])
            #expect(try talk.takeErrors() == ["invalid_value"])
        }
        try talk.request([
            "type": "session.update",
            "session": ["type": "realtime", "tools": [Self.weather], "tool_choice": "none"],
        ])
        try talk.say("hello")
        _ = try talk.ask()
        #expect(try offered(&talk).tools.isEmpty)
    }

    @Test("a client of the older generation is told by its names and shapes")
    func beta() throws {
        // Given a client that updates its session in the older shapes
        var talk = try ServedTalk()
        try talk.request([
            "type": "session.update",
            "session": [
                "modalities": ["audio", "text"], "input_audio_format": "pcm16", "output_audio_format": "g711_ulaw",
                "turn_detection": .null, "input_audio_transcription": ["model": "any"], "tools": [Self.weather],
            ],
        ])
        let updated = try talk.takeMessages().last
        #expect(updated?["type"] == "session.updated")
        #expect(updated?["session"]?["output_audio_format"] == "g711_ulaw")
        #expect(updated?["session"]?["turn_detection"] == nil)
        // When it asks, in speech and in text
        try talk.say("hello")
        let spoken = try talk.ask()
        #expect(try talk.speak("Hello.", .milliseconds(100), of: spoken))
        talk.session.responseEnded(spoken, nil)
        let messages = try talk.takeMessages()
        let types = messages.compactMap { $0["type"]?.string }
        for type in [
            "conversation.item.created", "response.audio.delta", "response.audio_transcript.delta",
            "response.audio.done", "response.audio_transcript.done",
        ] { #expect(types.contains(type), "\(type) in \(types)") }
        #expect(!types.contains { $0.contains("output_audio") || $0 == "conversation.item.added" })
        let done = messages.last { $0["type"] == "response.done" }
        #expect(done?["response"]?["modalities"] == ["audio", "text"])
        #expect(done?["response"]?["output"]?.array?.first?["content"]?.array?.first?["type"] == "audio")
        let text = try talk.ask(["modalities": ["text"]])
        let isSaid = talk.session.responded(text, "Hello.")
        #expect(isSaid)
        talk.session.responseEnded(text, nil)
        #expect(try talk.takeTypes().contains("response.text.delta"))
        // And what is no format of that generation's is refused
        try talk.request(["type": "session.update", "session": ["input_audio_format": "mp3"]])
        #expect(try talk.takeErrors() == ["invalid_value"])
    }
}
