import ControlAPI
import TestCases
import Testing

@Suite("Errors of the control API")
struct ControlErrorTests {
    private static let live = "ControlServerTests/ControlLiveTests.swift"
    private static let request = "ControlAPITests/ControlRequestTests.swift"
    private static let http = "ControlAPITests/HTTPTests.swift"

    private static let proofs: [String: ErrorProof] = [
        "control.unauthorised": ErrorProof(live, #"refused.code == "control.unauthorised""#),
        "control.forbidden": ErrorProof(live, #"foreign.code == "control.forbidden""#),
        "control.notFound": ErrorProof(request, #"404, "control.notFound", nil)"#),
        "control.methodNotAllowed": ErrorProof(request, #"405, "control.methodNotAllowed", nil)"#),
        "control.invalid": ErrorProof(request, #"400, "control.invalid", "text")"#),
        "control.malformed": ErrorProof(http, #"? "control.tooLarge" : "control.malformed""#),
        "control.timeout": ErrorProof(http, #"dripping.sent.contains("\"control.timeout\"")"#),
        "control.tooLarge": ErrorProof(http, #"? "control.tooLarge" : "control.malformed""#),
        "control.unsupportedMediaType": ErrorProof(request, #"415, "control.unsupportedMediaType", nil)"#),
        "control.tooManySessions": ErrorProof(live, #"crowded.code == "control.tooManySessions""#),
        "control.busy": ErrorProof(live, #"codes.last == "control.busy""#),
        "control.noRoomKey": ErrorProof(live, #"keyless.code == "control.noRoomKey""#),
        "control.partnerAnswers": ErrorProof(live, #"answered.code == "control.partnerAnswers""#),
    ]

    @Test("are in the table of docs/errors.md with the statuses that they come with, and no others")
    func table() throws {
        let meant = ControlErrorCode.allCases.map { code in
            let statuses = code.statuses.map(String.init).joined(separator: ", ")
            return ErrorProof.row(code.rawValue, code.origin, code.isRetryable, "\(statuses): \(code.remedy)")
        }
        #expect(try ErrorProof.rows(of: "control") == meant, "they should be:\n\(meant.joined(separator: "\n"))")
    }

    @Test("each is provoked by a test")
    func provoked() {
        let faults = ErrorProof.faults(of: ControlErrorCode.allCases.map(\.rawValue), Self.proofs)
        #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
    }
}
