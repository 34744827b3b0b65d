/// What a Realtime server sends, of both generations of names; what the client has no use for is `other`.
package enum ServerEvent: Equatable, Sendable {
    case sessionCreated
    case sessionUpdated
    case speechStarted
    case speechStopped
    /// The talker's sound so far is an item of this name.
    case committed(item: String)
    /// What the talker said, in this item where that is told.
    case transcript(String, item: String?)
    case responseCreated(String, tag: String?)
    case responseDone(String, ResponseOutcome)
    /// An item of an answer begins.
    case itemAdded(response: String, item: String, isMessage: Bool)
    /// An item of an answer is a function call, and is whole.
    case toolCall(response: String, DialogToolCall)
    case sound(ContentPlace, base64: String)
    /// The text of what is spoken.
    case caption(response: String, String)
    /// An answer in text.
    case text(response: String, String)
    case rateLimits([RateLimit])
    case error(ServerFault)
    case other
}

/// Where in an answer sound belongs.
package struct ContentPlace: Hashable, Sendable {
    package var response: String
    package var item: String
    package var contentIndex: Int

    package init(response: String, item: String, contentIndex: Int) {
        self.response = response
        self.item = item
        self.contentIndex = contentIndex
    }
}

/// How an answer ended on the server.
package enum ResponseOutcome: Equatable, Sendable {
    case completed
    /// By the client or by speech.
    case cancelled
    /// The limit of its length, or a filter.
    case incomplete(String)
    case failed(ServerFault)
}

/// An error, as the server tells it.
package struct ServerFault: Equatable, Sendable {
    package var type: String
    package var code: String
    package var message: String
    /// The client's event that it is about.
    package var event: String?
}

/// How much the server lets its client do.
package struct RateLimit: Equatable, Sendable {
    package var name: String
    package var limit: Int
    package var remaining: Int
    /// When it is whole again, from now.
    package var reset: Duration
}

/// A message that is none of the protocol's.
package struct MalformedEvent: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong with it.
    package var description: String

    init(_ description: String) { self.description = description }
}
