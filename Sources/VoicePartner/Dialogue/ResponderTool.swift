/// A function of whoever asks for an answer, which a responder may have called.
public struct ResponderTool: Equatable, Sendable {
    /// 1 to 64 bytes.
    public var name: String
    /// What it does, for a model.
    public var description: String
    /// JSON Schema of its arguments.
    public var parameters: String

    /// This function.
    public init(name: String, description: String, parameters: String) {
        self.name = name
        self.description = description
        self.parameters = parameters
    }
}

/// A function is to be called.
public struct ResponderCall: Equatable, Sendable {
    /// Under which the outcome is told.
    public var id: String
    /// Of the function.
    public var name: String
    /// JSON, as a model wrote it: it may be malformed.
    public var arguments: String

    /// This call.
    public init(id: String, name: String, arguments: String) {
        self.id = id
        self.name = name
        self.arguments = arguments
    }
}
