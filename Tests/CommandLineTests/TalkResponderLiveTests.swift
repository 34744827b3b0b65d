import Foundation
import ScriptedRealtime
import Testing

@Suite(
    "A talk whose answers come from chat completions",
    .enabled(if: OfflinePrograms.areInstalled, "needs tools/setup --agent"))
struct TalkResponderLiveTests {
    @Test(
        "Given a server that streams and one that refuses, then the answer is spoken, and the refusal told; the key stays secret"
    )
    func talk() throws {
        let folder = try TestFolder()
        try TalkLiveTests.say([.silence(0.7), .text("hello"), .silence(0.3)], to: folder("in.wav"))
        try "sk-very-secret\n".write(toFile: folder("key"), atomically: true, encoding: .utf8)
        let server = try ScriptedChatServer { connection, number in
            if number == 1 {
                connection.begin()
                connection.say("Streamed. ")
                connection.say("In two.")
                connection.write("data: [DONE]\n\n")
            } else {
                connection.begin(status: "404 Not Found", type: "application/json")
                connection.write("{\"error\":{\"message\":\"no model of this name\"}}")
            }
        }
        func talk() throws -> ChildProcess.Result {
            try ChildProcess.run(
                [
                    "talk", "--offline", "--responder", "http://127.0.0.1:\(server.port)/v1/chat/completions",
                    "--model", "m",
                    "--key-file", folder("key"), "--input", folder("in.wav"), "--json",
                ], limit: 60)
        }
        let answered = try attempted(until: { _ in !server.requests.isEmpty }, talk)
        #expect(answered.exitCode == 0, "\(answered.standardError)")
        #expect(answered.json?.contains { $0["heard"] as? String == "Streamed. In two." } == true)
        #expect(server.requests.first?.head.contains("Bearer sk-very-secret") == true)
        func failure(_ result: ChildProcess.Result) -> [String: Any]? {
            result.json?.first { $0["type"] as? String == "failed" }
        }
        let refused = try attempted(until: { failure($0) != nil }, talk)
        let told = failure(refused)
        #expect(told?["code"] as? String == "dialog.notFound", "\(refused.standardOutput)")
        #expect((told?["detail"] as? String)?.contains("no model of this name") == true)
        for result in [answered, refused] {
            #expect(!(result.standardOutput + result.standardError).contains("very-secret"))
        }
    }
}
