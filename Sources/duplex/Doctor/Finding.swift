/// One line of the doctor's: what was looked at, how it is, and what to do about it.
struct Finding: JSONLine, Equatable {
    /// How bad it is.
    enum State: String, Encodable {
        /// As it should be; or nothing is wrong that could be told.
        case ok
        /// The engine works, but not as well as it could.
        case degraded
        /// The engine, or a part of it, cannot work.
        case failing
    }

    let schema = "duplexvoice.doctor/1"
    let type = "finding"
    var state: State
    var subject: String
    var detail: String
    /// What to do; nil where nothing is to be done.
    var remedy: String?
    /// What was measured, with the unit at the name's end; nil where nothing was. What is unknown is left out.
    var values: [String: Double]?

    private enum CodingKeys: CodingKey {
        case schema, type, state, subject, detail, remedy, values
    }

    init(
        _ state: State, _ subject: String, _ detail: String, remedy: String? = nil, values: [String: Double]? = nil
    ) {
        self.state = state
        self.subject = subject
        self.detail = detail
        self.remedy = remedy
        self.values = values
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
