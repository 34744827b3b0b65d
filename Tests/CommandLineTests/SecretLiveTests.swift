import Foundation
import Testing

/// Secrets stay where they are needed.
@Suite("What the programs tell of secrets", .timeLimit(.minutes(3)))
struct SecretLiveTests {
    @Test("no log holds a token, a part of one, or the secret")
    func logs() throws {
        // Given a server, and tokens that are good, expired, of another secret, and none
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        try folder.speak("in.wav", seconds: 0.5, seed: 1)
        let otherSecret = try folder.write(Array(String(repeating: "fedcba9876543210", count: 2).utf8), to: "other")
        let other = try ChildProcess.run(
            ["room", "token", "--room", "r", "--identity", "b", "--secret-file", otherSecret])
        let tokens = [
            try server.token("a"), try server.token("a", "--starts-in", "-3600", "--valid-seconds", "60"),
            other.standardOutput.trimmingCharacters(in: .newlines), "x.y.not-a-token",
        ]
        // When each is used
        var said: [String] = []
        for token in tokens {
            let result = try ChildProcess.run(server.call(token: token, "--input", folder("in.wav")))
            #expect((result.exitCode == 0) == (token == tokens[0]), "\(result.standardError)")
            said += [result.standardOutput, result.standardError]
        }
        let served = server.stop()
        said += [served.standardOutput, served.standardError]
        // Then nobody repeats its claims or its signature, and nobody the secret
        let secret = try String(contentsOfFile: folder.secret, encoding: .utf8).trimmingCharacters(in: .newlines)
        let parts = tokens.flatMap { $0.split(separator: ".").dropFirst().map(String.init) }.filter { $0.count > 8 }
        #expect(parts.count == 7 && secret.count >= 32)
        for text in said {
            for part in parts + [secret] { #expect(!text.contains(part)) }
        }
        // The server did tell of all four, so that there was something to look at.
        #expect(served.standardOutput.contains("refused"), "\(served.standardOutput)")
    }

    @Test("a call keeps its memory out of core dumps")
    func coreDumps() throws {
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        try folder.speak("in.wav", seconds: 5, seed: 1)
        var call = try ChildProcess(server.call(token: try server.token("a"), "--input", folder("in.wav")))
        _ = try call.event("joined")
        let filter = try call.kernelFile("coredump_filter").trimmingCharacters(in: .newlines)
        #expect(UInt32(filter, radix: 16) == 0)
        call.interrupt()
        #expect(call.wait().exitCode == 0)
        _ = server.stop()
    }
}
