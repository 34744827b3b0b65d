import TestCases
import Testing

@testable import VoiceDialog

@Suite("Errors of a dialog have names that stay the same")
struct DialogErrorTests {
    private static let proofs: [String: ErrorProof] = [
        "dialog.noKey": ErrorProof("RealtimePartnerTests/ChatResponderLiveTests.swift", #"code == "dialog.noKey""#),
        "dialog.unknownHost": ErrorProof(
            "RealtimePartnerTests/DialogFailureLiveTests.swift", #"["dialog.unknownHost", "dialog.unreachable"]"#),
        "dialog.unreachable": ErrorProof(
            "RealtimePartnerTests/RealtimePartnerLiveTests.swift", #"error?.code == "dialog.unreachable""#),
        "dialog.proxyRefused": ErrorProof(
            "RealtimePartnerTests/DialogFailureLiveTests.swift", #"== "dialog.proxyRefused""#),
        "dialog.untrusted": ErrorProof(
            "RealtimePartnerTests/DialogFailureLiveTests.swift", #"== "dialog.untrusted""#),
        "dialog.unauthorised": ErrorProof("VoiceDialogTests/RealtimeDialogTests.swift", "end?.code == .unauthorised"),
        "dialog.notFound": ErrorProof(
            "CommandLineTests/TalkResponderLiveTests.swift", #"as? String == "dialog.notFound""#),
        "dialog.refused": ErrorProof(
            "RealtimePartnerTests/ChatResponderLiveTests.swift", #"codes[3] == "dialog.refused""#),
        "dialog.rateLimited": ErrorProof(
            "RealtimePartnerTests/ChatResponderLiveTests.swift", #"patience?.code == "dialog.rateLimited""#),
        "dialog.quotaExhausted": ErrorProof(
            "VoiceDialogTests/ChatAnswerTests.swift", "status: 429, code: .quotaExhausted)"),
        "dialog.noAnswer": ErrorProof("VoiceDialogTests/RealtimeDialogTests.swift", "error?.code == .noAnswer"),
        "dialog.lost": ErrorProof("VoiceDialogTests/RealtimeDialogTests.swift", "error?.code == .lost"),
        "dialog.sessionExpired": ErrorProof(
            "VoiceDialogTests/RealtimeDialogTests.swift", "error.code == .sessionExpired"),
        "dialog.tooLarge": ErrorProof("VoiceDialogTests/ChatAnswerTests.swift", "code: .tooLarge)"),
        "dialog.malformed": ErrorProof("VoiceDialogTests/ChatAnswerTests.swift", "code: .malformed)"),
        "dialog.server": ErrorProof("VoiceDialogTests/ChatAnswerTests.swift", "code: .server, words:"),
    ]

    @Test("the rows in docs/errors.md are those of the code")
    func table() throws {
        let meant = DialogErrorCode.allCases.map {
            ErrorProof.row($0.rawValue, $0.origin, $0.isRetryable, $0.remedy)
        }
        #expect(try ErrorProof.rows(of: "dialog") == meant, "they should be:\n\(meant.joined(separator: "\n"))")
    }

    @Test("Given a server's words of any length, in one character even, then no more than some of them are told")
    func boundedWords() throws {
        let long = JSON.string("e" + String(repeating: "\u{301}", count: 40_000))
        let error: JSON = ["type": long, "code": long, "message": long]
        let event: JSON = ["type": "error", "error": error]
        guard case .error(let fault) = try ServerEvent(parsing: event.encoded) else {
            Issue.record("no error")
            return
        }
        #expect(DialogError(fault).explanation.utf8.count < 2_000)
        let cut: JSON = [
            "type": "response.done",
            "response": ["id": "r", "status": "incomplete", "status_details": ["reason": long]],
        ]
        guard case .responseDone(_, .incomplete(let reason)) = try ServerEvent(parsing: cut.encoded) else {
            Issue.record("not cut")
            return
        }
        #expect(reason.utf8.count < 200)
        var answer = ChatAnswer(status: 400, hasKey: true)
        let body: JSON = ["error": error]
        _ = try answer.take(body.encoded)
        do throws(DialogError) {
            _ = try answer.finish(isWhole: true)
            Issue.record("taken")
        } catch { #expect(error.explanation.utf8.count < 2_000) }
    }

    @Test("each is provoked by a test")
    func provoked() {
        let faults = ErrorProof.faults(of: DialogErrorCode.allCases.map(\.rawValue), Self.proofs)
        #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
    }
}
