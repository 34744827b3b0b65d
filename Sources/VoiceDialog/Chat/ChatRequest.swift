/// What is asked of a server of chat completions.
package struct ChatRequest: Equatable, Sendable {
    package struct Message: Equatable, Sendable {
        package enum Role: String, Sendable { case system, user, assistant }
        package var role: Role
        package var text: String

        package init(_ role: Role, _ text: String) {
            self.role = role
            self.text = text
        }
    }

    package var model: String
    package var messages: [Message]

    package init(model: String, messages: [Message]) {
        self.model = model
        self.messages = messages
    }

    /// The body of the request: an answer that is streamed.
    package var encoded: [UInt8] {
        let messages = messages.map { message -> JSON in
            ["role": .string(message.role.rawValue), "content": .string(message.text)]
        }
        return JSON.object(["model": .string(model), "stream": true, "messages": .array(messages)]).encoded
    }
}
