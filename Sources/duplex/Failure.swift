import ArgumentParser

/// Why a command ends without its result: what is wrong, where, and what to do; with the exit code that scripts go by.
struct Failure: Error {
    /// The exit codes of `duplex`, from BSD's sysexits(3) where it has one.
    enum Code: Int32 {
        case thresholdMissed = 1
        case usage = 64
        case inputUnusable = 66
        case unavailable = 69
        case permissionDenied = 77
    }

    var code: Code
    var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Tells it as one line on stderr; what to exit with.
    func told() -> ExitCode {
        Console.complain("error: \(message)")
        return ExitCode(code.rawValue)
    }
}

/// Runs a command's work; a failure is printed as one line on stderr and becomes the exit code, as does a result that
/// could not be written.
func reportingFailure(_ work: () async throws -> Void) async throws {
    do {
        try await work()
    } catch let failure as Failure {
        throw failure.told()
    }
    if Console.hasLostOutput { throw ExitCode(Failure.Code.thresholdMissed.rawValue) }
}
