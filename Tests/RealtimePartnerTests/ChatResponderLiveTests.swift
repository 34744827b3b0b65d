import ScriptedRealtime
import Synchronization
import Testing
import VoiceDialog
import VoiceEngine
import VoicePartner
import VoiceWeb

@testable import RealtimePartner

@Suite("A server of chat completions as the responder", .serialized, .timeLimit(.minutes(1)))
struct ChatResponderLiveTests {
    private static func responder(_ port: UInt16, key: String? = "sk-secret") throws -> ChatResponder {
        let address = try #require(WebAddress(http: "http://127.0.0.1:\(port)/v1/chat/completions"))
        return ChatResponder(WebSocketRequest(address), model: "m", key: key)
    }

    private static let dialogue: Dialogue = {
        var dialogue = Dialogue()
        dialogue.append(.talker("tell me a story"))
        dialogue.append(.partner(SpokenText(said: "Once upon a time.", heard: "Once upon", end: .interrupted)))
        dialogue.append(.talker("go on"))
        return dialogue
    }()

    /// What is said, and how it ends.
    private static func answer(
        _ responder: ChatResponder, limit: Int = .max
    ) async -> (said: [String], error: PartnerError?) {
        let pieces = Pieces()
        do throws(PartnerError) {
            try await responder.respond(to: dialogue) { piece in
                pieces.all.withLock { said in
                    said.append(piece)
                    return said.count < limit
                }
            }
            return (pieces.all.withLock { $0 }, nil)
        } catch {
            return (pieces.all.withLock { $0 }, error)
        }
    }

    private final class Pieces: Sendable {
        let all = Mutex<[String]>([])
    }

    @Test("an answer is said as it comes; the server is told what was heard of the last one")
    func streamed() async throws {
        let server = try ScriptedChatServer { connection, number in
            if number == 1 {
                connection.begin()
                for word in ["There ", "was ", "a lighthouse."] { connection.say(word) }
                connection.write("data: [DONE]\n\n")
            } else {
                let body = "{\"choices\":[{\"message\":{\"content\":\"Whole.\"}}]}"
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
        }
        let first = await Self.answer(try Self.responder(server.port))
        #expect(first.said.joined() == "There was a lighthouse." && first.error == nil)
        let second = await Self.answer(try Self.responder(server.port))
        #expect(second.said == ["Whole."] && second.error == nil)
        let request = try #require(server.requests.first)
        #expect(request.head.hasPrefix("POST /v1/chat/completions HTTP/1.1\r\n"), "\(request.head)")
        #expect(request.head.lowercased().contains("authorization: bearer sk-secret"))
        let body = try JSON(parsing: request.body)
        #expect(
            body["messages"]?.array?.compactMap { $0["content"]?.string }.suffix(3) == [
                "tell me a story", "Once upon –", "go on",
            ])
    }

    @Test("what is not wanted any more closes the connection, by the listener or by the task")
    func cancelled() async throws {
        let closed = Mutex(0)
        let server = try ScriptedChatServer { connection, _ in
            connection.begin()
            connection.say("One.")
            connection.say("Two.")
            if connection.isClosed(within: 10) { closed.withLock { $0 += 1 } }
        }
        let responder = try Self.responder(server.port)
        let stopped = await Self.answer(responder, limit: 1)
        #expect(stopped.said == ["One."] || stopped.said == ["One.Two."])
        #expect(stopped.error == nil)
        let task = Task { await Self.answer(responder) }
        while server.requests.count < 2 { try await Task.sleep(for: .milliseconds(10)) }
        task.cancel()
        #expect(await task.value.error == nil)
        while closed.withLock({ $0 }) < 2 { try await Task.sleep(for: .milliseconds(10)) }
    }

    @Test("errors have codes, and the server's words")
    func errors() async throws {
        let server = try ScriptedChatServer { connection, number in
            switch number {
            case 1:
                connection.begin(status: "401 Unauthorized", type: "application/json")
                connection.write("{\"error\":{\"message\":\"You did not provide a key\"}}")
            case 2:
                connection.begin(status: "429 Too Many", type: "application/json")
                connection.write("{\"error\":{\"message\":\"Slower\"}}")
            case 3: connection.write("hello, I am no HTTP\r\n\r\n")
            case 4:
                connection.begin()
                connection.say("Half")
            case 5:
                connection.begin()
                while connection.say(String(repeating: "endless ", count: 1_000)) {}
            case 6: connection.write("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")
            default: break
            }
        }
        let keyless = await Self.answer(try Self.responder(server.port, key: nil)).error
        #expect(keyless?.code == "dialog.noKey" && keyless?.explanation.contains("You did not provide a key") == true)
        let responder = try Self.responder(server.port)
        let patience = await Self.answer(responder).error
        #expect(patience?.code == "dialog.rateLimited" && patience?.explanation.contains("Slower") == true)
        var codes: [String?] = []
        for _ in 3...7 { codes.append(await Self.answer(responder).error?.code) }
        #expect(codes[1] == "dialog.lost" || codes[1] == "dialog.malformed")
        #expect(codes[2] == "dialog.tooLarge")
        #expect(codes[3] == "dialog.refused", "\(codes)")
        #expect(codes.allSatisfy { $0 != nil }, "\(codes)")
        let nobody = await Self.answer(try Self.responder(1)).error
        #expect(nobody?.code == "dialog.unreachable")
        #expect(nobody?.explanation.contains("sk-secret") == false)
    }
}
