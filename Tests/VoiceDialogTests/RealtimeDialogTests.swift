import ScriptedRealtime
import Testing

@testable import VoiceDialog

@Suite("A Realtime dialog")
struct RealtimeDialogTests {
    private static let second = [Int16](repeating: 7, count: 24_000)

    @Test("begins with the session that the settings ask for", arguments: RealtimeSettings.Generation.allCases)
    func session(generation: RealtimeSettings.Generation) throws {
        let tool = DialogTool(name: "time", description: "tells it", parameters: ["type": "object"])
        var server = try DialogServer(
            RealtimeSettings(
                generation: generation, output: .muLaw, instructions: "Be brief.", voice: "marin", tools: [tool]),
            isOpen: false)
        try server.drain()
        #expect(server.connects == 1)
        server.dialog.opened(now: .zero)
        #expect(try server.takeTypes() == [])
        try server.send(["type": "session.created"])
        let request = try #require(try server.takeRequests().first)
        let session = try #require(request["session"])
        #expect(request["type"] == "session.update")
        #expect(session["instructions"] == "Be brief.")
        #expect(session["tools"]?.array?.first?["name"] == "time")
        switch generation {
        case .current:
            #expect(session["type"] == "realtime")
            #expect(session["audio"]?["input"]?["format"] == ["type": "audio/pcm", "rate": 24_000])
            #expect(session["audio"]?["output"]?["format"] == ["type": "audio/pcmu"])
            #expect(session["audio"]?["output"]?["voice"] == "marin")
        case .beta:
            #expect(session["input_audio_format"] == "pcm16")
            #expect(session["output_audio_format"] == "g711_ulaw")
            #expect(session["voice"] == "marin")
        }
        #expect(try server.takeEvents() == [.ready])
    }

    @Test("sends a turn from its first word on, and asks once")
    func turn() throws {
        var server = try DialogServer()
        server.dialog.hear(Self.second)
        #expect(try server.takeTypes() == [])
        server.dialog.startTurn(ago: .milliseconds(200))
        server.dialog.hear([Int16](repeating: 1, count: 1_200))
        _ = server.dialog.endTurn()
        let requests = try server.takeRequests()
        let sent = requests.compactMap { $0["audio"]?.string.flatMap(Base64.decode) }.reduce(0) { $0 + $1.count / 2 }
        #expect(sent == 12_000 + 1_200)
        #expect(
            requests.compactMap { $0["type"]?.string }.suffix(2) == ["input_audio_buffer.commit", "response.create"])
        // The next one does not begin with the last one's sound.
        server.dialog.startTurn()
        #expect(try server.takeTypes() == [])
        server.dialog.dropTurn()
        #expect(try server.takeTypes() == ["input_audio_buffer.clear"])
    }

    @Test("tells in which item something was said, and goes on where the server does not")
    func items() throws {
        var server = try DialogServer()
        try server.send(["type": "input_audio_buffer.committed", "item_id": "first"])
        try server.send(["type": "input_audio_buffer.committed"])
        let type = JSON.string("conversation.item.input_audio_transcription.completed")
        try server.send(["type": type, "item_id": "first", "transcript": "hello"])
        try server.send(["type": type, "transcript": "there"])
        #expect(
            try server.takeEvents() == [
                .committed(item: "first"), .recognised("hello", item: "first"), .recognised("there", item: nil),
            ])
    }

    @Test("hands out a second that came at once, in order, in either generation's names", arguments: [false, true])
    func burst(isBeta: Bool) throws {
        var server = try DialogServer()
        let answer = server.dialog.endTurn()
        try server.create("r", tag: answer)
        let sound = (0..<24_000).map { Int16($0) }
        for start in stride(from: 0, to: sound.count, by: 1_000) {
            try server.speak(Array(sound[start..<start + 1_000]), "r", isBeta: isBeta)
        }
        try server.finish("r")
        var taken: [Int16] = []
        while case let part = server.dialog.takeSound(of: answer, atMost: 777), !part.isEmpty { taken += part }
        #expect(taken == sound)
        #expect(try server.takeEvents().last == .answerDone(answer, nil))
    }

    @Test("asks for no more messages while a minute waits, and ends a server that sends two")
    func flood() throws {
        var server = try DialogServer()
        let answer = server.dialog.endTurn()
        try server.create("r", tag: answer)
        for second in 1...120 {
            try server.speak(Self.second, "r")
            #expect(server.dialog.wantsMessages == (second < 60))
        }
        #expect(server.disconnects == 0)
        try server.speak([1], "r")
        #expect(server.disconnects == 1)
        guard case .ended(let error)? = try server.takeEvents().last else { return #expect(Bool(false)) }
        #expect(error?.code == .tooLarge)
    }

    @Test(
        "an answer that the server would not begin beside another is asked for again when that is done, if it is wanted"
    )
    func putOff() throws {
        for isWanted in [true, false] {
            // Given an answer that is not wanted any more before the server has begun it, and one that is asked for then
            var server = try DialogServer()
            let first = server.dialog.endTurn()
            server.dialog.cancel(first)
            server.dialog.heard(of: first, .zero, isComplete: false)
            let second = server.dialog.say("and now?")
            let asked = try server.takeRequests().last
            try server.create("r1", tag: first)
            // When the server is still at the first
            let fault: JSON = [
                "code": "conversation_already_has_active_response", "message": "busy",
                "event_id": asked?["event_id"] ?? .null,
            ]
            try server.send(["type": "error", "error": fault])
            #expect(try server.takeTypes() == ["response.cancel"])
            if !isWanted {
                server.dialog.cancel(second)
                server.dialog.heard(of: second, .zero, isComplete: false)
            }
            try server.finish("r1", status: "cancelled")
            // Then
            #expect(try server.takeTypes() == (isWanted ? ["response.create"] : []))
            guard isWanted else { continue }
            try server.create("r2", tag: second)
            try server.speak([5], "r2")
            #expect(server.dialog.takeSound(of: second, atMost: 10) == [5])
            #expect(try server.takeEvents() == [.soundWaits(second)])
        }
    }

    @Test("an answer that was put off, and that the server begins or gives up all the same, is not asked for again")
    func putOffAndBegun() throws {
        for isBegun in [true, false] {
            // Given an answer under way, and one that the server would not begin beside it
            var server = try DialogServer()
            let first = server.dialog.endTurn()
            let second = server.dialog.say("and now?")
            let asked = try server.takeRequests().last?["event_id"] ?? .null
            try server.create("r1", tag: first)
            let busy: JSON = ["code": "conversation_already_has_active_response", "message": "busy", "event_id": asked]
            try server.send(["type": "error", "error": busy])
            // When it begins it, or refuses it for good
            if isBegun {
                try server.create("r2", tag: second)
            } else {
                try server.send(["type": "error", "error": ["code": "none", "message": "no", "event_id": asked]])
            }
            try server.finish("r1")
            // Then it is not asked for twice
            #expect(try server.takeTypes() == [], "begun: \(isBegun)")
            guard isBegun else { continue }
            try server.speak([5], "r2")
            #expect(server.dialog.takeSound(of: second, atMost: 10) == [5])
        }
    }

    @Test("functions of answers that are over count until their outcomes are there", arguments: [true, false])
    func runningCalls(areGiven: Bool) throws {
        var server = try DialogServer()
        for number in 0...RealtimeDialog.maximumCalls {
            let (response, call) = ("r\(number)", "c\(number)")
            try server.create(response)
            guard case .answerBegan(let answer)? = try server.takeEvents().last else { return #expect(Bool(false)) }
            try server.send([
                "type": "response.output_item.done", "response_id": .string(response),
                "item": ["type": "function_call", "call_id": .string(call), "name": "f", "arguments": "{}"],
            ])
            server.dialog.cancel(answer)
            server.dialog.heard(of: answer, .zero, isComplete: false)
            try server.finish(response, status: "cancelled")
            if areGiven { server.dialog.giveResult("done", of: call, in: answer) }
        }
        #expect(server.disconnects == (areGiven ? 0 : 1))
    }

    @Test("a server that begins one answer after the other, unasked, does not put out the one that is spoken")
    func crowd() throws {
        var server = try DialogServer()
        let answer = server.dialog.endTurn()
        try server.create("r", tag: answer)
        try server.speak([1, 2], "r")
        for number in 0..<100 {
            try server.create("unasked \(number)")
            for case .answerBegan(let other) in try server.takeEvents() {
                server.dialog.cancel(other)
                server.dialog.heard(of: other, .zero, isComplete: false)
            }
        }
        #expect(server.dialog.takeSound(of: answer, atMost: 10) == [1, 2])
        try server.speak([3], "r")
        #expect(server.dialog.takeSound(of: answer, atMost: 10) == [3])
    }

    @Test("truncates where it was heard, not behind what was received, and not before the first sample")
    func truncation() throws {
        for (heard, end) in [(Duration.milliseconds(1_234), 1_234), (.seconds(9), 2_000), (.zero, nil)] {
            var server = try DialogServer()
            let answer = server.dialog.endTurn()
            try server.create("r", tag: answer)
            try server.addMessage("item", to: "r")
            for _ in 0..<2 { try server.speak(Self.second, "r") }
            _ = try server.takeRequests()
            server.dialog.cancel(answer)
            #expect(try server.takeTypes() == ["response.cancel"])
            server.dialog.heard(of: answer, heard, isComplete: false)
            let correction = try #require(try server.takeRequests().first)
            if let end {
                #expect(correction["type"] == "conversation.item.truncate")
                #expect(correction["audio_end_ms"]?.integer == end)
                #expect(correction["item_id"] == "item")
            } else {
                #expect(correction["type"] == "conversation.item.delete")
            }
            try server.speak(Self.second, "r")
            try server.create("r", tag: answer)
            try server.speak(Self.second, "r")
            #expect(server.dialog.takeSound(of: answer, atMost: 99_999) == [])
            #expect(server.dialog.counts.staleDeltas == 3)
        }
    }

    @Test("of an answer of several messages, truncates the one that was cut and deletes those behind it")
    func severalMessages() throws {
        var server = try DialogServer()
        let answer = server.dialog.endTurn()
        try server.create("r", tag: answer)
        for item in ["a", "b", "c"] {
            try server.addMessage(item, to: "r")
            try server.speak(Self.second, "r", item: item)
        }
        try server.finish("r")
        _ = try server.takeRequests()
        server.dialog.heard(of: answer, .milliseconds(1_500), isComplete: false)
        let requests = try server.takeRequests()
        #expect(requests.map { $0["type"] } == ["conversation.item.truncate", "conversation.item.delete"])
        #expect(requests.map { $0["item_id"] } == ["b", "c"])
        #expect(requests.first?["audio_end_ms"] == 500)
    }

    @Test("an answer that was heard whole is left as it is")
    func whole() throws {
        var server = try DialogServer()
        let answer = server.dialog.endTurn()
        try server.create("r", tag: answer)
        try server.speak(Self.second, "r")
        try server.finish("r")
        _ = try server.takeRequests()
        server.dialog.heard(of: answer, .seconds(1), isComplete: true)
        #expect(try server.takeTypes() == [])
    }

    @Test("an answer that is cancelled before it was created is cancelled when it is, and its messages are deleted")
    func cancelledEarly() throws {
        var server = try DialogServer()
        let answer = server.dialog.endTurn()
        server.dialog.cancel(answer)
        server.dialog.heard(of: answer, .zero, isComplete: false)
        let next = server.dialog.endTurn()
        _ = try server.takeRequests()
        try server.create("r", tag: nil)
        try server.addMessage("item", to: "r")
        #expect(try server.takeTypes() == ["response.cancel", "conversation.item.delete"])
        try server.speak(Self.second, "r")
        try server.create("s", tag: nil)
        try server.speak(Self.second, "s")
        #expect(server.dialog.takeSound(of: answer, atMost: 99_999) == [])
        #expect(server.dialog.takeSound(of: next, atMost: 99_999).count == 24_000)
    }

    @Test("what is forgotten of a long talk leaves no outcome of a function without its call")
    func forgottenCalls() {
        var history = DialogHistory()
        for number in 0..<DialogHistory.maximumLines {
            // The outcome of each comes behind the call of the next.
            history.append(.call(DialogToolCall(id: "c\(number)", name: "time", arguments: "{}")))
            history.append(.result(callID: "c\(number - 1)", output: "noon"))
        }
        history.append(.user("thank you"))
        var calls: Set<String> = []
        for item in history.items {
            switch item {
            case .call(let call): calls.insert(call.id)
            case .result(let id, _): #expect(calls.contains(id))
            default: break
            }
        }
        #expect(calls.count == DialogHistory.maximumLines - 1)
    }

    @Test("functions are handed to the app, and the answer goes on with their outcome")
    func tools() throws {
        var server = try DialogServer()
        let answer = server.dialog.endTurn()
        try server.create("r", tag: answer)
        try server.send([
            "type": "response.output_item.done", "response_id": "r",
            "item": ["type": "function_call", "id": "f", "call_id": "c1", "name": "time", "arguments": "{}"],
        ])
        try server.finish("r")
        _ = try server.takeRequests()
        let call = DialogToolCall(id: "c1", name: "time", arguments: "{}")
        #expect(try server.takeEvents() == [.toolCall(answer, call)])
        server.dialog.giveResult("noon", of: "c1", in: answer)
        server.dialog.giveResult("noon", of: "c1", in: answer)
        let requests = try server.takeRequests()
        #expect(requests.map { $0["type"] } == ["conversation.item.create", "response.create"])
        #expect(requests.first?["item"]?["output"] == "noon")
        try server.create("s", tag: answer)
        try server.speak(Self.second, "s")
        try server.finish("s")
        #expect(server.dialog.takeSound(of: answer, atMost: 99_999).count == 24_000)
        #expect(try server.takeEvents().last == .answerDone(answer, nil))
    }

    @Test("what a function came to is told although its answer was cut meanwhile, once", arguments: [true, false])
    func lateOutcome(isResponseOver: Bool) throws {
        var server = try DialogServer()
        let answer = server.dialog.endTurn()
        try server.create("r", tag: answer)
        try server.send([
            "type": "response.output_item.done", "response_id": "r",
            "item": ["type": "function_call", "id": "f", "call_id": "c1", "name": "book", "arguments": "{}"],
        ])
        if isResponseOver { try server.finish("r") }
        server.dialog.cancel(answer)
        server.dialog.heard(of: answer, .zero, isComplete: false)
        if !isResponseOver { try server.finish("r", status: "cancelled") }
        _ = try server.takeRequests()
        for _ in 0..<2 { server.dialog.giveResult("booked", of: "c1", in: answer) }
        let requests = try server.takeRequests()
        // Nobody asks for the rest of it.
        #expect(requests.map { $0["type"] } == ["conversation.item.create"])
        #expect(requests.first?["item"]?["output"] == "booked")
        try server.lose()
        try server.comeBack()
        let told = try server.takeRequests().compactMap { $0["item"]?["type"]?.string }
        #expect(told == ["function_call", "function_call_output"])
    }

    @Test("a server that comes back is told what was said, as far as it was heard, and asked again")
    func restored() throws {
        var server = try DialogServer()
        try server.send(["type": "conversation.item.input_audio_transcription.completed", "transcript": "a story"])
        let answer = server.dialog.endTurn()
        try server.create("r", tag: answer)
        try server.speak(Self.second, "r")
        try server.send([
            "type": "response.output_audio_transcript.delta", "response_id": "r", "delta": "once upon a time there",
        ])
        server.dialog.heard(of: answer, .milliseconds(500), isComplete: false)
        server.dialog.startTurn()
        server.dialog.hear([Int16](repeating: 3, count: 6_000))
        let next = server.dialog.endTurn()
        _ = try server.takeRequests()
        try server.lose()
        #expect(server.dialog.nextTimeout == .milliseconds(100))
        try server.comeBack()
        let requests = try server.takeRequests()
        #expect(
            requests.compactMap { $0["type"]?.string } == [
                "session.update", "conversation.item.create", "conversation.item.create", "input_audio_buffer.append",
                "input_audio_buffer.commit", "response.create",
            ])
        let texts = requests.compactMap { $0["item"]?["content"]?.array?.first?["text"] }
        #expect(texts == ["a story", "once upon"])
        #expect(requests.last?["response"]?["metadata"]?["duplexvoice"] == .string(String(next.rawValue)))
        // What the old connection still had on its way belongs to nothing.
        try server.create("r2", tag: answer)
        #expect(server.dialog.takeSound(of: answer, atMost: 99_999) == [])
    }

    @Test("a lost server is tried again at least every 1.5 s; one that was never there ends the dialog")
    func pace() throws {
        var server = try DialogServer()
        var before = server.now
        try server.lose()
        for _ in 0..<20 {
            let due = try #require(server.dialog.nextTimeout)
            #expect(due - before <= .milliseconds(1_500))
            before = due
            server.now = due
            server.dialog.handleTimeout(now: due)
            try server.lose()
        }
        var stranger = try DialogServer(isOpen: false)
        try stranger.lose()
        guard case .ended(let error)? = try stranger.takeEvents().last else { return #expect(Bool(false)) }
        #expect(error?.code == .lost)
    }

    @Test("a connection that was given up, and then is told as gone, is lost once")
    func goneTwice() throws {
        var server = try DialogServer()
        try server.send(["type": "error", "error": ["code": "session_expired", "message": "after 60 minutes"]])
        let due = try #require(server.dialog.nextTimeout)
        _ = try server.takeEvents()
        try server.lose()
        #expect(try server.takeEvents() == [])
        #expect(server.dialog.nextTimeout == due)
    }

    @Test("a server that greets everybody and puts them out again is tried ever less often; one that stayed, at once")
    func revolvingDoor() throws {
        var server = try DialogServer()
        var delays: [Duration] = []
        for _ in 0..<8 {
            try server.lose()
            delays.append(try #require(server.dialog.nextTimeout) - server.now)
            try server.comeBack()
        }
        #expect(delays.first == .milliseconds(100) && delays.last == .milliseconds(1_500))
        #expect(delays == delays.sorted())
        server.now += .seconds(10)
        try server.lose()
        #expect(try #require(server.dialog.nextTimeout) - server.now == .milliseconds(100))
    }

    @Test("behind very many answers a server is connected to anew, and the one that was asked for is asked for again")
    func manyAnswers() throws {
        var server = try DialogServer()
        for number in 0..<AnswerTable.maximumResponses {
            try server.create("r\(number)")
            for case .answerBegan(let answer) in try server.takeEvents() {
                server.dialog.cancel(answer)
                server.dialog.heard(of: answer, .zero, isComplete: false)
            }
        }
        #expect(server.disconnects == 0)
        let answer = server.dialog.endTurn()
        try server.create("one more", tag: answer)
        #expect(server.disconnects == 1)
        _ = try server.takeRequests()
        try server.comeBack()
        let asked = try server.takeRequests().filter { $0["type"] == "response.create" }
        let tags = asked.map { $0["response"]?["metadata"]?["duplexvoice"]?.string }
        #expect(tags == [String(answer.rawValue)])
        #expect(try server.takeEvents().last == .ready)
    }

    @Test("a server that calls without end is ended")
    func endlessCalls() throws {
        var server = try DialogServer()
        let answer = server.dialog.endTurn()
        try server.create("r", tag: answer)
        for number in 0..<1_000 {
            try server.send([
                "type": "response.output_item.done", "response_id": "r",
                "item": [
                    "type": "function_call", "id": "f", "call_id": .string("c\(number)"), "name": "x",
                    "arguments": "{}",
                ],
            ])
        }
        let events = try server.takeEvents()
        #expect(events.count { if case .toolCall = $0 { true } else { false } } == 64)
        #expect(events.contains { if case .ended(let error?) = $0 { error.code == .tooLarge } else { false } })
    }

    @Test("what is heard behind a break is told to the server that came back, whose messages are its own")
    func heardLater() throws {
        var server = try DialogServer()
        let answer = server.dialog.endTurn()
        try server.create("r", tag: answer)
        try server.addMessage("item", to: "r")
        try server.speak(Self.second, "r")
        try server.send(["type": "response.output_audio_transcript.delta", "response_id": "r", "delta": "so it was"])
        try server.lose()
        try server.comeBack()
        _ = try server.takeRequests()
        server.dialog.heard(of: answer, .milliseconds(800), isComplete: false)
        let requests = try server.takeRequests()
        #expect(requests.map { $0["type"] } == ["conversation.item.create"])
        #expect(requests.first?["item"]?["content"]?.array?.first?["text"] == "so it")
    }

    @Test("an answer under way when the server is lost ends with what had come")
    func lostInAnswer() throws {
        var server = try DialogServer()
        let answer = server.dialog.endTurn()
        try server.create("r", tag: answer)
        try server.speak(Self.second, "r")
        try server.lose()
        #expect(server.dialog.takeSound(of: answer, atMost: 99_999).count == 24_000)
        #expect(
            try server.takeEvents().contains {
                if case .answerDone(answer, let error?) = $0 { error.code == .lost } else { false }
            })
    }

    @Test(
        "a server that does not speak the protocol ends the dialog with an error",
        arguments: [
            "junk", "[]", "{\"type\":7}",
            "{\"type\":\"response.output_audio.delta\",\"response_id\":\"x\",\"item_id\":\"i\",\"delta\":\"AAAA\"}",
            "{\"type\":\"response.output_audio.delta\",\"response_id\":\"r\",\"item_id\":\"i\",\"delta\":\"A!\"}",
            "{\"type\":\"response.output_audio.delta\",\"response_id\":\"r\",\"item_id\":\"i\",\"delta\":\"AA==\"}",
            "{\"type\":\"response.created\",\"response\":{\"id\":\"\"}}", "{\"type\":\"response.created\"}",
        ])
    func hostile(message: String) throws {
        var server = try DialogServer()
        let answer = server.dialog.endTurn()
        try server.create("r", tag: answer)
        server.dialog.received(Array(message.utf8), now: .zero)
        guard case .ended(let error)? = try server.takeEvents().last else { return #expect(Bool(false)) }
        #expect(error?.code == .malformed)
        #expect(server.disconnects == 1)
        // The app may go on calling it.
        server.dialog.hear(Self.second)
        server.dialog.startTurn()
        _ = server.dialog.endTurn()
        #expect(try server.takeTypes().suffix(1) == ["response.create"])
    }

    @Test("what comes before the session, or no session, ends the connection")
    func greeting() throws {
        var server = try DialogServer(isOpen: false)
        server.dialog.opened(now: .zero)
        #expect(server.dialog.nextTimeout == .seconds(10))
        server.dialog.handleTimeout(now: .seconds(10))
        guard case .ended(let error)? = try server.takeEvents().last else { return #expect(Bool(false)) }
        #expect(error?.code == .noAnswer)
    }

    @Test("the server's errors have codes; late refusals of corrections are counted only")
    func errors() throws {
        var server = try DialogServer()
        let answer = server.dialog.endTurn()
        let create = try #require(try server.takeRequests().last)
        func error(_ code: String, _ event: JSON) -> JSON {
            ["type": "error", "error": ["code": .string(code), "message": "no", "event_id": event]]
        }
        try server.send(error("rate_limit_exceeded", try #require(create["event_id"])))
        try server.send(error("item_not_found", "truncate_9"))
        try server.send(error("odd", .null))
        try server.send([
            "type": "rate_limits.updated",
            "rate_limits": [["name": "requests", "limit": 5, "remaining": 4, "reset_seconds": .number(0.5)]],
        ])
        let events = try server.takeEvents()
        #expect(
            events == [
                .answerDone(answer, DialogError(.rateLimited, "the server says: no (rate_limit_exceeded)")),
                .failed(DialogError(.server, "the server says: no (odd)")),
                .rateLimits([RateLimit(name: "requests", limit: 5, remaining: 4, reset: .milliseconds(500))]),
            ])
        #expect(server.dialog.counts.lateRefusals == 1)
        try server.send(error("invalid_api_key", .null))
        guard case .ended(let end)? = try server.takeEvents().last else { return #expect(Bool(false)) }
        #expect(end?.code == .unauthorised)
    }

    @Test("a session that is over on the server's side is told, and the server is asked for another")
    func expired() throws {
        var server = try DialogServer()
        try server.send(["type": "error", "error": ["code": "session_expired", "message": "after 60 minutes"]])
        guard case .lost(let error, again: _)? = try server.takeEvents().last else { return #expect(Bool(false)) }
        #expect(error.code == .sessionExpired && error.explanation.contains("after 60 minutes"))
        #expect(server.connects == 1 && server.disconnects == 1)
        try server.comeBack()
        #expect(server.connects == 2)
        #expect(try server.takeTypes().first == "session.update")
    }

    @Test("with the server's turn detection all sound goes up, and it answers unasked")
    func serverTurns() throws {
        var server = try DialogServer(RealtimeSettings(turnDetection: .server(silence: .milliseconds(600))))
        server.dialog.hear(Self.second)
        server.dialog.hear(Self.second)
        let sent = try server.takeRequests().compactMap { $0["audio"]?.string.flatMap(Base64.decode) }
        #expect(sent.reduce(0) { $0 + $1.count } == 96_000)
        try server.send(["type": "input_audio_buffer.speech_started"])
        try server.create("r")
        try server.speak(Self.second, "r")
        let answer = AnswerID(rawValue: 1)
        #expect(try server.takeEvents() == [.speechStarted, .answerBegan(answer), .soundWaits(answer)])
    }

    @Test("a turn that a server found is ended where the microphone gives nothing more, once, and is answered")
    func microphoneGone() throws {
        var server = try DialogServer(RealtimeSettings(turnDetection: .server(silence: .milliseconds(600))))
        // Given a server that awaits no end, as before anybody has spoken, or once it has found it
        #expect(server.dialog.endServersTurn() == nil)
        server.dialog.hear(Self.second)
        let ends: [JSON] = [
            ["type": "input_audio_buffer.speech_stopped"],
            ["type": "input_audio_buffer.committed", "item_id": "i"],
            ["type": "response.created", "response": ["id": "unasked"]],
        ]
        for end in ends {
            try server.send(["type": "input_audio_buffer.speech_started"])
            try server.send(end)
            #expect(server.dialog.endServersTurn() == nil)
        }
        try server.finish("unasked")
        // When it has found another beginning, and a little sound is left that was not sent
        try server.send(["type": "input_audio_buffer.speech_started"])
        server.dialog.hear([Int16](repeating: 1, count: 240))
        _ = try server.takeRequests()
        _ = try server.takeEvents()
        let asked = server.dialog.endServersTurn()
        let answer = try #require(asked)
        #expect(server.dialog.endServersTurn() == nil)
        // Then that goes up, the turn ends, and what the server says next is its answer
        #expect(
            try server.takeTypes() == ["input_audio_buffer.append", "input_audio_buffer.commit", "response.create"])
        try server.create("r", tag: answer)
        try server.speak(Self.second, "r")
        #expect(try server.takeEvents() == [.soundWaits(answer)])
        // And of a server that is lost nothing is awaited
        try server.send(["type": "input_audio_buffer.speech_started"])
        try server.lose()
        try server.comeBack()
        #expect(server.dialog.endServersTurn() == nil)
    }
}
