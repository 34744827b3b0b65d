import Foundation
import Testing

@testable import duplex

@Suite("A call with its token in a file", .timeLimit(.minutes(3)))
struct TokenFileLiveTests {
    /// Tokens of that many seconds, with the leeway of 10 s that a server grants.
    private func token(_ identity: String, _ server: RunningServer, lasting seconds: Int) throws -> String {
        try server.token(identity, "--starts-in", "-60", "--valid-seconds", "\(60 - 10 + seconds)")
    }

    private func write(_ token: String, _ mode: Int, to folder: TestFolder) throws -> String {
        let path = folder("token")
        try Data("\(token)\n".utf8).write(to: URL(filePath: path), options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    @Test("it lasts as long as somebody writes new ones there")
    func renewal() throws {
        // Given two calls of twenty seconds, and tokens of twelve
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        try folder.speak("in.wav", seconds: 20, seed: 1)
        let file = try write(token("a", server, lasting: 12), 0o600, to: folder)
        let other = try TestFolder()
        let lone = try write(token("b", server, lasting: 12), 0o600, to: other)
        let call = ["call", "--server", server.url, "--json", "--input", folder("in.wav"), "--token-file"]
        var renewed = try ChildProcess(call + [file])
        let forgotten = try ChildProcess(call + [lone])
        _ = try renewed.event("joined")
        // When one file has another token before the first is over
        _ = try write(server.token("a"), 0o600, to: folder)
        // Then that call goes on to its end, and the other is over with its token
        let result = renewed.wait()
        #expect(result.exitCode == 0, "\(result.standardError)")
        #expect(!result.standardError.contains("chmod"))
        expectFailure(forgotten.wait(), code: 77, saying: "has expired")
        _ = server.stop()
    }

    @Test("a file that others can read is told, one without a token ends it before it begins")
    func files() throws {
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        try folder.speak("in.wav", seconds: 0.2, seed: 1)
        let call = ["call", "--server", server.url, "--input", folder("in.wav")]
        let open = try write(server.token("a"), 0o644, to: folder)
        let told = try ChildProcess.run(call + ["--token-file", open])
        #expect(told.exitCode == 0)
        #expect(told.standardError.contains("chmod 600"))
        expectFailure(
            try ChildProcess.run(call + ["--token-file", try write("", 0o600, to: folder)]), code: 66,
            saying: "is empty")
        expectFailure(
            try ChildProcess.run(call + ["--token-file", folder("none")]), code: 66, saying: "cannot be read")
        expectFailure(
            try ChildProcess.run(
                call + ["--token-file", try write(String(repeating: "x", count: 2_000), 0o600, to: folder)]),
            code: 66, saying: "longer than a server takes")
        expectFailure(
            try ChildProcess.run(call + ["--token-file", open, "--token", "t"]), code: 64, saying: "use one of them")
        _ = server.stop()
    }

    @Test("a token is given once, and then only another one")
    func next() async throws {
        let folder = try TestFolder()
        let file = try TokenFile(try write("one", 0o600, to: folder))
        #expect(try await file.next() == "one")
        // When it is asked for the next, while the file is gone, is written, and has another
        let next = Task { try await file.next() }
        try FileManager.default.removeItem(atPath: folder("token"))
        _ = try write("", 0o600, to: folder)
        _ = try write("one", 0o600, to: folder)
        _ = try write("two", 0o600, to: folder)
        // Then that is what comes
        #expect(try await next.value == "two")
        // And whoever no longer waits is let go
        let last = Task { try await file.next() }
        last.cancel()
        await #expect(throws: CancellationError.self) { try await last.value }
    }
}
