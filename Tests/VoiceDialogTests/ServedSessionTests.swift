import TestCases
import Testing

@testable import VoiceDialog

@Suite("A served Realtime session")
struct ServedSessionTests {
    @Test("begins with its settings, and looks for speech by itself")
    func begin() throws {
        var talk = try ServedTalk(isManual: false)
        let created = try #require(try talk.takeMessages().first)
        #expect(created["type"] == "session.created")
        #expect(created["session"]?["type"] == "realtime")
        #expect(created["session"]?["audio"]?["input"]?["turn_detection"]?["type"] == "server_vad")
    }

    @Test("a turn that the client ends is recognised, answered sentence by sentence, and told in the protocol's order")
    func turn() throws {
        var talk = try ServedTalk()
        let item = try talk.say("tell me a story", seconds: 2)
        #expect(
            try talk.takeTypes() == [
                "input_audio_buffer.committed", "conversation.item.added", "conversation.item.done",
            ])
        let response = try talk.ask(["metadata": ["tag": "7"]])
        #expect(
            try talk.takeOrders() == [
                .respond(response: response, [.user("tell me a story")], instructions: "", tools: [])
            ])
        #expect(talk.session.responded(response, "Once upon a time.") == true)
        #expect(talk.session.responded(response, "The end.") == true)
        #expect(try talk.takeOrders() == [.synthesise(response: response, "Once upon a time.")])
        _ = talk.session.synthesised(response, [Int16](repeating: 1, count: 480), now: .zero)
        talk.session.synthesisEnded(response, nil)
        #expect(try talk.takeOrders() == [.synthesise(response: response, "The end.")])
        _ = talk.session.synthesised(response, [Int16](repeating: 2, count: 480), now: .zero)
        talk.session.synthesisEnded(response, nil)
        talk.session.responseEnded(response, nil)
        let messages = try talk.takeMessages()
        #expect(
            messages.compactMap { $0["type"]?.string } == [
                "response.created", "response.output_item.added", "conversation.item.added",
                "response.content_part.added", "response.output_audio_transcript.delta", "response.output_audio.delta",
                "response.output_audio_transcript.delta", "response.output_audio.delta", "response.output_audio.done",
                "response.output_audio_transcript.done", "response.content_part.done", "response.output_item.done",
                "conversation.item.done", "response.done",
            ])
        #expect(messages.last?["response"]?["metadata"] == ["tag": "7"])
        #expect(messages.last?["response"]?["status"] == "completed")
        let transcript = messages.first { $0["type"] == "response.output_audio_transcript.done" }
        #expect(transcript?["transcript"] == "Once upon a time. The end.")
        let deltas = messages.filter { $0["type"] == "response.output_audio_transcript.delta" }
        #expect(deltas.compactMap { $0["delta"]?.string }.joined() == "Once upon a time. The end.")
        #expect(Set(messages.compactMap { $0["event_id"]?.string }).count == messages.count)
        #expect(messages.first { $0["type"] == "conversation.item.added" }?["previous_item_id"] == .string(item))
    }

    @Test("speech begins and ends turns, begins answers, and ends the one under way")
    func detection() throws {
        var talk = try ServedTalk(isManual: false)
        _ = try talk.takeMessages()
        // One message holds all of a turn, and the beginning of the next.
        try talk.append(.seconds(6))
        talk.session.speechStarted(at: .seconds(1))
        talk.session.speechStopped(at: .seconds(2), heard: .milliseconds(2_500))
        let orders = try talk.takeOrders()
        guard case .recognise(let item, let sound, 24_000)? = orders.last else {
            Issue.record("\(orders)")
            return
        }
        // From 300 ms before the speech to what was heard of the silence behind it.
        #expect(sound.count == 24_000 * 18 / 10)
        let messages = try talk.takeMessages()
        #expect(messages[0]["audio_start_ms"] == 700 && messages[1]["audio_end_ms"] == 2_000)
        #expect(
            messages.compactMap { $0["type"]?.string } == [
                "input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped",
                "input_audio_buffer.committed",
                "conversation.item.added", "conversation.item.done", "response.created",
            ])
        #expect(messages[0]["item_id"] == .string(item))
        talk.session.recognised(item, .success("count to ten"))
        #expect(try talk.speak("One.", .seconds(1), of: "resp_1") == true)
        talk.session.speechStarted(at: .seconds(4))
        let cut = try talk.takeMessages()
        #expect(cut.last?["response"]?["status_details"] == ["type": "cancelled", "reason": "turn_detected"])
        #expect(try talk.takeOrders().last == .stop(response: "resp_1"))
        #expect(try talk.speak("Two.", .seconds(1), of: "resp_1") == false)
        #expect(try talk.takeTypes() == [])
    }

    @Test("what was not understood is not answered, and what failed is told")
    func nothingUnderstood() throws {
        var talk = try ServedTalk()
        try talk.say("")
        _ = try talk.ask()
        #expect(try talk.takeMessages().last?["response"]?["status"] == "completed")
        #expect(try talk.takeOrders() == [])
        try talk.append(.seconds(1))
        try talk.request(["type": "input_audio_buffer.commit"])
        let response = try talk.ask()
        for case .recognise(let item, _, _) in try talk.takeOrders() {
            talk.session.recognised(item, .failure(ServedFailure(code: "partner.recogniserFailed", message: "broken")))
        }
        let messages = try talk.takeMessages()
        #expect(messages.contains { $0["type"] == "conversation.item.input_audio_transcription.failed" })
        #expect(messages.last?["response"]?["id"] == .string(response))
        #expect(messages.last?["response"]?["status_details"]?["error"]?["message"] == "broken")
    }

    @Test("a cough while an answer is thought of does not take the question with it")
    func cough() throws {
        var talk = try ServedTalk(isManual: false)
        try talk.append(.seconds(6))
        func hear(_ text: String, at start: Duration) throws -> [ServedSession.Output] {
            talk.session.speechStarted(at: start)
            talk.session.speechStopped(at: start + .milliseconds(200), heard: start + .milliseconds(700))
            for case .recognise(let item, _, _) in try talk.takeOrders() {
                talk.session.recognised(item, .success(text))
            }
            return try talk.takeOrders()
        }
        func question(_ response: String) -> [ServedSession.Output] {
            [.respond(response: response, [.user("what time is it")], instructions: "", tools: [])]
        }
        let asked = try hear("what time is it", at: .seconds(1))
        #expect(asked == question("resp_1"))
        let coughed = try hear("", at: .seconds(3))
        #expect(coughed == question("resp_2"))
        // Once it was answered a cough asks for nothing.
        #expect(try talk.speak("Noon.", .seconds(1), of: "resp_2") == true)
        talk.session.responseEnded("resp_2", nil)
        _ = try talk.takeOrders()
        let again = try hear("", at: .seconds(5))
        #expect(again == [])
        let done = try talk.takeMessages().last?["response"]
        #expect(done?["id"] == "resp_3" && done?["status"] == "completed")
    }

    @Test("an answer is cut to the word where the client says, and the next one knows it")
    func truncation() throws {
        var talk = try ServedTalk()
        try talk.say("tell me a story")
        let response = try talk.ask()
        #expect(try talk.speak("One two three four.", .seconds(4), of: response) == true)
        try talk.request(["type": "response.cancel", "response_id": .string(response)])
        let done = try talk.takeMessages().last?["response"]
        #expect(done?["status"] == "cancelled")
        let item = try #require(done?["output"]?.array?.first?["id"])
        func truncate(_ milliseconds: Int, _ index: Int = 0) -> JSON {
            [
                "type": "conversation.item.truncate", "item_id": item, "content_index": .integer(index),
                "audio_end_ms": .integer(milliseconds),
            ]
        }
        for fault in [truncate(4_001), truncate(-1), truncate(100, 1)] { try talk.request(fault) }
        #expect(try talk.takeErrors() == ["invalid_value", "invalid_value", "invalid_value"])
        try talk.request(truncate(2_000))
        #expect(try talk.takeTypes() == ["conversation.item.truncated"])
        try talk.say("where were you")
        _ = try talk.ask()
        let lines: [ServedLine] = [
            .user("tell me a story"), .assistant(said: "One two three four.", heard: "One two"),
            .user("where were you"),
        ]
        #expect(try talk.takeOrders().last == .respond(response: "resp_2", lines, instructions: "", tools: []))
    }

    @Test("an answer in text has no sound, and instructions and system items reach the responder")
    func text() throws {
        var talk = try ServedTalk()
        try talk.request([
            "type": "conversation.item.create",
            "item": [
                "type": "message", "role": "system", "content": [["type": "input_text", "text": "The door is open."]],
            ],
        ])
        let content: JSON = [["type": "input_text", "text": "hello"]]
        try talk.request([
            "type": "conversation.item.create",
            "item": ["id": "mine", "type": "message", "role": "user", "content": content],
        ])
        let response = try talk.ask(["output_modalities": ["text"], "instructions": "Be brief."])
        #expect(
            try talk.takeOrders() == [
                .respond(
                    response: response, [.user("hello")], instructions: "Be brief.\n\nThe door is open.", tools: [])
            ])
        #expect(talk.session.responded(response, "Hello.") == true)
        talk.session.responseEnded(response, nil)
        let messages = try talk.takeMessages()
        #expect(try talk.takeOrders() == [])
        #expect(messages.last?["response"]?["output"]?.array?.first?["content"]?.array?.first?["text"] == "Hello.")
        #expect(messages.contains { $0["type"] == "response.output_text.done" && $0["text"] == "Hello." })
        try talk.request(["type": "conversation.item.retrieve", "item_id": "mine"])
        #expect(try talk.takeMessages().last?["item"]?["content"] == content)
    }

    @Test("sound is sent at most 20 s ahead of what can have been played")
    func pace() throws {
        var talk = try ServedTalk()
        try talk.say("tell me a story")
        let response = try talk.ask()
        #expect(talk.session.responded(response, "A story.") == true)
        let second = [Int16](repeating: 1, count: 24_000)
        for _ in 0..<20 { #expect(talk.session.synthesised(response, second, now: .seconds(3)) == .zero) }
        #expect(talk.session.synthesised(response, second, now: .seconds(3)) == .seconds(1))
        #expect(talk.session.synthesised(response, second, now: .seconds(5)) == .zero)
    }

    @Test("our own client and this server understand each other", arguments: RealtimeSettings.Generation.allCases)
    func ownClient(_ generation: RealtimeSettings.Generation) throws {
        var session = ServedSession(ServedSettings(model: "m", voice: "v"))
        var client = RealtimeDialog(RealtimeSettings(generation: generation, transcription: "any"))
        var events: [DialogEvent] = []
        func exchange() {
            var isBusy = true
            while isBusy {
                isBusy = false
                while let output = session.pollOutput() {
                    isBusy = true
                    switch output {
                    case .send(let message): client.received(message, now: .zero)
                    case .recognise(let item, _, _): session.recognised(item, .success("hello"))
                    case .respond(let response, _, _, _):
                        #expect(session.responded(response, "Hello, who is there?") == true)
                        session.responseEnded(response, nil)
                    case .synthesise(let response, _):
                        _ = session.synthesised(response, [Int16](repeating: 9, count: 24_000), now: .zero)
                        session.synthesisEnded(response, nil)
                    case .detect, .listen, .stop: break
                    }
                }
                while let output = client.pollOutput() {
                    isBusy = true
                    switch output {
                    case .send(let message): session.received(message)
                    case .event(let event): events.append(event)
                    case .connect, .disconnect: break
                    }
                }
            }
        }
        client.start()
        client.opened(now: .zero)
        session.start()
        exchange()
        client.startTurn()
        client.hear([Int16](repeating: 1, count: 24_000))
        let answer = client.endTurn()
        exchange()
        #expect(client.takeSound(of: answer, atMost: 48_000) == [Int16](repeating: 9, count: 24_000))
        let items = events.compactMap { if case .committed(let item) = $0 { item } else { nil } }
        #expect(items.count == 1 && events.contains(.recognised("hello", item: items[0])))
        #expect(events.contains(.answerDone(answer, nil)))
        client.heard(of: answer, .milliseconds(500), isComplete: false)
        exchange()
        #expect(!events.contains { if case .failed = $0 { true } else { false } })
        #expect(client.counts.lateRefusals == 0)
        _ = client.say("and now?")
        exchange()
        #expect(client.counts.lateRefusals == 0)
    }
}

@Suite("A served Realtime session and clients that wish it ill")
struct ServedSessionHostileTests {
    private static let faults: [(JSON, String)] = [
        (["type": "nonsense"], "unknown_event"), ([:], "invalid_value"), ("text", "invalid_value"),
        (["type": "input_audio_buffer.append", "audio": "?"], "invalid_value"),
        (["type": "input_audio_buffer.append", "audio": "AAAA"], "invalid_value"),
        (["type": "input_audio_buffer.append"], "invalid_value"),
        (["type": "input_audio_buffer.commit"], "input_audio_buffer_commit_empty"),
        (["type": "response.cancel"], "response_cancel_not_active"),
        (["type": "conversation.item.delete", "item_id": "none"], "item_not_found"),
        (
            ["type": "conversation.item.delete", "item_id": .string(String(repeating: "x", count: 300))],
            "invalid_value"
        ),
        (["type": "conversation.item.truncate", "item_id": "none"], "invalid_value"),
        (["type": "conversation.item.create", "item": ["type": "message", "role": "user"]], "invalid_value"),
        (["type": "session.update", "session": ["type": "other"]], "invalid_value"),
        (
            [
                "type": "session.update",
                "session": [
                    "type": "realtime", "audio": ["input": ["format": ["type": "audio/pcm", "rate": 1]]],
                ],
            ], "invalid_value"
        ),
        (
            [
                "type": "session.update",
                "session": [
                    "type": "realtime",
                    "audio": ["input": ["turn_detection": ["type": "server_vad", "silence_duration_ms": -1]]],
                ],
            ], "invalid_value"
        ),
        (["type": "response.create", "response": ["conversation": "none"]], "invalid_value"),
        (["type": "response.create", "response": ["metadata": ["a": 1]]], "invalid_value"),
    ]

    @Test("each fault is told by its code, with the client's name of the event, and changes nothing")
    func faults() throws {
        var talk = try ServedTalk()
        let before = talk.session.settings
        for (request, code) in Self.faults {
            var request = request
            if case .object(var members) = request {
                members["event_id"] = "mine"
                request = .object(members)
            }
            try talk.request(request)
            let messages = try talk.takeMessages()
            #expect(messages.count == 1 && messages[0]["error"]?["code"]?.string == code, "\(request): \(messages)")
            if case .object = request { #expect(messages[0]["error"]?["event_id"] == "mine") }
        }
        #expect(talk.session.settings == before)
        #expect(try talk.takeOrders() == [])
        talk.session.received(Array("{".utf8))
        #expect(try talk.takeErrors() == ["invalid_json"])
    }

    @Test("sound that is never committed, turns, items and answers are bounded")
    func bounds() throws {
        var talk = try ServedTalk()
        for _ in 0..<7 { try talk.append(.seconds(10)) }
        #expect(try talk.takeErrors() == ["input_audio_buffer_full"])
        for _ in 0..<6 {
            try talk.request(["type": "input_audio_buffer.commit"])
            // What is deleted counts until it is recognised.
            let items = try talk.takeMessages().compactMap { $0["item_id"] }
            for item in items { try talk.request(["type": "conversation.item.delete", "item_id": item]) }
            try talk.append(.milliseconds(200))
        }
        let recognised = try talk.takeOrders().filter { if case .recognise = $0 { true } else { false } }
        #expect(recognised.count == ServedSession.maximumRecognitions)

        let text = String(repeating: "x", count: 1_000)
        for _ in 0..<300 {
            try talk.request([
                "type": "conversation.item.create",
                "item": [
                    "type": "message", "role": "user", "content": [["type": "input_text", "text": .string(text)]],
                ],
            ])
        }
        let added = try talk.takeMessages()
        let isGone = added.filter { $0["type"] == "conversation.item.deleted" }.count
        #expect(isGone >= 300 - ServedConversation.maximumBytes / 1_000)
    }

    @Test("what is said on behind a client's commit is a turn of its own")
    func commitWithinSpeech() throws {
        var talk = try ServedTalk(isManual: false)
        try talk.append(.milliseconds(500))
        talk.session.speechStarted(at: .milliseconds(400))
        _ = try talk.takeOrders()
        try talk.request(["type": "input_audio_buffer.commit"])
        let first = try #require(try talk.takeMessages().last { $0["type"] == "input_audio_buffer.committed" })
        // The detector looks for it anew, and finds it
        #expect(try talk.takeOrders().contains { if case .detect(.some, _) = $0 { true } else { false } })
        try talk.append(.milliseconds(300))
        talk.session.speechStarted(at: .milliseconds(100))
        talk.session.speechStopped(at: .milliseconds(200), heard: .milliseconds(300))
        let second = try #require(try talk.takeMessages().last { $0["type"] == "input_audio_buffer.committed" })
        #expect(first["item_id"] != second["item_id"])
        let lengths = try talk.takeOrders().compactMap { order in
            if case .recognise(_, let samples, _) = order { samples.count } else { nil }
        }
        #expect(lengths == [7_200])
    }

    @Test("of what is said while settings change nothing is lost")
    func updateWithinSpeech() throws {
        var talk = try ServedTalk(isManual: false)
        func update(_ detection: JSON) throws {
            try talk.request([
                "type": "session.update",
                "session": ["type": "realtime", "audio": ["input": ["turn_detection": detection]]],
            ])
        }
        try talk.append(.seconds(1))
        talk.session.speechStarted(at: .milliseconds(500))
        _ = try talk.takeOrders()
        _ = try talk.takeMessages()
        // Speech is found as before, so the turn goes on.
        try update(["type": "server_vad", "interrupt_response": false])
        #expect(try talk.takeOrders() == [])
        #expect(try talk.takeTypes() == ["session.updated"])
        // What was said is a turn, and what is said on is found anew.
        try update(["type": "server_vad", "silence_duration_ms": 900])
        #expect(
            try talk.takeTypes() == [
                "input_audio_buffer.speech_stopped", "input_audio_buffer.committed", "conversation.item.added",
                "conversation.item.done", "response.created", "session.updated",
            ])
        let orders = try talk.takeOrders()
        let lengths = orders.compactMap { if case .recognise(_, let samples, _) = $0 { samples.count } else { nil } }
        #expect(lengths == [24_000 * 8 / 10])
        #expect(orders.last == .detect(talk.session.settings.detection, rate: 24_000))
    }

    @Test(
        "a turn in which no more sound comes is over, once, not before the silence that the client asked for; where nobody speaks nothing is",
        arguments: [(500, 5), (10_000, 10)])
    func inputStopped(silence: Int, patience: Int) throws {
        var talk = try ServedTalk(isManual: false)
        let detection: JSON = ["type": "server_vad", "silence_duration_ms": .integer(silence)]
        try talk.request([
            "type": "session.update",
            "session": ["type": "realtime", "audio": ["input": ["turn_detection": detection]]],
        ])
        try talk.append(.seconds(1))
        _ = try talk.takeOrders()
        _ = try talk.takeMessages()
        talk.session.inputStopped(for: .seconds(60))
        #expect(try talk.takeTypes() == [])
        #expect(try talk.takeOrders() == [])
        // Given somebody who has begun
        talk.session.speechStarted(at: .milliseconds(500))
        _ = try talk.takeMessages()
        // When no sound comes
        talk.session.inputStopped(for: .seconds(patience) - .milliseconds(1))
        #expect(try talk.takeTypes() == [])
        talk.session.inputStopped(for: .seconds(patience))
        talk.session.inputStopped(for: .seconds(patience + 1))
        // Then what was said is a turn, and is answered; what is said later is found anew
        #expect(
            try talk.takeTypes() == [
                "input_audio_buffer.speech_stopped", "input_audio_buffer.committed", "conversation.item.added",
                "conversation.item.done", "response.created",
            ])
        let orders = try talk.takeOrders()
        let lengths = orders.compactMap { if case .recognise(_, let samples, _) = $0 { samples.count } else { nil } }
        #expect(lengths == [24_000 * 8 / 10])
        #expect(orders.last == .detect(talk.session.settings.detection, rate: 24_000))
    }

    @Test("an answer without end is cut")
    func longAnswer() throws {
        var talk = try ServedTalk()
        try talk.say("go on")
        let response = try talk.ask()
        var bytes = 0
        while bytes <= ServedSession.longestAnswer,
            talk.session.responded(response, String(repeating: "a ", count: 200))
        { bytes += 400 }
        #expect(bytes <= ServedSession.longestAnswer && bytes > ServedSession.longestAnswer - 400)
        // And what would still fit is not said without what comes before it
        let isSaid = talk.session.responded(response, "a")
        #expect(!isSaid)
    }

    @Test(
        "whatever the order of a client's requests and a partner's work, every answer is ended once",
        arguments: cases(0..<20))
    func anyOrder(seed: Int) throws {
        var random = SeededNumbers(seed: UInt64(seed))
        var talk = try ServedTalk(isManual: seed.isMultiple(of: 2))
        var begun: [String] = []
        var ended: [String] = []
        var turns: [String] = []
        for _ in 0..<200 {
            let known = "resp_\(max(1, begun.count))"
            switch random.next() % 12 {
            case 0: try talk.append(.milliseconds(300))
            case 1: try talk.request(["type": "input_audio_buffer.commit"])
            case 2: try talk.request(["type": "input_audio_buffer.clear"])
            case 3: try talk.request(["type": "response.create"])
            case 4: try talk.request(["type": "response.cancel"])
            case 5: if let turn = turns.popLast() { talk.session.recognised(turn, .success("word")) }
            case 6: _ = talk.session.responded(known, "Sentence \(random.next() % 9).")
            case 7: talk.session.responseEnded(known, nil)
            case 8: _ = talk.session.synthesised(known, [1, 2, 3], now: .zero)
            case 9: talk.session.synthesisEnded(known, nil)
            case 10: talk.session.speechStarted(at: .milliseconds(100))
            default: talk.session.speechStopped(at: .milliseconds(200), heard: .milliseconds(300))
            }
            for case .recognise(let item, _, _) in try talk.takeOrders() { turns.append(item) }
            for message in try talk.takeMessages() {
                let name = message["response"]?["id"]?.string ?? message["response_id"]?.string ?? ""
                switch message["type"]?.string {
                case "response.created": begun.append(name)
                case "response.done": ended.append(name)
                default:
                    #expect(name.isEmpty || !ended.contains(name), "seed \(seed): stale \(message)")
                }
            }
        }
        #expect(Set(ended).count == ended.count && begun.count - ended.count <= 1, "seed \(seed)")
        #expect(!ended.isEmpty, "seed \(seed)")
    }
}
