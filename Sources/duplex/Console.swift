import Glibc
import Synchronization
import VoiceEngine
import VoiceRealtime

/// Where a command's words go: results to stdout, complaints to stderr, progress to stderr and only where somebody
/// watches.
///
/// Everything is escaped here, and only here, so that no name, message or path can carry control sequences to a
/// terminal (``PlainText``).
///
/// From any thread; blocks while the reader of a pipe does. A stdout that cannot be written ends no command by itself:
/// a call that is being recorded goes on. It is complained of once, and ``reportingFailure(_:)`` turns it into the exit
/// code.
enum Console {
    /// Whether stderr is a terminal.
    static let isWatched = isatty(STDERR_FILENO) == 1

    /// Why stdout could not be written (`errno`), 0 while it could.
    private static let outputError = Mutex<Int32>(0)
    /// Whether a line could not be put as JSON.
    private static let hasLostLine = Mutex(false)

    /// Readies the process: a reader that goes away and a file that grows too large are errors to report and not
    /// signals to die of, and a standard stream that is closed is /dev/null, so that no file of ours is opened under
    /// its number and mixed with our words.
    static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
            _ = unsafe open("/dev/null", O_RDWR)
        }
    }

    /// A line of the result.
    static func say(_ line: String = "") { put(PlainText.escaped(line)) }

    private static func put(_ line: String) {
        outputError.withLock { failed in
            guard failed == 0 else { return }
            failed = OutputFile.write(line + "\n", to: STDOUT_FILENO)
            // Who closes a pipe, as `head` does, knows.
            if failed != 0, failed != EPIPE {
                complain("error: stdout cannot be written: \(systemReason(failed)); what follows is lost")
            }
        }
    }

    /// Whether something of the result is lost.
    static var hasLostOutput: Bool { outputError.withLock { $0 != 0 } || hasLostLine.withLock(\.self) }

    /// Whether whoever read the result has gone away.
    static var isUnread: Bool { outputError.withLock { $0 == EPIPE } }

    /// A complaint or a warning. There is nowhere to tell that it was lost.
    static func complain(_ line: String) {
        endProgress()
        _ = OutputFile.write(PlainText.escaped(line) + "\n", to: STDERR_FILENO)
    }

    /// Shows how far the work is; on a terminal the line replaces the one before.
    static func progress(_ text: String) {
        guard isWatched else { return }
        _ = OutputFile.write("\r\u{1B}[K\(PlainText.escaped(text))", to: STDERR_FILENO)
    }

    /// Takes the progress line away.
    static func endProgress() {
        guard isWatched else { return }
        _ = OutputFile.write("\r\u{1B}[K", to: STDERR_FILENO)
    }
}

/// A line of NDJSON: a summary or an event. Its keys are in snake case, with the unit last; what is unknown is left
/// out.
protocol JSONLine: Encodable {
    /// Name and version of the line's shape: `duplexvoice.aec/1`.
    var schema: String { get }
    /// `summary` for a command's last line, else what happened.
    var type: String { get }
}

extension Console {
    /// Prints `line` as one line of JSON. One that holds a value that is no number is lost, and complained of.
    static func emit(_ line: some JSONLine) {
        do {
            put(PlainText.escapedJSON(try encode(line)))
        } catch {
            hasLostLine.withLock { $0 = true }
            complain("error: a line of \(line.schema) is lost, since it cannot be put as JSON: \(error)")
        }
    }

    /// `line` as JSON.
    static func encode(_ line: some JSONLine) throws -> String { try JSONText.encode(line, keys: .snakeCase) }
}
