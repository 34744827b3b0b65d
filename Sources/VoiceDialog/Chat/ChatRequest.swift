/// What is asked of a server of chat completions.
package struct ChatRequest: Equatable, Sendable {
    package struct Message: Equatable, Sendable {
        package enum Role: String, Sendable { case system, user, assistant, tool }
        package var role: Role
        package var text: String
        /// Functions that the assistant has called.
        package var calls: [DialogToolCall] = []
        /// The call of which a tool tells the outcome.
        package var callID: String?

        package init(_ role: Role, _ text: String, calls: [DialogToolCall] = [], callID: String? = nil) {
            self.role = role
            self.text = text
            self.calls = calls
            self.callID = callID
        }

        fileprivate var json: JSON {
            var members: [String: JSON] = ["role": .string(role.rawValue), "content": .string(text)]
            if let callID { members["tool_call_id"] = .string(callID) }
            if !calls.isEmpty {
                members["tool_calls"] = .array(
                    calls.map { call in
                        [
                            "id": .string(call.id), "type": "function",
                            "function": ["name": .string(call.name), "arguments": .string(call.arguments)],
                        ]
                    })
            }
            return .object(members)
        }
    }

    package var model: String
    package var messages: [Message]
    package var tools: [DialogTool]

    package init(model: String, messages: [Message], tools: [DialogTool] = []) {
        self.model = model
        self.messages = messages
        self.tools = tools
    }

    /// The body of the request: an answer that is streamed.
    package var encoded: [UInt8] {
        var members: [String: JSON] = [
            "model": .string(model), "stream": true, "messages": .array(messages.map(\.json)),
        ]
        if !tools.isEmpty {
            members["tools"] = .array(
                tools.map { tool in
                    [
                        "type": "function",
                        "function": [
                            "name": .string(tool.name), "description": .string(tool.description),
                            "parameters": tool.parameters,
                        ],
                    ]
                })
        }
        return JSON.object(members).encoded
    }
}
