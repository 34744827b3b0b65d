/// The devices that were there when last looked, and what has changed since.
struct DeviceRoster: Equatable, Sendable {
    /// In the order in which they were listed.
    private(set) var names: [String]

    /// What one look at the list showed. Both in the order of their lists.
    struct Difference: Equatable, Sendable {
        var arrived: [String] = []
        var departed: [String] = []
    }

    /// Takes note of the names that are there now; a name listed twice counts once.
    mutating func update(_ present: [String]) -> Difference {
        var seen: Set<String> = []
        let unique = present.filter { seen.insert($0).inserted }
        let before = Set(names)
        let difference = Difference(
            arrived: unique.filter { !before.contains($0) }, departed: names.filter { !seen.contains($0) })
        names = unique
        return difference
    }
}
