// modules: VoiceQueue VoiceDialog
// length: 4000
//
// What Realtime servers send to our client and clients to our server, and what servers of chat completions answer: any
// bytes, and genuine messages with some bytes replaced, in any order, amid what either side does by itself. Nothing may
// trap, no message may cost more than its budget, and what waits to be sent, or is kept, stays bounded.

import VoiceDialog

// The greeting has all sent that waits: as much as the talker has said.
private let asClient = Budget("a message of a server's", limit: 2_000_000)
private let asServer = Budget("a message of a client's", limit: 500_000)
private let asAsker = Budget("a part of a chat completion", limit: 500_000)

private let ofServers: [[UInt8]] = [
    #"{"type":"session.created","session":{"id":"s"}}"#,
    #"{"type":"error","error":{"type":"invalid_request_error","code":"x","message":"m","event_id":"event_1"}}"#,
    #"{"type":"conversation.item.added","previous_item_id":null,"item":{"id":"i1","type":"message","role":"user","content":[]}}"#,
    #"{"type":"conversation.item.input_audio_transcription.completed","item_id":"i1","content_index":0,"transcript":"hello"}"#,
    #"{"type":"response.created","response":{"id":"r1","status":"in_progress","metadata":{"answer":"1"}}}"#,
    #"{"type":"response.output_item.added","response_id":"r1","output_index":0,"item":{"id":"a1","type":"message","role":"assistant"}}"#,
    #"{"type":"response.output_audio.delta","response_id":"r1","item_id":"a1","output_index":0,"content_index":0,"delta":"AAABAAIAAwA="}"#,
    #"{"type":"response.output_audio_transcript.delta","response_id":"r1","item_id":"a1","output_index":0,"content_index":0,"delta":"Hi"}"#,
    #"{"type":"response.function_call_arguments.done","response_id":"r1","item_id":"f1","call_id":"c1","name":"n","arguments":"{}"}"#,
    #"{"type":"response.done","response":{"id":"r1","status":"completed","output":[{"id":"f1","type":"function_call","name":"n","call_id":"c1","arguments":"{}"}]}}"#,
    #"{"type":"input_audio_buffer.speech_started","audio_start_ms":20,"item_id":"i2"}"#,
    #"{"type":"rate_limits.updated","rate_limits":[]}"#,
].map { Array($0.utf8) }

private let ofClients: [[UInt8]] = [
    #"{"type":"session.update","session":{"type":"realtime","output_modalities":["audio"],"audio":{"input":{"format":{"type":"audio/pcm","rate":24000},"turn_detection":{"type":"server_vad","threshold":0.5,"prefix_padding_ms":300,"silence_duration_ms":500}},"output":{"voice":"v"}}}}"#,
    #"{"type":"input_audio_buffer.append","audio":"AAABAAIAAwAAAAEAAgADAA=="}"#,
    #"{"type":"input_audio_buffer.commit"}"#, #"{"type":"input_audio_buffer.clear"}"#,
    #"{"type":"conversation.item.create","previous_item_id":"root","item":{"id":"x","type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}}"#,
    #"{"type":"conversation.item.truncate","item_id":"item_2","content_index":0,"audio_end_ms":30}"#,
    #"{"type":"conversation.item.delete","item_id":"x"}"#, #"{"type":"conversation.item.retrieve","item_id":"x"}"#,
    #"{"type":"response.create","response":{"instructions":"short","conversation":"auto","metadata":{"a":"b"}}}"#,
    #"{"type":"response.cancel","response_id":"resp_1"}"#, #"{"type":"output_audio_buffer.clear"}"#,
].map { Array($0.utf8) }

private let ofChats: [[UInt8]] = [
    #"data: {"object":"chat.completion.chunk","choices":[{"delta":{"content":"Hi "},"finish_reason":null}]}\#n\#n"#,
    #"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"n","arguments":"{"}}]}}]}\#r\#n\#r\#n"#,
    #"data:{"choices":[{"delta":{},\#ndata: "finish_reason":"stop"}]}\#r\#r"#, "data: [DONE]\n\n", ": waits\n\n",
    #"data: {"error":{"message":"m","code":"x"}}\#n\#n"#,
    #"{"choices":[{"message":{"content":"Whole.","tool_calls":[{"id":"c","function":{"name":"n","arguments":"{}"}}]}}]}"#,
    #"{"error":{"message":"m","type":"insufficient_quota"}}"#,
].map { Array($0.utf8) }

/// libFuzzer's entry: one input, always answered 0; a precondition that fails is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes = unsafe bytes, count > 0 else { return 0 }
    var choices = Choices(unsafe Span(_unsafeStart: bytes, count: count))
    switch choices.number(below: 3) {
    case 0: play(client: &choices)
    case 1: play(server: &choices)
    default: play(asker: &choices)
    }
    return 0
}

/// One message: bytes as they are, or a genuine message in which some are replaced.
private func message(_ choices: inout Choices, of genuine: [[UInt8]]) -> [UInt8] {
    let kind = Int(choices.byte())
    if kind % 16 == 15 { return choices.bytes(choices.number(below: 200)) }
    var text = genuine[kind % genuine.count]
    for _ in 0..<choices.number(below: 4) {
        let place = (Int(choices.byte()) << 8 | Int(choices.byte())) % text.count
        text[place] = choices.byte()
    }
    return text
}

private func play(client choices: inout Choices) {
    var dialog = RealtimeDialog(RealtimeSettings())
    var now = Duration.zero
    var answer: AnswerID?
    dialog.start()
    dialog.opened(now: now)
    while !choices.isEmpty {
        now += .milliseconds(20)
        switch choices.number(below: 12) {
        case 0: dialog.hear([Int16](repeating: 100, count: choices.number(below: 64)))
        case 1: dialog.startTurn()
        case 2: answer = dialog.endTurn()
        case 3: if let answer { dialog.cancel(answer) }
        case 4: if let answer { _ = dialog.takeSound(of: answer, atMost: 480) }
        case 5:
            dialog.handleTimeout(now: now)
            dialog.opened(now: now)
        case 6: if let answer { dialog.heard(of: answer, .milliseconds(Int64(choices.byte())), isComplete: false) }
        default:
            let text = message(&choices, of: ofServers)
            asClient.spend { dialog.received(text, now: now) }
        }
        var outputs = 0
        while dialog.pollOutput() != nil { outputs += 1 }
        precondition(outputs < 1_000, "\(outputs) outputs of one input")
    }
}

private func play(server choices: inout Choices) {
    var session = ServedSession(ServedSettings(model: "m", voice: "v"))
    var now = Duration.zero
    var (recognising, responding): (String?, String?)
    session.start()
    while !choices.isEmpty {
        now += .milliseconds(20)
        switch choices.number(below: 12) {
        case 0: session.speechStarted(at: .milliseconds(Int64(choices.byte())))
        case 1:
            session.speechStopped(
                at: .milliseconds(Int64(choices.byte()) * 2), heard: .milliseconds(Int64(choices.byte()) * 2))
        case 2: if let recognising { session.recognised(recognising, .success("what was said")) }
        case 3: if let responding { _ = session.responded(responding, "A sentence.") }
        case 4: if let responding { _ = session.synthesised(responding, [Int16](repeating: 1, count: 480), now: now) }
        case 5: if let responding { session.synthesisEnded(responding, nil) }
        case 6: if let responding { session.responseEnded(responding, nil) }
        default:
            let text = message(&choices, of: ofClients)
            asServer.spend { session.received(text) }
        }
        var outputs = 0
        while let output = session.pollOutput() {
            outputs += 1
            if case .recognise(let item, _, _) = output { recognising = item }
            if case .respond(let response, _, _, _) = output { responding = response }
        }
        precondition(outputs < 1_000, "\(outputs) outputs of one input")
    }
}

private func play(asker choices: inout Choices) {
    let statuses = [200, 200, 200, 401, 404, 429, 500]
    var answer = ChatAnswer(
        status: statuses[choices.number(below: statuses.count)], hasKey: choices.byte() & 1 == 1)
    let isWhole = choices.byte() & 1 == 0
    var (came, said) = (0, 0)
    do {
        while !choices.isEmpty {
            // As it may be cut on its way, and as it comes.
            var text = message(&choices, of: ofChats)
            if choices.byte() & 7 == 7 { text.removeLast(choices.number(below: 64) % (text.count + 1)) }
            came += text.count
            let wasComplete = answer.isComplete
            let part = try asAsker.spend { try answer.take(text) }
            precondition(!wasComplete || part.isEmpty, "an answer goes on behind its end")
            said += part.utf8.count
        }
        said += try asAsker.spend { try answer.finish(isWhole: isWhole) }.utf8.count
        precondition(answer.isComplete, "an answer that has ended is not complete")
    } catch {
        precondition("\(error)".utf8.count < 8_000, "a server's words without end")
    }
    precondition(said <= came, "more is said than came")
    precondition(answer.toolCalls.count <= 8 && answer.toolCalls.allSatisfy { $0.arguments.utf8.count <= 16_384 })
}

func makeSeeds() -> [[UInt8]] {
    let all = (0..<12).flatMap { [11, UInt8($0), 0] as [UInt8] }
    return [
        [0, 1, 2] + all, [1] + all, [0, 11, 15, 5, 123, 125, 34, 34, 0],
        [1, 11, 1, 1, 0, 30, 34, 11, 2, 0, 2, 3, 4, 5, 6],
        [2, 0, 1, 0] + [0, 4, 1, 1, 2, 3].flatMap { [$0, 0, 0] as [UInt8] }, [2, 0, 1, 0, 6, 0, 0],
        [2, 0, 1, 1, 0, 0, 0, 1, 0, 7, 9], [2, 5, 1, 0, 7, 0, 0], [2, 0, 0, 0, 0, 0, 0, 5, 0, 0],
    ]
}
