package import VoiceDialog

/// The last events of a session, numbered from 1.
package struct EventLog: Sendable {
    /// Older ones are forgotten.
    package static let capacity = 512

    private var events: [JSON] = []
    /// Of the newest; 0 where there is none.
    package private(set) var last = 0

    package init() {}

    /// Adds one, and returns it with its number.
    @discardableResult
    package mutating func append(_ type: String, _ members: [String: JSON], milliseconds: Int) -> JSON {
        last += 1
        var members = members
        members["type"] = .string(type)
        members["number"] = .integer(last)
        members["timeMs"] = .integer(milliseconds)
        let event = JSON.object(members)
        events.append(event)
        if events.count > Self.capacity { events.removeFirst() }
        return event
    }

    /// Those behind this number, the oldest first.
    package func events(after number: Int) -> [JSON] {
        Array(events.suffix(min(events.count, max(0, last - max(0, number)))))
    }
}
