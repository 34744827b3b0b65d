import Foundation
import Testing
import VoiceDevices

@Suite(
    "A partner behind a Realtime server of one's own",
    .enabled(if: OfflinePrograms.areInstalled, "needs tools/setup --agent"))
struct ServeRealtimeLiveTests {
    @Test(
        "Given a server with a key, when our own client asks by voice, then it is answered, and without the key refused"
    )
    func talk() throws {
        let folder = try TestFolder()
        try TalkLiveTests.say([.silence(0.7), .text("count to two"), .silence(0.3)], to: folder("in.wav"))
        try "a-very-secret-key\n".write(toFile: folder("key"), atomically: true, encoding: .utf8)
        try "another\n".write(toFile: folder("other"), atomically: true, encoding: .utf8)
        var server = try ChildProcess(["serve-realtime", "--port", "0", "--key-file", folder("key"), "--json"])
        let url = try #require(try server.event("listening")["url"] as? String)
        func talk(_ key: String) throws -> ChildProcess.Result {
            try ChildProcess.run(
                ["talk", "--realtime", url, "--key-file", folder(key), "--input", folder("in.wav"), "--json"], limit: 60
            )
        }
        let refused = try talk("other")
        #expect(refused.exitCode == 69 && refused.standardError.contains("refuses the key (HTTP 401)"), "\(refused)")
        func isAnswered(_ result: ChildProcess.Result) -> Bool {
            result.json?.contains { $0["heard"] as? String == "One. Two." } == true
        }
        let result = try attempted(until: isAnswered) { try talk("key") }
        #expect(result.exitCode == 0, "\(result.standardError)")
        #expect(isAnswered(result), "\(result.standardOutput)")
        server.interrupt()
        let served = server.wait()
        #expect(served.json?.contains { $0["text"] as? String == "count to two" } == true, "\(served.standardOutput)")
        #expect(served.exitCode == 0 && !(served.standardOutput + served.standardError).contains("a-very-secret-key"))
    }
}
