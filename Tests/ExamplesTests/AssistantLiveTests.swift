import RealtimePartner
import ScriptedRealtime
import Synchronization
import Testing
import VoiceEngine
import VoicePartner

@testable import Assistant

@Suite("Example: the assistant", .serialized, .timeLimit(.minutes(2)))
struct AssistantLiveTests {
    /// Somebody, an assistant, and a server with a script.
    private struct Stage {
        let engine: VoiceEngine
        let assistant: Assistant
        let conversation: Conversation
        let recogniser: ScriptedRecogniser
        let shown = Shown<Row>()
        private let talk: Task<Void, Never>

        init(
            port: UInt16, key: String? = "sk-secret", hearing talker: VoiceEngine? = nil,
            understanding text: Result<String, PartnerError> = .success("what is the time"),
            speaking synthesiser: any Synthesiser = HummingSynthesiser()
        ) async throws {
            recogniser = ScriptedRecogniser(text)
            engine = try talker ?? ExamplesTests.engine()
            try await engine.start()
            conversation = try await engine.converse()
            let assistant = Assistant(
                in: conversation, recogniser: recogniser,
                responder: try ChatResponder(
                    url: "http://127.0.0.1:\(port)/v1/chat/completions", model: "m", key: key),
                synthesiser: synthesiser, show: shown.append)
            self.assistant = assistant
            talk = Task { await assistant.run() }
        }

        /// Asks, and waits until all of the answer was heard.
        func hearAnswer(to question: String) async throws -> Bool {
            let before = shown.lines.count
            await assistant.ask(question)
            return try await shown.wait { lines in
                lines.dropFirst(before).contains { if case .assistant(let text) = $0 { !text.isCut } else { false } }
            }
        }

        func end() async {
            await engine.stop()
            await talk.value
        }
    }

    /// A server that says this to every question.
    private static func server(saying sentences: String...) throws -> ScriptedChatServer {
        try ScriptedChatServer { connection, _ in
            connection.begin()
            for sentence in sentences { connection.say(sentence) }
            connection.write("data: [DONE]\n\n")
        }
    }

    private static func whole(_ text: String) -> Row {
        .assistant(SpokenText(said: text, heard: text, end: .complete))
    }

    @Test("Given a typed question, then its answer is spoken as it comes, and shown when it was heard")
    func typed() async throws {
        let server = try Self.server(saying: "Good ", "morning. How", " are you?")
        let stage = try await Stage(port: server.port)
        #expect(try await stage.hearAnswer(to: "hello"))
        #expect(stage.shown.lines == [.you("hello"), Self.whole("Good morning. How are you? ")])
        #expect(stage.conversation.history.turns.last?.answer?.heardMilliseconds ?? 0 > 400)
        await stage.end()
    }

    @Test("Given a spoken question, then it is recognised from its first word on, and answered")
    func spoken() async throws {
        let server = try Self.server(saying: "Noon.")
        let stage = try await Stage(port: server.port, hearing: try engine(hearing: somebody))
        #expect(try await stage.shown.wait { $0.contains(Self.whole("Noon. ")) })
        #expect(stage.shown.lines.first == .you("what is the time"))
        #expect(stage.recogniser.heardFrames > 16_000)
        await stage.end()
    }

    @Test(
        "Given speech of which nothing is understood, then nothing is asked or shown, and the next question is answered"
    )
    func emptySpeech() async throws {
        let server = try Self.server(saying: "Yes.")
        let stage = try await Stage(
            port: server.port, hearing: try engine(hearing: somebody), understanding: .success(""))
        while stage.recogniser.heardFrames == 0 { try await Task.sleep(for: .milliseconds(5)) }
        // The turn is given back: its answer ends, and nothing of it was heard.
        while stage.conversation.state != .idle { try await Task.sleep(for: .milliseconds(5)) }
        #expect(server.requests.isEmpty && stage.shown.lines.isEmpty)
        #expect(try await stage.hearAnswer(to: "hello"))
        #expect(stage.shown.lines == [.you("hello"), Self.whole("Yes. ")])
        await stage.end()
    }

    @Test(
        "Given a recogniser or a synthesiser that fails, then a row says so, and the next question is asked all the same"
    )
    func failedStages() async throws {
        let server = try Self.server(saying: "Yes.")
        let deaf = PartnerError.recogniserFailed("no model")
        let first = try await Stage(
            port: server.port, hearing: try engine(hearing: somebody), understanding: .failure(deaf))
        #expect(try await first.shown.wait { !$0.isEmpty })
        #expect(first.shown.lines.allSatisfy { $0 == .failed(deaf) })
        #expect(try await first.hearAnswer(to: "hello"))
        await first.end()
        let mute = PartnerError.synthesiserFailed("no voice")
        let second = try await Stage(port: server.port, speaking: FailingSynthesiser(error: mute))
        for question in ["hello", "again"] {
            await second.assistant.ask(question)
            #expect(try await second.shown.wait { $0.suffix(2) == [.you(question), .failed(mute)] })
        }
        await second.end()
    }

    @Test("Given an answer that is heard, when it is reset, then it is cut, and the server knows nothing of it")
    func resetWhileSpeaking() async throws {
        let server = try Self.server(saying: String(repeating: "On and on. ", count: 100))
        let stage = try await Stage(port: server.port)
        await stage.assistant.ask("talk")
        while stage.conversation.state != .responding { try await Task.sleep(for: .milliseconds(5)) }
        await stage.assistant.reset()
        #expect(try await stage.shown.wait { $0.contains(.reset) })
        #expect(stage.conversation.state == .idle)
        await stage.assistant.ask("hello")
        while server.requests.count < 2 { try await Task.sleep(for: .milliseconds(5)) }
        let second = String(decoding: try #require(server.requests.last).body, as: UTF8.self)
        #expect(second.contains("hello") && !second.contains("talk") && !second.contains("On and on"))
        await stage.end()
    }

    @Test("Given an answer, when more is asked, then the server knows both; after a reset it knows nothing of them")
    func context() async throws {
        let server = try Self.server(saying: "Yes.")
        let stage = try await Stage(port: server.port)
        #expect(try await stage.hearAnswer(to: "first"))
        #expect(try await stage.hearAnswer(to: "second"))
        await stage.assistant.reset()
        #expect(try await stage.hearAnswer(to: "third"))
        #expect(stage.shown.lines.contains(.reset))
        let bodies = server.requests.map { String(decoding: $0.body, as: UTF8.self) }
        try #require(bodies.count == 3)
        #expect(bodies[1].contains("first") && bodies[1].contains("Yes.") && bodies[1].contains("second"))
        #expect(!bodies[2].contains("first") && !bodies[2].contains("second") && bodies[2].contains("third"))
        await stage.end()
    }

    @Test("Given a server that thinks, when it is cancelled, then the connection is closed, and the question forgotten")
    func cancelledWhileThinking() async throws {
        let isClosed = Mutex(false)
        let server = try ScriptedChatServer { connection, number in
            connection.begin()
            guard number == 1 else {
                connection.say("Well.")
                connection.write("data: [DONE]\n\n")
                return
            }
            if connection.isClosed(within: 20) { isClosed.withLock { $0 = true } }
        }
        let stage = try await Stage(port: server.port)
        await stage.assistant.ask("how long is a piece of string")
        while server.requests.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        await stage.assistant.cancel()
        #expect(try await stage.shown.wait { $0 == [.you("how long is a piece of string"), .cancelled] })
        #expect(try await stage.hearAnswer(to: "and now"))
        while !isClosed.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
        let second = String(decoding: try #require(server.requests.last).body, as: UTF8.self)
        #expect(second.contains("and now") && !second.contains("string"))
        await stage.end()
    }

    @Test("Given an answer that is heard, when it is cancelled, then it is cut, and the server is told what was heard")
    func cancelledWhileSpeaking() async throws {
        let story = "Once upon a time there was a keeper of a lighthouse who counted the ships that went by. "
        let server = try Self.server(saying: String(repeating: story, count: 20), "The end.")
        let stage = try await Stage(port: server.port)
        await stage.assistant.ask("tell me a story")
        while stage.conversation.state != .responding { try await Task.sleep(for: .milliseconds(5)) }
        while try await stage.engine.statistics().farEnds.first?.played ?? .zero < .milliseconds(600) {
            try await Task.sleep(for: .milliseconds(5))
        }
        await stage.assistant.cancel()
        #expect(try await stage.shown.wait { $0.count == 3 })
        guard case .assistant(let text) = stage.shown.lines.last else {
            return #expect(Bool(false), "\(stage.shown.lines)")
        }
        #expect(text.isCut && text.heard.hasPrefix("Once") && text.heard.count < 20 * story.count)
        #expect(stage.shown.lines.contains(.cancelled))
        await stage.assistant.ask("go on")
        while server.requests.count < 2 { try await Task.sleep(for: .milliseconds(5)) }
        let second = String(decoding: try #require(server.requests.last).body, as: UTF8.self)
        #expect(second.contains("\(text.heard) –") && !second.contains("The end"))
        await stage.end()
    }

    @Test("Given an answer that is heard, when something else is asked, then that is answered")
    func interrupted() async throws {
        let server = try ScriptedChatServer { connection, number in
            connection.begin()
            connection.say(number == 1 ? String(repeating: "On and on. ", count: 100) : "Stopped.")
            connection.write("data: [DONE]\n\n")
        }
        let stage = try await Stage(port: server.port)
        await stage.assistant.ask("talk")
        while stage.conversation.state != .responding { try await Task.sleep(for: .milliseconds(5)) }
        #expect(try await stage.hearAnswer(to: "stop"))
        #expect(stage.shown.lines.last == Self.whole("Stopped. "))
        await stage.end()
    }

    /// What a server does, and the row that comes of it.
    enum Failure: String, CaseIterable, Sendable {
        case missingKey, wrongKey, noNetwork, unknownModel, malformed, noAnswer, refused, exhausted, outOfOrder,
            cutShort
        case badRequest, endless, said

        /// The code, and a piece of the explanation.
        var row: (code: String, text: String) {
            switch self {
            case .missingKey: ("dialog.noKey", "You did not provide a key")
            case .wrongKey: ("dialog.unauthorised", "Incorrect API key")
            case .unknownModel: ("dialog.notFound", "no such model")
            case .noAnswer: ("dialog.malformed", "sent no answer")
            case .exhausted: ("dialog.quotaExhausted", "You exceeded your quota")
            case .outOfOrder: ("dialog.lost", "HTTP 503")
            case .badRequest: ("dialog.refused", "HTTP 400")
            case .endless: ("dialog.tooLarge", "")
            case .said: ("dialog.server", "Overloaded")
            case .noNetwork: ("dialog.unreachable", "127.0.0.1")
            case .malformed: ("dialog.malformed", "")
            case .refused: ("dialog.rateLimited", "Slower, please")
            case .cutShort: ("dialog.malformed", "ended before its answer did")
            }
        }

        func play(_ connection: ScriptedConnection) {
            switch self {
            case .missingKey:
                connection.begin(status: "401 Unauthorized", type: "application/json")
                connection.write("{\"error\":{\"message\":\"You did not provide a key\"}}")
            case .noNetwork: break
            case .wrongKey: refuse(connection, "401 Unauthorized", "Incorrect API key")
            case .unknownModel: refuse(connection, "404 Not Found", "no such model")
            case .noAnswer:
                connection.begin(type: "application/json")
                connection.write("{\"choices\":[]}")
            case .exhausted:
                refuse(connection, "429 Too Many Requests", "You exceeded your quota", code: "insufficient_quota")
            case .outOfOrder: refuse(connection, "503 Service Unavailable", "down")
            case .badRequest: refuse(connection, "400 Bad Request", "what?")
            case .endless:
                connection.begin(type: "application/json")
                let piece = String(repeating: " ", count: 1 << 16)
                for _ in 0..<1_000 where connection.write(piece) {}
            case .said:
                connection.begin(type: "application/json")
                connection.write("{\"error\":{\"message\":\"Overloaded\"}}")
            case .malformed:
                connection.begin(type: "application/json")
                connection.write("<html>Welcome to the hotel's network</html>")
            case .refused:
                connection.begin(status: "429 Too Many Requests", type: "application/json")
                connection.write("{\"error\":{\"message\":\"Slower, please\"}}")
            case .cutShort:
                connection.begin()
                connection.say("Half a sentence")
            }
        }

        private func refuse(_ connection: ScriptedConnection, _ status: String, _ words: String, code: String = "x") {
            connection.begin(status: status, type: "application/json")
            connection.write("{\"error\":{\"message\":\"\(words)\",\"code\":\"\(code)\"}}")
        }
    }

    @Test("Given what can go wrong, then a row says so, and the next question is answered", arguments: Failure.allCases)
    func failed(_ failure: Failure) async throws {
        let server = try ScriptedChatServer { connection, number in
            if number == 1 { return failure.play(connection) }
            connection.begin()
            connection.say("Fine.")
            connection.write("data: [DONE]\n\n")
        }
        let stage = try await Stage(
            port: failure == .noNetwork ? 1 : server.port, key: failure == .missingKey ? nil : "sk-secret")
        await stage.assistant.ask("hello")
        #expect(try await stage.shown.wait { $0.count == 2 })
        guard case .failed(let error) = stage.shown.lines.last else {
            return #expect(Bool(false), "\(stage.shown.lines)")
        }
        #expect(error.code == failure.row.code && error.explanation.contains(failure.row.text), "\(error)")
        #expect(stage.shown.lines.allSatisfy { !$0.description.contains("sk-secret") })
        if failure != .noNetwork { #expect(try await stage.hearAnswer(to: "and now")) }
        await stage.end()
    }

    @Test("a key goes to no other machine in plaintext")
    func plaintext() {
        #expect(throws: PartnerError.self) { try ChatResponder(url: "http://example.org/v1", model: "m", key: "k") }
        #expect(throws: PartnerError.self) { try ChatResponder(url: "http://127.evil.org/", model: "m", key: "k") }
        #expect(throws: PartnerError.self) { try ChatResponder(url: "ftp://example.org/", model: "m", key: nil) }
        #expect(throws: PartnerError.self) { try ChatResponder(url: "https://a.org/", model: "m", key: "k\r\nX: y") }
        #expect(throws: Never.self) { try ChatResponder(url: "https://example.org/v1", model: "m", key: "k") }
    }
}
