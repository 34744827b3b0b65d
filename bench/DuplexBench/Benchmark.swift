/// One benchmark: measures us and the peer in one run and says how they compare.
struct Benchmark: Sendable {
    /// What it is called on the command line, and in the schema of its summary.
    let name: String
    /// One line for the list of benchmarks.
    let purpose: String
    /// Options that it alone takes, and the others refuse.
    var options: [String] = []
    /// Measures. Progress goes to standard error; results are returned.
    let run: @Sendable () throws -> BenchmarkResult

    /// Every benchmark there is, in the order of the list.
    static let all: [Benchmark] = [
        .rings, .tick, .playout, .echo, .bargeIn, .turns, .talk, .speech, .graph, .abuse, .secure,
    ]
}

/// How much is measured.
enum BenchmarkLength {
    /// Whether `--long` was asked for: what takes hours.
    static let isLong = CommandLine.arguments.contains("--long")
    /// Options that take a value.
    static let valued = ["--seeds", "--seconds", "--stages", "--rooms", "--recordings", "--places"]

    static func value(of option: String) -> String? {
        guard let at = CommandLine.arguments.firstIndex(of: option), at + 1 < CommandLine.arguments.count else {
            return nil
        }
        return CommandLine.arguments[at + 1]
    }

    /// What `--seconds N` asks for: how long an agent talks by itself; nil without it.
    static let seconds: Double? = value(of: "--seconds").map { text in
        guard let seconds = Double(text), (1...600).contains(seconds) else {
            fail("bench: --seconds takes 1 to 600", code: usageError)
        }
        return seconds
    }

    /// What `--seeds A-B` asks for; nil without it.
    static let seeds: ClosedRange<UInt64>? = {
        guard let text = value(of: "--seeds") else { return nil }
        let bounds = text.split(separator: "-").map { UInt64($0) }
        guard bounds.count == 2, let first = bounds[0], let last = bounds[1], first <= last else {
            fail("bench: --seeds takes a range such as 1-10", code: usageError)
        }
        return first...last
    }()
}

/// What a benchmark found out: a table for people, a summary for programs.
struct BenchmarkResult {
    /// What was measured, how, and in which unit: a paragraph above the table.
    let description: String
    let table: MarkdownTable
    /// The keys of the summary line, in order, units in their names.
    let summary: [(key: String, value: SummaryValue)]
    /// Further tables, each with a heading and a paragraph of its own.
    var further: [(heading: String, description: String, table: MarkdownTable)] = []
}
