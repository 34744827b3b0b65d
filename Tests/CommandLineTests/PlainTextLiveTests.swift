import Foundation
import Testing

@Suite("Hostile names in a call")
struct PlainTextLiveTests {
    @Test("an identity with escape sequences shows at the server and in a call, and does nothing")
    func identity() throws {
        let folder = try TestFolder()
        var server = try ChildProcess(
            ["room", "serve", "--port", "0", "--secret-file", folder.secret, "--plaintext"])
        let url = try #require(server.nextLine()?.split(separator: " ").last.map(String.init))
        let token = try ChildProcess.run([
            "room", "token", "--room", "r", "--identity", "\u{1B}[31m\u{202E}eve\nroot", "--secret-file", folder.secret,
        ])
        try folder.speak("in.wav", seconds: 0.2, seed: 1)
        let call = try ChildProcess.run([
            "call", "--server", url, "--token", token.standardOutput.trimmingCharacters(in: .newlines), "--input",
            folder("in.wav"),
        ])
        #expect(call.exitCode == 0, "\(call.standardError)")
        server.interrupt()
        let result = server.wait()
        #expect(result.standardOutput.contains(#"\u{001b}[31m\u{202e}eve\nroot came into room 'r'"#))
        for text in [result.standardOutput, call.standardOutput, call.standardError] {
            #expect(!text.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{202E}" })
        }
    }
}
