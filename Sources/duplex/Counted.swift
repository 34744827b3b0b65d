extension Int {
    /// "1 turn", "2 turns"; of nouns that form their plural so.
    func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
