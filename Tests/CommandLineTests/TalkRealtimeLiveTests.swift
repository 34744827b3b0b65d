import Foundation
import ScriptedRealtime
import TestCases
import Testing
import VoiceDevices
import VoiceDialog
import VoiceSimulation

@Suite("A talk with a Realtime server on the command line", .serialized)
struct TalkRealtimeLiveTests {
    /// Writes somebody who speaks, is silent for so long, and speaks again.
    private static func write(_ parts: [(speech: Double, silence: Double)], to path: String) throws {
        var samples = [Float](repeating: 0, count: 48_000)
        for (index, part) in parts.enumerated() {
            samples += SyntheticSpeech.samples(
                frames: Int(part.speech * 48_000), seed: UInt64(3 + index), voice: .low, levelDecibels: -20)
            samples += [Float](repeating: 0, count: Int(part.silence * 48_000))
        }
        try AudioFile.write(samples, to: path)
    }

    /// Runs the command while the server, which is in this process, has the threads of Swift's pool.
    private static func duplex(_ arguments: [String]) async throws -> ChildProcess.Result {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Swift.Result { try ChildProcess.run(arguments, limit: 120) })
            }
        }
    }

    private static func hum(_ seconds: Double) -> [Int16] {
        (0..<Int(seconds * 24_000)).map { ($0 / 40).isMultiple(of: 2) ? 6_000 : -6_000 }
    }

    @Test("Given an answer that somebody speaks into, then the server is told where it was cut; its key stays secret")
    func interrupted() async throws {
        let folder = try TestFolder()
        try Self.write([(1.5, 4), (2, 1)], to: folder("in.wav"))
        try "sk-very-secret\n".write(toFile: folder("key"), atomically: true, encoding: .utf8)
        func talk() async throws -> (ScriptedRealtimeServer, ChildProcess.Result) {
            let server = try ScriptedRealtimeServer(answer: Self.hum(12), later: Self.hum(0.5))
            let result = try await Self.duplex(
                [
                    "talk", "--realtime", "ws://127.0.0.1:\(server.port)/v1/realtime?model=m", "--key-file",
                    folder("key"), "--input", folder("in.wav"), "--output", folder("out.wav"), "--json",
                ])
            return (server, result)
        }
        func isInterrupted(_ result: ChildProcess.Result) -> Bool {
            result.json?.first { $0["type"] as? String == "answered" }?["end"] as? String == "interrupted"
        }
        var (server, result) = try await talk()
        // Again where a busy machine has lost what was said
        for _ in 1..<4 where !isInterrupted(result) { (server, result) = try await talk() }
        #expect(result.exitCode == 0, "\(result.standardError)")
        let events = try #require(result.json)
        #expect(isInterrupted(result))
        let heard = try #require(events.first { $0["type"] as? String == "answer_ended" }?["heard_ms"] as? Double)
        let truncation = try #require(server.requests("conversation.item.truncate").first)
        // Whole milliseconds that were heard; the event tells tenths, rounded
        let end = Double(try #require(truncation["audio_end_ms"]?.integer))
        #expect(end <= heard + 0.05 && end > heard - 1.05, "\(end), \(heard)")
        #expect(!result.standardError.contains("very-secret"))
        #expect(!events.contains { "\($0)".contains("very-secret") })
    }

    @Test(
        "Given requests on standard input, when the talk is ready, then the server is asked to say, answer and know them"
    )
    func requests() async throws {
        let folder = try TestFolder()
        try AudioFile.write([Float](repeating: 0, count: 6 * 48_000), to: folder("in.wav"))
        let server = try ScriptedRealtimeServer(answer: Self.hum(0.3))
        let (port, input, output) = (server.port, folder("in.wav"), folder("out.wav"))
        let result = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Swift.Result {
                        let lines = Pipe()
                        var talk = try ChildProcess(
                            [
                                "talk", "--realtime", "ws://127.0.0.1:\(port)/", "--input", input, "--output", output,
                                "--requests", "--json",
                            ], limit: 120, input: .descriptor(lines.fileHandleForReading.fileDescriptor))
                        _ = try talk.event("ready")
                        let requests = [
                            #"{"agent":"update","parameters":{"page":"calendar"}}"#,
                            #"{"agent":"say","text":"One moment, please."}"#,
                        ]
                        try lines.fileHandleForWriting.write(
                            contentsOf: Data((requests.joined(separator: "\n") + "\n").utf8))
                        _ = try talk.event("answered")
                        try lines.fileHandleForWriting.write(
                            contentsOf: Data((#"{"agent":"ask","text":"What is next?"}"# + "\n").utf8))
                        _ = try talk.event("answered")
                        try lines.fileHandleForWriting.write(contentsOf: Data("nonsense\n".utf8))
                        let warning = try talk.event("warning")
                        #expect((warning["detail"] as? String)?.contains("no request") == true, "\(warning)")
                        try lines.fileHandleForWriting.close()
                        return talk.wait()
                    })
            }
        }
        #expect(result.exitCode == 0, "\(result.standardError)")
        #expect(
            server.requests("session.update").contains {
                $0["session"]?["instructions"]?.string?.contains("calendar") == true
            })
        #expect(
            server.requests("response.create").first?["response"]?["instructions"]?.string?.contains("One moment")
                == true)
        let items = server.requests("conversation.item.create")
        #expect(
            items.count == 1
                && items.first.map { String(decoding: $0.encoded, as: UTF8.self) }?.contains("What is next?") == true)
        #expect(server.requests("response.create").count == 2)
    }

    @Test("a server that is not there, no server at all, and a key in plaintext")
    func refused() throws {
        let folder = try TestFolder()
        try Self.write([(1, 1)], to: folder("in.wav"))
        try "sk-very-secret\n".write(toFile: folder("key"), atomically: true, encoding: .utf8)
        func talk(_ url: String, _ more: String...) throws -> (code: Int32, error: String) {
            let arguments = ["talk", "--realtime", url, "--input", folder("in.wav")] + more
            let result = try ChildProcess.run(arguments, limit: 60)
            return (result.exitCode, result.standardError)
        }
        let nobody = try talk("ws://127.0.0.1:1/")
        #expect(nobody.code == 69 && nobody.error.contains("127.0.0.1:1 does not answer"), "\(nobody)")
        #expect(try talk("http://127.0.0.1/").code == 64)
        #expect(try talk("ws://example.org/", "--key-file", folder("key")).code == 64)
        #expect(try talk("wss://127.0.0.1:1/", "--key-file", folder("none")).code == 66)
        #expect(try talk("ws://127.0.0.1:1/", "--offline").code == 64)
    }
}
