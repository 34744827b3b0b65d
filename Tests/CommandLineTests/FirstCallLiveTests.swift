import Foundation
import TestCases
import Testing
import VoiceDevices

@Suite("A first call, as it is pasted")
struct FirstCallLiveTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The commands below a mark, at a place of this test's own.
    private func commands(_ name: String, at place: LoopbackPlace) throws -> String {
        let page = try String(contentsOf: Self.root.appending(path: "docs/running-a-room.md"), encoding: .utf8)
        let after = try #require(page.split(separator: "<!-- first call: \(name) -->\n```bash\n").dropFirst().first)
        let block = String(try #require(after.split(separator: "```").first))
        // What a terminal gets behind a call would be the call's keys.
        #expect(block.split(separator: "\n").last?.hasSuffix("--output \(name)-heard.wav") == true)
        return block.replacing("room serve", with: "room serve --address \(place.host) --port \(place.port)")
    }

    private func bash(_ script: String, in folder: TestFolder) throws -> TestProgram {
        // Jobs, as in a terminal
        try TestProgram(
            "/bin/bash", ["-m", "-c", script], limit: .seconds(150),
            environment: [
                "PATH": "\(ChildProcess.folder):/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no",
                "XDG_STATE_HOME": folder("state"),
            ], in: folder.path, errors: .withOutput)
    }

    @Test("each hears the other", .timeLimit(.minutes(3)))
    func pasted() throws {
        let folder = try TestFolder()
        let place = LoopbackPlace()
        try FileManager.default.removeItem(atPath: folder.secret)
        let anna = try bash(try commands("anna", at: place) + "kill %1\n", in: folder)
        // Ben is in the same folder, and so is the server's URL as soon as Anna has started it.
        let ben = try bash(
            "until [[ -s room.log ]]; do sleep 0.1; done\n" + (try commands("ben", at: place)), in: folder)
        for ended in [ben.wait(), anna.wait()] { #expect(ended.status == 0, "\(ended.text)") }
        for name in ["anna-heard.wav", "ben-heard.wav"] {
            let heard = try AudioFile.read(folder(name)).samples
            #expect((heard.map(abs).max() ?? 0) > 0.01, "\(name) is silent")
        }
        let mode = try FileManager.default.attributesOfItem(atPath: folder.secret)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("the two calls that 'room serve --dev' prints come into one room", .timeLimit(.minutes(3)))
    func development() throws {
        let folder = try TestFolder()
        var server = try ChildProcess([
            "room", "serve", "--dev", "--address", "127.0.0.1", "--port", "0", "--state", folder("state"), "--json",
        ])
        let commands = try (0..<2).map { _ in try #require(try server.event("call")["command"] as? String) }
        try folder.speak("in.wav", seconds: 1, seed: 1)
        let calls = try ["alice", "bob"].enumerated().map { index, name in
            try bash(commands[index] + " --wait 60 --input in.wav --output \(name)-heard.wav", in: folder)
        }
        for call in calls {
            let ended = call.wait()
            #expect(ended.status == 0, "\(ended.text)")
        }
        for name in ["alice", "bob"] {
            let heard = try AudioFile.read(folder("\(name)-heard.wav")).samples
            #expect((heard.map(abs).max() ?? 0) > 0.01, "\(name) hears nothing")
        }
        server.interrupt()
        #expect(server.wait().exitCode == 0)
    }

    @Test("a second call with the same token takes the first one's place, as docs/running-a-room.md says")
    func sameToken() throws {
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        let token = try server.token("anna")
        try folder.speak("in.wav", seconds: 0.5, seed: 1)
        var first = try ChildProcess(server.call(token: token, "--output", folder("first.wav")))
        _ = try first.event("joined")
        let second = try ChildProcess.run(server.call(token: token, "--input", folder("in.wav")))
        #expect(second.exitCode == 0, "\(second.standardError)")
        expectFailure(first.wait(), code: 69, saying: "somebody else joined with your identity")
        _ = server.stop()
    }
}
