import ControlAPI
import Foundation
import Synchronization
import TestCases
import Testing
import VoiceDialog
import VoiceEngine
import VoiceRooms
import VoiceSimulation
import VoiceTransport
import VoiceWeb

@testable import ControlServer

@Suite("The control API over loopback", .serialized, .timeLimit(.minutes(3)))
struct ControlLiveTests {
    private static let secret = Array("a-secret-of-the-tests-with-32-bytes-or-more".utf8)

    /// A server, and two of its clients.
    private struct Stage {
        let server: ControlServer
        let anna: ControlClient
        let ben: ControlClient

        init(talks: Bool = false, change: (inout ControlConfiguration) -> Void = { _ in }) throws {
            var configuration = ControlConfiguration(
                clients: [
                    .init(name: "anna", key: Array("key-of-anna-0001".utf8)),
                    .init(name: "ben", key: Array("key-of-ben-00002".utf8)),
                ], recogniser: ScriptedRecogniser(text: "hello there"), responder: Echo(),
                synthesiser: ChatteringSynthesiser()
            ) {
                Int64(Date().timeIntervalSince1970)
            }
            configuration.device = { card(talks: talks) }
            configuration.issuer = TokenIssuer(key: try TokenKey(name: "test", secret: secret))
            change(&configuration)
            server = try ControlServer(configuration)
            anna = ControlClient(port: server.port, key: "key-of-anna-0001")
            ben = ControlClient(port: server.port, key: "key-of-ben-00002")
        }
    }

    private static let wav = WaveFile.encoded(
        SyntheticSpeech.samples(frames: 48_000, seed: 1, levelDecibels: -20), rate: 48_000)
    /// 12 s: longer than what the far end's queue takes at once, and than a busy machine takes for an answer.
    private static let longWAV = WaveFile.encoded(
        SyntheticSpeech.samples(frames: 12 * 48_000, seed: 2, levelDecibels: -20), rate: 48_000)

    @Test("Given no key, a wrong one, a page or another host, then it is refused; the document is for all")
    func access() async throws {
        let stage = try Stage()
        let stranger = ControlClient(port: stage.server.port, key: nil)
        #expect(try await stage.anna.ask("GET", "/v1/status").status == 200)
        #expect(try await stranger.ask("GET", "/openapi.json").json == OpenAPI.document)
        let refused = try await stranger.ask("GET", "/v1/status")
        #expect(refused.status == 401 && refused.head.contains("www-authenticate: Bearer"))
        #expect(refused.code == "control.unauthorised")
        let wrong = ControlClient(port: stage.server.port, key: "key-of-anna-0002")
        #expect(try await wrong.ask("DELETE", "/v1/sessions/x").status == 401)
        for header in ["Origin: http://localhost", "Host: rebound.example.org"] {
            let foreign = try await stage.anna.ask("GET", "/v1/status", headers: [header])
            #expect(foreign.status == 403 && foreign.code == "control.forbidden", "\(header)")
        }
        let method = try await stage.anna.ask("TRACE", "/v1/sessions")
        #expect(method.status == 405 && method.head.contains("allow: GET, POST"))
        await stage.server.stop()
    }

    @Test("Given hostile bytes, then each is answered by its status, and the server goes on")
    func hostile() async throws {
        let stage = try Stage()
        let head = "Host: localhost\r\nAuthorization: Bearer key-of-anna-0001\r\n"
        let cases: [(String, [Int])] = [
            ("\u{16}\u{3}\u{1}garbage\r\n\r\n", [400]),
            ("GET /v1/status HTTP/1.1\r\n\(head)A: \(String(repeating: "a", count: 30_000))\r\n\r\n", [431]),
            ("POST /v1/sessions HTTP/1.1\r\n\(head)Content-Length: 999999999\r\n\r\n", [413]),
            ("POST /v1/sessions HTTP/1.1\r\n\(head)Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", [411]),
            ("GET /../../etc/passwd HTTP/1.1\r\n\(head)Connection: close\r\n\r\n", [404]),
            ("GET /v1/sessions/%00/events HTTP/1.1\r\n\(head)Connection: close\r\n\r\n", [404]),
            (
                "GET /v1/status HTTP/1.1\r\n\(head)\r\nGET /v1/nothing HTTP/1.1\r\n\(head)\r\n"
                    + "GET /v1/status HTTP/1.1\r\n\(head)Connection: close\r\n\r\n", [200, 404, 200]
            ),
        ]
        for (text, statuses) in cases {
            let answers = try await stage.anna.raw(Array(text.utf8))
            #expect(answers.map(\.status) == statuses, "\(text.prefix(60))")
        }
        await stage.server.stop()
    }

    @Test("Given as many connections as there may be, without a key or of one client at rest, then others are served")
    func crowd() async throws {
        let stage = try Stage()
        /// So many connections, each of which has had an answer of this status.
        func hold(_ status: Int, _ text: String) throws -> [OpenConnection] {
            try (0..<64).map { _ in
                let connection = try OpenConnection(port: stage.server.port)
                connection.say(text)
                #expect(connection.answer().hasPrefix("HTTP/1.1 \(status) "))
                return connection
            }
        }
        let get = "GET /v1/status HTTP/1.1\r\nHost: localhost\r\n"
        let silent = try (0..<64).map { _ in try OpenConnection(port: stage.server.port) }
        #expect(try await stage.anna.ask("GET", "/v1/status").status == 200)
        let strangers = try hold(401, get + "\r\n")
        for _ in 0..<3 { #expect(try await stage.anna.ask("GET", "/v1/status").status == 200) }
        let annas = try hold(200, get + "Authorization: Bearer key-of-anna-0001\r\n\r\n")
        for _ in 0..<3 { #expect(try await stage.ben.ask("GET", "/v1/status").status == 200) }
        withExtendedLifetime((silent, strangers, annas)) {}
        await stage.server.stop()
    }

    @Test(
        "Given more requests of one client at once than it may have, then those beyond are told so, and others served")
    func places() async throws {
        let stage = try Stage()
        let session = try await stage.anna.makeSession()
        _ = try await stage.anna.event(session, "ready")
        let wait = "GET /v1/sessions/\(session)/events?after=1000000&wait=10 HTTP/1.1\r\nHost: localhost\r\n"
        let waiting = try (0..<RequestPlaces.limit + 6).map { _ in
            let connection = try OpenConnection(port: stage.server.port)
            connection.say(wait + "Authorization: Bearer key-of-anna-0001\r\n\r\n")
            return connection
        }
        #expect(try await stage.ben.ask("GET", "/v1/status").status == 200)
        let answers = waiting.map { $0.answer() }
        #expect(answers.count { $0.hasPrefix("HTTP/1.1 200 ") } == RequestPlaces.limit)
        #expect(answers.count { $0.hasPrefix("HTTP/1.1 429 ") && $0.contains("control.busy") } == 6)
        // Their places are free again.
        #expect(try await stage.anna.ask("GET", "/v1/status").status == 200)
        await stage.server.stop()
    }

    @Test("Given a WAV, then transcript, answer and the answer's sound come back; not of what is no sound")
    func partner() async throws {
        let stage = try Stage()
        let answer = try await stage.anna.ask("POST", "/v1/partner", Self.wav, type: "audio/wav")
        #expect(answer.status == 200)
        #expect(answer.json["transcript"]?.string == "hello there")
        #expect(answer.json["answer"]?.string == "You said: hello there. Well.")
        let sound = try #require(answer.json["sound"]?.string.flatMap(Base64.decode))
        #expect(sound.count > 44 + 48_000 && sound.starts(with: "RIFF".utf8))
        let broken = try await stage.anna.ask("POST", "/v1/partner", Array("no sound".utf8), type: "audio/wav")
        #expect(broken.status == 422 && broken.json["error"]?["code"]?.string == "file.notAudio")
        #expect(try await stage.ben.ask("GET", "/v1/partner").json["answered"]?.integer == 1)
        await stage.server.stop()
    }

    @Test("Given somebody who speaks, then the bot is told what was said, answers, plays, and interrupts")
    func bot() async throws {
        let stage = try Stage(talks: true)
        let session = try await stage.anna.makeSession()
        let path = "/v1/sessions/\(session)"
        let heard = try await stage.anna.event(session, "recognised")
        #expect(heard["text"]?.string == "hello there")
        let (turn, said) = try await stage.anna.answer(session, ["text": "Good day."])
        #expect(said.status == 202 && said.json["turn"] == turn, "\(said.json)")
        let again = try await stage.anna.ask("POST", "\(path)/say", json: ["text": "Once more.", "turn": turn])
        #expect(again.status == 409 && again.json["error"]?["code"]?.string.map { $0.hasPrefix("turn.") } == true)
        let answered = try await stage.anna.event(session, "answered")
        #expect(answered["said"]?.string == "Good day. " && answered["isCut"] == false)
        let played = try await stage.anna.ask("POST", "\(path)/play", Self.longWAV, type: "audio/wav")
        #expect(played.status == 202, "\(played.json)")
        _ = try await stage.anna.event(session) {
            $0["type"]?.string == "answerStarted" && $0["turn"] == played.json["turn"]
        }
        let stopped = try await stage.anna.ask("POST", "\(path)/interrupt")
        #expect(stopped.status == 200 && stopped.json["wasSpeaking"] == true && stopped.json["heardMs"] != nil)
        #expect(try await stage.anna.ask("GET", path).json["state"]?.string == "idle")
        #expect(try await stage.anna.ask("DELETE", path).status == 204)
        #expect(try await stage.anna.ask("GET", path).status == 404)
        await stage.server.stop()
    }

    @Test("Given a bot that is cut, in its answer or before its first word, then it is told what was heard")
    func cut() async throws {
        let stage = try Stage()
        let session = try await stage.anna.makeSession()
        let path = "/v1/sessions/\(session)"
        _ = try await stage.anna.event(session, "ready")
        let story = String(repeating: "Once upon a time. ", count: 20)
        for isHeard in [true, false] {
            let said = try await stage.anna.ask("POST", "\(path)/say", json: ["text": .string(story)])
            #expect(said.status == 202, "\(said.json)")
            if isHeard {
                _ = try await stage.anna.event(session) {
                    $0["type"]?.string == "answerStarted" && $0["turn"] == said.json["turn"]
                }
            }
            #expect(try await stage.anna.ask("POST", "\(path)/interrupt").status == 200)
            let answered = try await stage.anna.event(session) {
                $0["type"]?.string == "answered" && $0["turn"] == said.json["turn"]
            }
            let (text, heard) = (answered["said"]?.string ?? "", answered["heard"]?.string ?? "")
            #expect(text.hasPrefix(heard) && heard.count < story.count, "\(answered)")
            if isHeard { #expect(!text.isEmpty && answered["isCut"] == true, "\(answered)") }
        }
        await stage.server.stop()
    }

    @Test(
        "Given an answer in pieces, then it is spoken as one, sentences across pieces whole; a sound goes on behind it")
    func pieces() async throws {
        let stage = try Stage(talks: true)
        let session = try await stage.anna.makeSession()
        let path = "/v1/sessions/\(session)"
        let (turn, begun) = try await stage.anna.answer(session, ["text": "Good d", "more": true])
        #expect(begun.status == 202 && begun.json["turn"] == turn, "\(begun.json)")
        func say(_ text: String, _ more: Bool) async throws -> ControlClient.Answer {
            try await stage.anna.inTime(
                "\(path)/say", json: ["text": .string(text), "turn": turn, "more": .bool(more)])
        }
        for text in ["ay. How ", "are you"] {
            let said = try await say(text, true)
            #expect(said.status == 202 && said.json["turn"] == turn, "\(said.json)")
            #expect((1...2).contains(said.json["waiting"]?.integer ?? 0))
        }
        let sound = try await stage.anna.inTime("\(path)/play?turn=\(turn.integer ?? 0)&more=1", Self.wav)
        #expect(sound.status == 202 && sound.json["turn"] == turn, "\(sound.json)")
        #expect(try await say("Well.", false).status == 202)
        let answered = try await stage.anna.event(session, "answered")
        #expect(answered["said"]?.string == "Good day. How are you Well. " && answered["isCut"] == false, "\(answered)")
        let late = try await say("More.", false)
        #expect(late.status == 409 && late.json["error"]?["code"]?.string.map { $0.hasPrefix("turn.") } == true)
        await stage.server.stop()
    }

    @Test("Given pieces of a long sound, then two wait and no more; who brings nothing more ends it; a cut one is over")
    func boundedPieces() async throws {
        let stage = try Stage { $0.pieceTime = .milliseconds(300) }
        let session = try await stage.anna.makeSession()
        _ = try await stage.anna.event(session, "ready")
        let path = "/v1/sessions/\(session)"
        let long = Self.longWAV
        let first = try await stage.anna.ask("POST", "\(path)/play?more=1", long, type: "audio/wav")
        let turn = try #require(first.json["turn"]?.integer, "\(first.json)")
        var statuses: [Int] = []
        var codes: [String?] = []
        for _ in 0..<20 where statuses.last != 429 {
            let piece = try await stage.anna.ask("POST", "\(path)/play?turn=\(turn)&more=1", long, type: "audio/wav")
            statuses.append(piece.status)
            codes.append(piece.code)
        }
        #expect(codes.last == "control.busy")
        // Two that wait, and what the far end's queue of some seconds has taken meanwhile.
        #expect(statuses.last == 429 && statuses.count <= 8, "\(statuses)")
        #expect(statuses.dropLast().allSatisfy { $0 == 202 })
        _ = try await stage.anna.event(session) {
            $0["type"]?.string == "answerStarted" && $0["turn"]?.integer == turn
        }
        #expect(try await stage.anna.ask("POST", "\(path)/interrupt").json["wasSpeaking"] == true)
        let cut = try await stage.anna.ask("POST", "\(path)/play?turn=\(turn)", long, type: "audio/wav")
        #expect(cut.status == 409, "\(cut.json)")
        // Nothing follows the first piece of the next one.
        let left = try await stage.anna.ask("POST", "\(path)/say", json: ["text": "One.", "more": true])
        #expect(left.status == 202, "\(left.json)")
        let answered = try await stage.anna.event(session) {
            $0["type"]?.string == "answered" && $0["turn"] == left.json["turn"]
        }
        #expect(answered["said"]?.string == "One. " && answered["isCut"] == false)
        await stage.server.stop()
    }

    @Test("Given sounds that a client brings at once, then one of a session is read at a time, and others are served")
    func soundsAtOnce() async throws {
        let stage = try Stage()
        let session = try await stage.anna.makeSession()
        _ = try await stage.anna.event(session, "ready")
        // Whoever decodes is held up
        let gate = DispatchSemaphore(value: 0)
        let holding = Task { await PartnerDesk.decoder.run { gate.wait() } }
        let head = "POST /v1/sessions/\(session)/play HTTP/1.1\r\nHost: localhost\r\nContent-Type: audio/wav\r\n"
        let both = try (0..<2).map { _ in
            let connection = try OpenConnection(port: stage.server.port)
            connection.say(head + "Authorization: Bearer key-of-anna-0001\r\nContent-Length: 8\r\n\r\nno sound")
            return connection
        }
        var first = ""
        for _ in 0..<2_000 where first.isEmpty {
            try await Task.sleep(for: .milliseconds(5))
            first = both.map { $0.answerSoFar() }.joined()
        }
        #expect(first.hasPrefix("HTTP/1.1 429 ") && first.contains("control.busy"), "\(first)")
        #expect(try await stage.ben.ask("GET", "/v1/status").status == 200)
        gate.signal()
        await holding.value
        var second = ""
        while second.isEmpty {
            try await Task.sleep(for: .milliseconds(5))
            second = both.map { $0.answerSoFar() }.joined()
        }
        #expect(second.hasPrefix("HTTP/1.1 422 "), "\(second)")
        await stage.server.stop()
    }

    @Test("Given a WebSocket, then a session's events come as they happen, from the first on, and end with it")
    func webSocket() async throws {
        let stage = try Stage()
        let session = try await stage.anna.makeSession()
        let url = "ws://127.0.0.1:\(stage.server.port)/v1/sessions/\(session)/events"
        func request(_ key: String) throws -> WebSocketRequest {
            var request = WebSocketRequest(try #require(WebAddress(url)))
            request.headers = [("Authorization", "Bearer \(key)")]
            return request
        }
        let stranger = try WebSocketClient(try request("key-of-ben-00002"))
        guard case .ended = await stranger.link.next() else { return #expect(Bool(false), "Ben got Anna's events") }
        let client = try WebSocketClient(try request("key-of-anna-0001"))
        #expect(await client.link.next() == .opened)
        var types: [String] = []
        var numbers: [Int] = []
        while let event = await client.link.next() {
            guard case .message(let bytes) = event else { break }
            let json = try JSON(parsing: bytes)
            types.append(json["type"]?.string ?? "")
            numbers.append(json["number"]?.integer ?? 0)
            if types.last == "ready" {
                #expect(try await stage.anna.ask("DELETE", "/v1/sessions/\(session)").status == 204)
            }
        }
        #expect(types.first == "starting" && types.contains("ready") && types.last == "ended", "\(types)")
        #expect(numbers == Array(1...numbers.count))
        await stage.server.stop()
    }

    @Test("Given two clients at once, then neither sees, uses, interrupts or crowds out what is the other's")
    func apart() async throws {
        let stage = try Stage(talks: true)
        let (annas, bens) = (try await stage.anna.makeSession(), try await stage.ben.makeSession())
        for (method, path) in [
            ("GET", ""), ("DELETE", ""), ("POST", "/interrupt"), ("GET", "/events"),
        ] {
            #expect(try await stage.ben.ask(method, "/v1/sessions/\(annas)\(path)").status == 404)
        }
        #expect(try await stage.ben.ask("POST", "/v1/sessions/\(annas)/say", json: ["text": "x"]).status == 404)
        let mine = try await stage.ben.ask("GET", "/v1/sessions").json["sessions"]?.array
        #expect(mine?.compactMap { $0["session"]?.string } == [bens])
        _ = try await stage.anna.event(annas, "recognised")
        _ = try await stage.ben.event(bens, "recognised")
        // Twelve seconds
        let text = (0..<3).map { _ in "A long answer that goes on for a while, so that somebody may stop it." }
            .joined(separator: " ")
        for (client, session) in [(stage.anna, annas), (stage.ben, bens)] {
            let said = try await client.sayWhenFree(session, text)
            #expect(said.status == 202, "\(said.json)")
        }
        _ = try await stage.anna.event(annas, "answerStarted")
        let stopped = try await stage.anna.ask("POST", "/v1/sessions/\(annas)/interrupt")
        #expect(stopped.json["wasSpeaking"] == true)
        let whole = try await stage.ben.event(bens, "answered")
        #expect(whole["heard"]?.string == "\(text) " && whole["isCut"] == false, "\(whole)")
        // Anna takes all that one client may have; Ben still gets his.
        for _ in 0..<3 { _ = try await stage.anna.makeSession() }
        let crowded = try await stage.anna.ask("POST", "/v1/sessions", json: [:])
        #expect(crowded.status == 429 && crowded.code == "control.tooManySessions")
        _ = try await stage.ben.makeSession()
        await stage.server.stop()
    }

    @Test("Given two partners who are spoken to at once, then both understand, though they have one recogniser")
    func twoPartners() async throws {
        let stage = try Stage(talks: true) { $0.recogniser = OneTurnRecogniser() }
        let partner: JSON = ["answers": "partner"]
        let (annas, bens) = (try await stage.anna.makeSession(partner), try await stage.ben.makeSession(partner))
        for (client, session) in [(stage.anna, annas), (stage.ben, bens)] {
            let heard = try await client.event(session, "recognised")
            #expect(heard["text"]?.string?.hasSuffix("frames") == true, "\(heard)")
        }
        await stage.server.stop()
    }

    @Test("Given a room, then two bots in it hear each other; a server that is none is told by the session")
    func room() async throws {
        let key = try TokenKey(name: "test", secret: Self.secret)
        let rooms = RoomServer(verifier: TokenVerifier(keys: [key]))
        let port = try rooms.start()
        let stage = try Stage()
        func participant(_ client: ControlClient, _ identity: String) async throws -> String {
            let token = try await client.ask(
                "POST", "/v1/token", json: ["room": "r", "identity": .string(identity)])
            #expect(token.status == 200)
            let json: JSON = [
                "server": .string("udp://127.0.0.1:\(port)"), "token": token.json["token"] ?? .null,
            ]
            return try await client.makeSession(json, at: "/v1/participants")
        }
        let annas = try await participant(stage.anna, "anna")
        _ = try await stage.anna.event(annas, "ready")
        let bens = try await participant(stage.ben, "ben")
        _ = try await stage.ben.event(bens, "ready")
        _ = try await stage.anna.event(annas, "participantJoined")
        let state = try await stage.ben.ask("GET", "/v1/sessions/\(bens)").json
        #expect(state["participants"] == ["anna"] && state["room"] == "r" && state["kind"] == "participant")
        let said = try await stage.anna.ask(
            "POST", "/v1/sessions/\(annas)/say", json: ["text": "Is anybody here who hears me?"])
        #expect(said.status == 202, "\(said.json)")
        #expect(try await stage.ben.event(bens, "recognised")["text"]?.string == "hello there")
        let replied = try await stage.ben.sayWhenFree(bens, "I do, and very well at that.")
        #expect(replied.status == 202, "\(replied.json)")
        #expect(try await stage.anna.event(annas, "recognised")["text"]?.string == "hello there")
        let nowhere = try await stage.anna.makeSession(
            ["server": "udp://127.0.0.1:x", "token": "t"], at: "/v1/participants")
        let failed = try await stage.anna.event(nowhere, "failed")
        #expect(failed["error"]?["code"]?.string == "configuration.invalid")
        #expect(try await stage.anna.ask("GET", "/v1/sessions/\(nowhere)").json["state"]?.string == "failed")
        await stage.server.stop()
        rooms.stop()
    }

    @Test(
        "Given the example in Python in a room, when somebody speaks to it, then it answers, and leaves when it is told to",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "there is no python3"))
    func pythonAgent() async throws {
        let rooms = RoomServer(verifier: TokenVerifier(keys: [try TokenKey(name: "test", secret: Self.secret)]))
        let server = "udp://127.0.0.1:\(try rooms.start())"
        let stage = try Stage { $0.recogniser = ScriptedRecogniser(text: "please stop") }
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let agent = try TestProgram(
            "/usr/bin/python3",
            [
                root.appending(path: "Examples/PythonControlAgent/main.py").path(),
                "http://127.0.0.1:\(stage.server.port)", server, "r",
            ], environment: ["CONTROL_KEY": "key-of-anna-0001"])
        let token = try await stage.ben.ask("POST", "/v1/token", json: ["room": "r", "identity": "ben"])
        let bens = try await stage.ben.makeSession(
            ["server": .string(server), "token": token.json["token"] ?? .null], at: "/v1/participants")
        _ = try await stage.ben.event(bens) {
            $0["type"]?.string == "participantJoined" || $0["type"]?.string == "ready"
        }
        while try await stage.ben.ask("GET", "/v1/sessions/\(bens)").json["participants"] != ["bot"] {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(
            try await stage.ben.ask(
                "POST", "/v1/sessions/\(bens)/say", json: ["text": "Would you stop now, please, and go?"]
            ).status == 202)
        // Again where a busy machine has lost it
        var waits = 0
        while agent.isRunning {
            try await Task.sleep(for: .milliseconds(100))
            waits += 1
            guard waits.isMultiple(of: 80) else { continue }
            _ = try await stage.ben.ask("POST", "/v1/sessions/\(bens)/say", json: ["text": "Would you stop, please?"])
        }
        let ended = try await agent.end()
        #expect(ended.status == 0, "\(ended.complaint)")
        for line in ["joined: r", "heard: please stop", "said: Goodbye.", "left"] {
            #expect(ended.text.contains("\(line)\n"), "\(ended.text)")
        }
        await stage.server.stop()
        rooms.stop()
    }

    @Test(
        "Given the lines for curl in docs/control.md, then each is answered by the status that it says",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl"), "there is no curl"))
    func documented() async throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/control.md"), encoding: .utf8)
        let lines = page.split(separator: "\n").filter { $0.hasPrefix("    curl ") }
        #expect(lines.count > 10)
        let stage = try Stage()
        let session = try await stage.anna.makeSession()
        _ = try await stage.anna.event(session, "ready")
        let folder = URL(filePath: NSTemporaryDirectory()).appending(path: "dv-control-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(Self.wav).write(to: folder.appending(path: "hello.wav"))
        let environment = [
            "PATH": "/usr/bin:/bin", "URL": "http://127.0.0.1:\(stage.server.port)", "KEY": "key-of-anna-0001",
            "SESSION": session,
        ]
        for line in lines {
            let status = try #require(line.split(separator: " ").last)
            // Debian 12's curl has --json.
            let shell = try TestProgram(
                "/bin/bash", ["-c", "curl() { command curl -s -o /dev/null -w '%{http_code}' \"$@\"; }\n\(line)"],
                environment: environment, in: folder.path())
            #expect(try await shell.end().text == status, "\(line)")
        }
        await stage.server.stop()
    }

    @Test("Given a server without a key for rooms, and a session in which the partner speaks, then both are told so")
    func without() async throws {
        let stage = try Stage { $0.issuer = nil }
        let keyless = try await stage.anna.ask("POST", "/v1/token", json: ["room": "r", "identity": "anna"])
        #expect(keyless.status == 409 && keyless.code == "control.noRoomKey")
        let session = try await stage.anna.makeSession(["answers": "partner"])
        _ = try await stage.anna.event(session, "ready")
        let answered = try await stage.anna.ask("POST", "/v1/sessions/\(session)/say", json: ["text": "Hello."])
        #expect(answered.status == 409 && answered.code == "control.partnerAnswers")
        await stage.server.stop()
    }

    @Test("Given a session that nobody uses, then it ends")
    func idle() async throws {
        let stage = try Stage { $0.limits.idle = .zero }
        let session = try await stage.anna.makeSession()
        for _ in 0..<400 where try await stage.ben.ask("GET", "/v1/status").json["sessions"] != 0 {
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(try await stage.anna.ask("GET", "/v1/sessions/\(session)").status == 404)
        await stage.server.stop()
    }
}

/// A connection that is kept.
final class OpenConnection: Sendable {
    private let descriptor: Int32

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = unsafe withUnsafeBytes(of: &address) { bytes in
            unsafe connect(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, 16)
        }
        try #require(status == 0)
    }

    deinit { close(descriptor) }

    func say(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    /// What comes next; empty where nothing does any more.
    func answer() -> String { read(0) }

    /// What has come; empty where nothing has.
    func answerSoFar() -> String { read(Int32(MSG_DONTWAIT)) }

    private func read(_ flags: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, flags) }
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
