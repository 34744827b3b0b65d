import ArgumentParser

/// Says what works here, what does not, and what to do.
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say what works on this machine, what does not, and what to do.",
        discussion: "Exit code 1 if anything is failing, 0 if it is at worst degraded.")

    @Flag(help: "Print NDJSON.")
    var json = false

    func run() async throws {
        var isFailing = false
        try await reportingFailure {
            let findings = [
                Finding.realtimePriority, .memoryLock, .clock, .processing, .codec, .devices, .encryption,
                .allocationCounter,
                .libraries,
            ]
            if json {
                findings.forEach { Console.emit($0) }
                Console.emit(DoctorSummary(findings))
            } else {
                var table = Table()
                for finding in findings { table.add(finding.state.rawValue, finding.subject, finding.detail) }
                table.lines.forEach { Console.say($0) }
            }
            isFailing = findings.contains { $0.state == .failing }
        }
        if isFailing { throw ExitCode(Failure.Code.thresholdMissed.rawValue) }
    }
}

/// One line of the doctor's.
struct Finding: JSONLine {
    /// How bad it is.
    enum State: String, Encodable {
        case ok, degraded, failing
    }

    let schema = "duplexvoice.doctor/1"
    let type = "finding"
    var state: State
    var subject: String
    var detail: String

    init(_ state: State, _ subject: String, _ detail: String) {
        self.state = state
        self.subject = subject
        self.detail = detail
    }
}

/// The doctor's last line.
struct DoctorSummary: JSONLine {
    let schema = "duplexvoice.doctor/1"
    let type = "summary"
    var ok: Int
    var degraded: Int
    var failing: Int

    init(_ findings: [Finding]) {
        ok = findings.count { $0.state == .ok }
        degraded = findings.count { $0.state == .degraded }
        failing = findings.count { $0.state == .failing }
    }
}
