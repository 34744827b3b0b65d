/// A value of the summary.
enum SummaryValue {
    case text(String)
    case integer(Int)
    /// Printed with so many digits after the point; what is not finite becomes null.
    case number(Double, digits: Int)

    var json: String {
        switch self {
        case .text(let text): SummaryLine.quoted(text)
        case .integer(let value): String(value)
        case .number(let value, let digits): value.isFinite ? value.fixed(digits) : "null"
        }
    }
}

/// The last line of a benchmark that was asked for JSON.
enum SummaryLine {
    /// `{"schema":"duplexvoice.bench.NAME/1","type":"summary", ...}` with `values` in their order.
    static func json(of benchmark: Benchmark, _ values: [(key: String, value: SummaryValue)]) -> String {
        let head = [("schema", SummaryValue.text("duplexvoice.bench.\(benchmark.name)/1")), ("type", .text("summary"))]
        return "{" + (head + values).map { "\(quoted($0.0)):\($0.1.json)" }.joined(separator: ",") + "}"
    }

    fileprivate static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
