/// A list with one item selected, in which one can be open and some are liked.
struct ItemList: Sendable {
    let titles: [String]
    private(set) var selected = 0
    private(set) var isOpen = false
    private(set) var liked: Set<Int> = []
    /// What can be said at this moment; changes with what is open.
    private(set) var triggers = Triggers()

    init(_ titles: [String]) {
        self.titles = titles
        for (group, words) in [
            ("next", ["next", "forward", "down"]), ("back", ["back", "go back", "previous", "up"]),
            ("like", ["like", "good"]), ("dislike", ["do not like"]), ("open", ["open", "show more"]),
        ] {
            for word in words { triggers.add(word, to: group) }
        }
        for title in titles { triggers.add(title, to: "item") }
    }

    /// Does what a text says; returns which group that was of, nil where nothing is meant.
    mutating func hear(_ text: String) -> String? {
        guard let match = triggers.match(text) else { return nil }
        switch match.group {
        case "next": selected = min(selected + 1, titles.count - 1)
        case "back": selected = max(selected - 1, 0)
        case "like": liked.insert(selected)
        case "dislike": liked.remove(selected)
        case "open":
            isOpen = true
            triggers.add("close", to: "close")
        case "close":
            isOpen = false
            triggers.remove("close")
        default: selected = titles.firstIndex { Triggers.normalised($0) == match.words } ?? selected
        }
        return match.group
    }

    /// As lines for a terminal.
    var lines: [String] {
        titles.enumerated().map { index, title in
            let mark = index == selected ? (isOpen ? "▼" : "▶") : " "
            return "\(mark) \(title)\(liked.contains(index) ? " ♥" : "")"
        }
    }
}
