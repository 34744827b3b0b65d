/// A plain table for people: left-aligned first column, the others as they come, as wide as their longest cell.
struct Table {
    private var rows: [[String]] = []

    mutating func add(_ cells: String...) { rows.append(cells) }

    mutating func add(_ cells: [String]) { rows.append(cells) }

    var lines: [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            row.enumerated()
                .map { column, cell in
                    column == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
                }
                .joined(separator: "   ")
        }
    }
}
