/// Which words do what: keywords by group, added and removed at run time.
struct Triggers: Sendable {
    /// What a text says.
    struct Match: Equatable {
        var group: String
        /// The words of it that were found.
        var words: [String]
    }

    private var keywords: [Match] = []

    /// Adds a keyword of one or more words to a group; one that is there is not added again.
    mutating func add(_ keyword: String, to group: String) {
        let match = Match(group: group, words: Self.normalised(keyword))
        if !match.words.isEmpty, !keywords.contains(match) { keywords.append(match) }
    }

    /// Removes a group.
    mutating func remove(_ group: String) { keywords.removeAll { $0.group == group } }

    /// The longest keyword that is somewhere in the text: "go back home" is not "back" where "go back" is a keyword.
    /// The first of equals.
    func match(_ text: String) -> Match? {
        let words = Self.normalised(text)
        return keywords.filter { words.contains($0.words) }.reduce(nil as Match?) { best, found in
            guard let best else { return found }
            let lengths = [best, found].map { ($0.words.count, $0.words.joined().count) }
            return lengths[1] > lengths[0] ? found : best
        }
    }

    /// The same as a grammar for a recogniser (JSGF), with what people say around a command.
    var grammar: String {
        let all = keywords.map { $0.words.joined(separator: " ") }
        return "#JSGF V1.0; grammar commands; public <command> = [please] (\(all.joined(separator: " | ")));"
    }

    /// Lower case, without punctuation.
    static func normalised(_ text: String) -> [String] {
        text.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "'") }.map(String.init)
    }
}
