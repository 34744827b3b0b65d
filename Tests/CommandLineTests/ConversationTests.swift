import Testing
import VoiceDevices
import VoiceSimulation

@Suite("Two calls with files carry each other's speech")
struct ConversationTests {
    /// A call in real time beside other tests on a small machine may stall; of so many calls one must be heard whole.
    private static let attempts = 4

    @Test("through a server, from the first word to the last")
    func conversation() throws {
        let folder = try TestFolder()
        let said = [
            "a": try folder.speak("a.wav", seconds: 3, seed: 11),
            "b": try folder.speak("b.wav", seconds: 3, seed: 12, voice: .high),
        ]
        var flaws: [String] = []
        for _ in 0..<Self.attempts {
            flaws = try converse(folder, said)
            if flaws.isEmpty { break }
        }
        #expect(flaws.isEmpty)
    }

    /// One call; what of the other's speech was not recorded well, and whether one's own was.
    private func converse(_ folder: TestFolder, _ said: [String: [Float]]) throws -> [String] {
        var flaws: [String] = []
        let server = try RunningServer(in: folder)
        // Given a caller who waits, and a second one who comes.
        var first = try ChildProcess(try call(server, "a", folder))
        _ = try first.event("joined")
        let second = try ChildProcess.run(try call(server, "b", folder))
        let results = ["a": first.wait(), "b": second]

        for (listener, talker) in [("a", "b"), ("b", "a")] {
            let result = try #require(results[listener])
            #expect(result.exitCode == 0, "\(result.standardError)")
            #expect(result.standardError.isEmpty)
            let summary = try #require(result.json?.last)
            #expect(summary["type"] as? String == "summary")
            #expect(summary["ending"] as? String == "end of input")
            #expect((summary["packets_received"] as? Int ?? 0) > 100)
            // Then what is recorded is the other's speech, all of it, and not one's own.
            let heard = try AudioFile.read(folder("\(listener)-out.wav")).samples
            let speech = try #require(said[talker])
            let alignment = SignalAlignment(of: heard.span, after: speech.span, longestDelayFrames: 48_000)
            let found = try #require(alignment)
            if !found.isTrusted || found.delayFrames <= 0 {
                flaws.append("\(listener) does not hear \(talker): \(found)")
            }
            if heard.count < found.delayFrames + speech.count { flaws.append("\(listener) misses the last words") }
            let own = try #require(said[listener])
            let echo = SignalAlignment(of: heard.span, after: own.span, longestDelayFrames: 48_000)
            if abs(echo?.correlation ?? 0) >= abs(found.correlation) / 2 { flaws.append("\(listener) hears itself") }
        }
        let served = server.stop()
        #expect(served.exitCode == 0)
        #expect((served.json?.last?["packets_forwarded"] as? Int ?? 0) > 200)
        return flaws
    }

    private func call(_ server: RunningServer, _ name: String, _ folder: TestFolder) throws -> [String] {
        server.call(
            token: try server.token(name), "--input", folder("\(name).wav"), "--output", folder("\(name)-out.wav"),
            "--wait", "15",
            "--processing", "off")
    }
}
