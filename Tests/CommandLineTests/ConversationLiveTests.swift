import Testing
import VoiceDevices
import VoiceSimulation

@Suite("Two calls with files carry each other's speech")
struct ConversationLiveTests {
    /// A call in real time beside other tests on a small machine may stall; of so many calls one must be heard whole.
    private static let attempts = 8

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

    /// One call; what of the other's speech was not recorded well.
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
            if (summary["packets_received"] as? Int ?? 0) <= 100 { flaws.append("\(listener) gets few packets") }
            // Then what is recorded is the other's speech, all of it, and not one's own.
            let heard = try AudioFile.read(folder("\(listener)-out.wav")).samples
            let speech = try #require(said[talker])
            let found = Self.pieces(of: speech, in: heard)
            let share = Double(found.count { $0 }) / Double(found.count)
            if share < 0.5 { flaws.append("\(listener) hears \(share) of what \(talker) says") }
            if !found.prefix(3).contains(true) { flaws.append("\(listener) misses the first words") }
            if !found.suffix(3).contains(true) { flaws.append("\(listener) misses the last words") }
            let own = Self.pieces(of: try #require(said[listener]), in: heard)
            // No machine is too slow for that.
            #expect(!own.contains(true), "\(listener) hears itself")
        }
        let served = server.stop()
        #expect(served.exitCode == 0)
        if (served.json?.last?["packets_forwarded"] as? Int ?? 0) <= 200 { flaws.append("few packets go through") }
        return flaws
    }

    private func call(_ server: RunningServer, _ name: String, _ folder: TestFolder) throws -> [String] {
        server.call(
            token: try server.token(name), "--input", folder("\(name).wav"), "--output", folder("\(name)-out.wav"),
            "--wait", "15",
            "--processing", "off")
    }

    /// Of each quarter of a second of what is said, whether it is heard within a second. The delay may change from one
    /// to the next, as a jitter buffer's does: nothing is lost by that, but a quarter in which it changes is not like
    /// what was said.
    private static func pieces(of said: [Float], in heard: [Float]) -> [Bool] {
        let length = 12_000
        return stride(from: 0, to: said.count - length + 1, by: length).compactMap { start in
            let piece = said.span.extracting(start..<start + length)
            guard let level = SignalLevel(of: piece).rmsDecibels, level > -50 else { return nil }
            let later = heard.span.extracting(min(start, heard.count)..<min(heard.count, start + length + 48_000))
            let found = SignalAlignment(of: later, after: piece, longestDelayFrames: 48_000)
            return found.map { $0.delayFrames > 0 && $0.correlation > 0.7 } ?? false
        }
    }
}
