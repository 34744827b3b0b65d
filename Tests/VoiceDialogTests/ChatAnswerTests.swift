import TestCases
import Testing

@testable import VoiceDialog

@Suite("An answer of chat completions")
struct ChatAnswerTests {
    /// What comes of a body that arrives in such pieces.
    private static func outcome(
        _ body: String, status: Int = 200, hasKey: Bool = true, isWhole: Bool = true, pieces: Int = 7
    ) -> Result<String, DialogError> {
        var answer = ChatAnswer(status: status, hasKey: hasKey)
        let bytes = Array(body.utf8)
        do throws(DialogError) {
            var text = ""
            for start in stride(from: 0, to: bytes.count, by: pieces) {
                text += try answer.take(Array(bytes[start..<min(start + pieces, bytes.count)]))
            }
            return .success(text + (try answer.finish(isWhole: isWhole)))
        } catch {
            return .failure(error)
        }
    }

    private static func delta(_ text: String, _ more: String = "") -> String {
        "data: {\"choices\":[{\"delta\":{\"content\":\"\(text)\"}\(more)}]}"
    }

    private static let stream =
        ": a pause\r\n\r\nevent: x\r\n" + delta("Good ") + "\r\n\r\n" + delta("mornïng.") + "\n\n"
        + "data: {\"choices\":[],\"usage\":{}}\n\ndata: [DONE]\n\n" + delta("stale") + "\n\n"

    @Test("a stream is the same wherever it is cut, and nothing counts behind its end", arguments: 1...12)
    func pieces(count: Int) { #expect(Self.outcome(Self.stream, pieces: count) == .success("Good mornïng.")) }

    @Test("servers that leave out the mark at the end, or do not stream, are understood")
    func others() {
        #expect(Self.outcome(Self.delta("Yes.", ",\"finish_reason\":\"stop\"")) == .success("Yes."))
        #expect(Self.outcome(" {\"choices\":[{\"message\":{\"content\":\"Yes.\"}}]}") == .success("Yes."))
    }

    private struct Fault: Sendable {
        var body: String
        var status = 200
        var hasKey = true
        var isWhole = true
        var code: DialogErrorCode
        var words = ""
    }

    private static let faults: [Fault] = [
        Fault(body: "", status: 401, hasKey: false, code: .noKey),
        Fault(body: "{\"error\":{\"message\":\"Bad key\"}}", status: 401, code: .unauthorised, words: "Bad key"),
        Fault(body: "{\"error\":{\"message\":\"No such\"}}", status: 404, code: .notFound, words: "No such"),
        Fault(body: "<html>", status: 429, code: .rateLimited),
        Fault(body: "{\"error\":{\"code\":\"insufficient_quota\"}}", status: 429, code: .quotaExhausted),
        Fault(body: "{\"error\":\"down\"}", status: 503, code: .lost, words: "down"),
        Fault(body: "", status: 302, code: .refused),
        Fault(body: "", code: .malformed), Fault(body: "<html>hello", code: .malformed),
        Fault(body: "{}", code: .malformed), Fault(body: "{\"choices\":[]}", code: .malformed),
        Fault(body: "data: {]\n\n", code: .malformed), Fault(body: "data: {}\n\n", code: .malformed),
        Fault(body: "data: {\"error\":{\"message\":\"Overloaded\"}}\n\n", code: .server, words: "Overloaded"),
        Fault(body: delta("Half"), code: .malformed), Fault(body: delta("Half"), isWhole: false, code: .lost),
        Fault(body: "", isWhole: false, code: .lost),
        Fault(body: "{" + String(repeating: " ", count: 300_000), code: .tooLarge),
        Fault(body: "data: " + String(repeating: "x", count: 300_000), code: .tooLarge),
        Fault(body: "data: " + String(repeating: "[", count: 2_000) + "\n\n", code: .malformed),
    ]

    @Test("each fault has its code, and the server's own words")
    func faults() {
        for fault in Self.faults {
            let outcome = Self.outcome(
                fault.body, status: fault.status, hasKey: fault.hasKey, isWhole: fault.isWhole, pieces: 4_096)
            guard case .failure(let error) = outcome else {
                Issue.record("\(fault.body.prefix(60)): \(outcome)")
                continue
            }
            #expect(error.code == fault.code, "\(fault.body.prefix(60)): \(error)")
            #expect(error.explanation.contains(fault.words))
        }
    }

    @Test("random bytes give the same text or the same error, however they are cut", arguments: cases(UInt64(0)..<20))
    func random(seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        let alphabet = Array("data: {}[]\"choices:delta,\r\n\u{0}é".utf8)
        let bytes = (0..<2_000).map { _ in alphabet[Int(numbers.next() % UInt64(alphabet.count))] }
        let body = String(decoding: bytes, as: UTF8.self)
        let whole = Self.outcome(body, pieces: body.utf8.count)
        for pieces in [1, 3, 50] { #expect(Self.outcome(body, pieces: pieces) == whole, "seed \(seed), \(pieces)") }
    }

    @Test("a request has the model and what was said")
    func request() throws {
        let request = ChatRequest(
            model: "m", messages: [ChatRequest.Message(.system, "Be brief."), ChatRequest.Message(.user, "hello")])
        let json = try JSON(parsing: request.encoded)
        #expect(json["model"] == "m" && json["stream"]?.bool == true)
        #expect(json["messages"]?.array?.last == ["role": "user", "content": "hello"])
    }
}
