/// What was said in a served session, in order; bounded.
struct ServedConversation: Sendable {
    static let maximumItems = 200
    static let maximumBytes = 128 << 10

    private(set) var items: [ServedItem] = []
    private var number = 0

    subscript(id: String) -> ServedItem? { items.first { $0.id == id } }

    /// The item before another; nil for the first.
    func previous(of id: String) -> String? {
        guard let index = items.firstIndex(where: { $0.id == id }), index > 0 else { return nil }
        return items[index - 1].id
    }

    var last: String? { items.last?.id }

    /// What was said, for whoever answers it. A call whose output came stands where that came, since more may have been
    /// said in between; an output without its call, which was deleted or forgotten, says nothing.
    var lines: [ServedLine] {
        var lines: [ServedLine] = []
        for item in items {
            switch item.content {
            case .user(let text): lines.append(.user(text))
            case .speech(let transcript): lines.append(.user(transcript ?? ""))
            case .assistant(let text): lines.append(.assistant(said: text, heard: text))
            case .answer(let answer): lines.append(.assistant(said: answer.said, heard: answer.heard))
            case .function(.call(let call)): lines.append(.call(call, output: nil))
            case .function(.result(let id, let output)):
                for (index, line) in lines.enumerated().reversed() {
                    guard case .call(let call, nil) = line, call.id == id else { continue }
                    lines.remove(at: index)
                    lines.append(.call(call, output: output))
                    break
                }
            case .system, .function: break
            }
        }
        return lines
    }

    /// A name that no item has.
    mutating func makeID() -> String {
        repeat { number += 1 } while self["item_\(number)"] != nil
        return "item_\(number)"
    }

    /// - Parameter after: "root" for the beginning; nil for the end.
    mutating func insert(_ item: ServedItem, after: String? = nil) throws(RequestFault) {
        guard self[item.id] == nil else { throw .invalid("item.id", "is taken") }
        guard let after else { return items.append(item) }
        if after == "root" { return items.insert(item, at: 0) }
        guard let index = items.firstIndex(where: { $0.id == after }) else {
            throw RequestFault("item_not_found", "there is no item '\(after)'", "previous_item_id")
        }
        items.insert(item, at: index + 1)
    }

    mutating func update(_ id: String, _ body: (inout ServedItem) -> Void) {
        guard let index = items.firstIndex(where: { $0.id == id }) else { return }
        body(&items[index])
    }

    /// False where there is no such item.
    mutating func remove(_ id: String) -> Bool {
        guard let index = items.firstIndex(where: { $0.id == id }) else { return false }
        items.remove(at: index)
        return true
    }

    /// Forgets the oldest that are too many, but never `kept`; returns their names.
    mutating func trim(keeping kept: String?) -> [String] {
        var removed: [String] = []
        var bytes = items.reduce(0) { $0 + $1.bytes }
        while items.count > Self.maximumItems || bytes > Self.maximumBytes,
            let index = items.firstIndex(where: { $0.id != kept })
        {
            bytes -= items[index].bytes
            removed.append(items.remove(at: index).id)
        }
        return removed
    }

    /// What the partner has said in an item; nil where that is something else.
    func answer(_ id: String) -> ServedAnswer? {
        guard case .answer(let answer)? = self[id]?.content else { return nil }
        return answer
    }

    @discardableResult
    mutating func change<Outcome>(_ id: String, _ body: (inout ServedAnswer) -> Outcome) -> Outcome? {
        guard var answer = answer(id) else { return nil }
        let outcome = body(&answer)
        update(id) { $0.content = .answer(answer) }
        return outcome
    }
}
