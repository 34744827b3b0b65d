import Foundation
import Synchronization

/// Where a command's words go: results to stdout, complaints to stderr, progress to stderr and only where somebody watches.
enum Console {
    /// Whether stderr is a terminal.
    static let isWatched = isatty(STDERR_FILENO) == 1

    /// A line of the result.
    static func say(_ line: String = "") {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    /// A complaint or a warning.
    static func complain(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }

    /// Shows how far the work is; on a terminal the line replaces the one before.
    static func progress(_ text: String) {
        guard isWatched else { return }
        FileHandle.standardError.write(Data("\r\u{1B}[K\(text)".utf8))
    }

    /// Takes the progress line away.
    static func endProgress() {
        guard isWatched else { return }
        FileHandle.standardError.write(Data("\r\u{1B}[K".utf8))
    }
}

/// A line of NDJSON: a summary or an event. Its keys are in snake case, with the unit last.
protocol JSONLine: Encodable {
    /// Name and version of the line's shape: `duplexvoice.aec/1`.
    var schema: String { get }
    /// `summary` for a command's last line, else what happened.
    var type: String { get }
}

extension Console {
    /// Prints `line` as one line of JSON.
    static func emit(_ line: some JSONLine) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.nonConformingFloatEncodingStrategy = .throw
        do {
            say(String(decoding: try encoder.encode(line), as: UTF8.self))
        } catch {
            complain("error: the JSON line \(line.schema) could not be written: \(error)")
        }
    }
}
