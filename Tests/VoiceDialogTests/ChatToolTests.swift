import Testing

@testable import VoiceDialog

@Suite("Functions in chat completions")
struct ChatToolTests {
    private static let call = DialogToolCall(id: "call_9", name: "weather", arguments: "{\"town\":\"Ulm\"}")

    private static func event(_ json: JSON) -> [UInt8] {
        Array("data: ".utf8) + json.encoded + Array("\n\n".utf8)
    }

    private static func delta(_ calls: JSON) -> [UInt8] { event(["choices": [["delta": ["tool_calls": calls]]]]) }

    @Test("a call that comes in pieces is whole at the end")
    func pieces() throws {
        var answer = ChatAnswer(status: 200, hasKey: true)
        for piece in [
            Self.delta([["index": 0, "id": "call_9", "function": ["name": "weather", "arguments": ""]]]),
            Self.delta([["index": 0, "function": ["arguments": "{\"town\":"]]]),
            Self.delta([["index": 0, "function": ["arguments": "\"Ulm\"}"]]]), Array("data: [DONE]\n\n".utf8),
        ] { #expect(try answer.take(piece) == "") }
        #expect(answer.isComplete && answer.toolCalls == [Self.call])
    }

    @Test("a whole answer may be a call alone")
    func whole() throws {
        var answer = ChatAnswer(status: 200, hasKey: true)
        let body: JSON = [
            "choices": [
                [
                    "message": [
                        "content": .null,
                        "tool_calls": [
                            ["id": "call_9", "function": ["name": "weather", "arguments": "{\"town\":\"Ulm\"}"]]
                        ],
                    ]
                ]
            ]
        ]
        _ = try answer.take(body.encoded)
        #expect(try answer.finish(isWhole: true) == "")
        #expect(answer.toolCalls == [Self.call])
    }

    @Test("calls are bounded in number and size")
    func bounds() throws {
        let long = JSON.string(String(repeating: "x", count: 9 << 10))
        for pieces in [
            [Self.delta([["index": 8, "function": ["name": "f"]]])],
            [Self.delta([["index": -1, "function": ["name": "f"]]])],
            [JSON](repeating: [["index": 0, "function": ["arguments": long]]], count: 2).map(Self.delta),
        ] {
            var answer = ChatAnswer(status: 200, hasKey: true)
            #expect(throws: DialogError.self) { for piece in pieces { _ = try answer.take(piece) } }
        }
    }

    @Test("a request tells functions, their calls and what came of them")
    func request() throws {
        let tool = DialogTool(name: "weather", description: "Tells it.", parameters: ["type": "object"])
        let request = ChatRequest(
            model: "m",
            messages: [
                ChatRequest.Message(.assistant, "", calls: [Self.call]),
                ChatRequest.Message(.tool, "rain", callID: "call_9"),
            ], tools: [tool])
        let json = try JSON(parsing: request.encoded)
        #expect(json["tools"]?.array?.first?["function"]?["name"] == "weather")
        let messages = json["messages"]?.array
        #expect(messages?.first?["tool_calls"]?.array?.first?["function"]?["arguments"] == .string(Self.call.arguments))
        #expect(messages?.last?["role"] == "tool" && messages?.last?["tool_call_id"] == "call_9")
    }
}
