/// Which answer of a dialog; numbers rise, over breaks of the connection too.
package struct AnswerID: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
    package static func < (left: AnswerID, right: AnswerID) -> Bool { left.rawValue < right.rawValue }
}

/// An answer, from its request to what was heard of it: one response, or several where functions are called in between.
struct DialogAnswer: Sendable {
    /// Sound of one content of an item, in the order of arrival.
    struct Part: Sendable {
        /// Nil where the server that made it is gone.
        var item: String?
        let contentIndex: Int
        var samples: Int
    }

    /// An answer has at most so many items and contents; more are an error of the server.
    static let maximumParts = 64
    /// Bytes of text that are kept.
    static let maximumText = 64 << 10

    /// How far the server is with it.
    enum Progress: Equatable, Sendable {
        /// Nothing of it is asked for or under way: it is new, or its functions run.
        case idle
        /// To be asked for, when there is a connection.
        case wanted
        /// Asked for by the client's event of this number; no response has begun.
        case asked(Int)
        /// The same, and the server would not begin it beside another: it is asked for again when that is done.
        case putOff(Int)
        /// The response of this name is under way.
        case responding(String)
        /// Nothing more of it comes.
        case done(isComplete: Bool)
    }

    let id: AnswerID
    var progress = Progress.idle
    /// Not wanted any more: nothing of it is handed out.
    var isOver = false
    private(set) var parts: [Part] = []
    /// Messages of it on the server, also those without sound.
    private(set) var messages: [String] = []
    var backlog = SoundBacklog()
    private(set) var text = ""
    /// Calls whose outcome is awaited.
    var openCalls: Set<String> = []
    /// It goes on when the outcomes of its calls are there.
    var hasCalled = false
    /// What was heard of it is known.
    var isSettled = false
    /// The server knows what it has said.
    private(set) var isRemembered = true
    /// What it is to be made by, in place of the session's instructions.
    var instructions: String?
    /// What the talker said, until the server has begun to answer it.
    var question: [Int16] = []

    init(_ id: AnswerID) { self.id = id }

    /// Whether a response to it is still to begin.
    var isAwaited: Bool {
        switch progress {
        case .wanted, .asked, .putOff: true
        case .idle, .responding, .done: false
        }
    }

    /// The number of the event that asked for it, until a response begins.
    var request: Int? {
        switch progress {
        case .asked(let number), .putOff(let number): number
        case .idle, .wanted, .responding, .done: nil
        }
    }

    /// The response that is under way.
    var response: String? { if case .responding(let name) = progress { name } else { nil } }

    /// Whether nothing more of it comes.
    var isDone: Bool { if case .done = progress { true } else { false } }

    /// Whether all of it was received.
    var isComplete: Bool { progress == .done(isComplete: true) }

    /// Samples received of it.
    var received: Int { parts.reduce(0) { $0 + $1.samples } }

    /// False where there are too many.
    mutating func addMessage(_ item: String) -> Bool {
        guard !messages.contains(item) else { return true }
        messages.append(item)
        return messages.count <= Self.maximumParts
    }

    /// False where it has too many parts.
    mutating func addSound(_ place: ContentPlace, _ samples: [Int16]) -> Bool {
        if parts.last?.item == place.item, parts.last?.contentIndex == place.contentIndex {
            parts[parts.count - 1].samples += samples.count
        } else {
            parts.append(Part(item: place.item, contentIndex: place.contentIndex, samples: samples.count))
        }
        backlog.append(samples)
        return parts.count <= Self.maximumParts
    }

    mutating func addText(_ more: String) {
        if text.utf8.count + more.utf8.count <= Self.maximumText { text += more }
    }

    /// The server that made it is gone: there is nothing to correct.
    mutating func leaveServer() {
        isRemembered = isRemembered && parts.isEmpty && messages.isEmpty
        for index in parts.indices { parts[index].item = nil }
        messages = []
        if isAwaited { progress = .wanted }
    }

    /// What makes the server's conversation agree with what was heard: the message in which it ended is truncated
    /// there, never beyond what was received; those behind it, and those of which nothing was heard, are deleted.
    func corrections(heard: Duration, _ sound: DialogSound) -> [ClientEvent] {
        let received = received
        let heard = min(received, Int(min(heard, sound.duration(received)) / .seconds(1) * Double(sound.rate)))
        if isComplete, heard == received { return [] }
        var events: [ClientEvent] = []
        var heardItems: Set<String> = []
        var start = 0
        for part in parts {
            let end = start + part.samples
            let milliseconds = (min(heard, end) - start) * 1_000 / sound.rate
            if let item = part.item, milliseconds > 0 {
                heardItems.insert(item)
                if heard <= end {
                    events.append(
                        .truncate(item: item, contentIndex: part.contentIndex, endMilliseconds: milliseconds))
                }
            }
            start = end
        }
        return events + messages.filter { !heardItems.contains($0) }.map { .delete(item: $0) }
    }

    /// The words that were heard, as far as the sound's length tells.
    func text(heard: Duration, _ sound: DialogSound) -> String {
        let all = sound.duration(received)
        guard heard < all else { return text }
        guard heard > .zero else { return "" }
        return String(text.words(heard / all))
    }
}
