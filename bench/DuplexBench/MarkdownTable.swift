/// A table that reads well both as Markdown and as plain text: columns are padded, numbers stand to the right.
struct MarkdownTable: CustomStringConvertible {
    private let header: [String]
    private var rows: [[String]] = []

    /// The first column holds names, all others numbers.
    init(_ header: String...) { self.init(header) }

    init(_ header: [String]) { self.header = header }

    mutating func add(_ cells: String...) { add(cells) }

    mutating func add(_ cells: [String]) {
        precondition(cells.count == header.count)
        rows.append(cells)
    }

    var description: String {
        let widths = header.indices.map { column in
            max(3, ([header] + rows).map { $0[column].count }.max() ?? 0)
        }
        let rule = widths.enumerated().map { column, width in
            column == 0 ? String(repeating: "-", count: width) : String(repeating: "-", count: width - 1) + ":"
        }
        return ([header, rule] + rows).map { cells in
            let padded = cells.enumerated().map { column, cell in
                let space = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + space : space + cell
            }
            return "| " + padded.joined(separator: " | ") + " |"
        }.joined(separator: "\n")
    }
}

extension Double {
    /// This number with so many digits after the point, without the C library's locale.
    func fixed(_ digits: Int) -> String {
        guard isFinite else { return "-" }
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let scaled = (magnitude * scale).rounded()
        guard scaled < 1e15 else { return "\(self)" }
        let whole = Int64(scaled) / Int64(scale)
        let rest = String(Int64(scaled) % Int64(scale))
        let sign = self < 0 && scaled > 0 ? "-" : ""
        if digits == 0 { return "\(sign)\(whole)" }
        return "\(sign)\(whole)." + String(repeating: "0", count: digits - rest.count) + rest
    }
}
