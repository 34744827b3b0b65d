public import CDuplexVoice
internal import VoiceEngine
internal import VoiceRealtime

/// `dv_conversation_open`.
@c @implementation
public func dv_conversation_open(
    _ engine: dv_engine, _ config: UnsafePointer<dv_conversation_config>?,
    _ conversation: UnsafeMutablePointer<dv_conversation>?, _ far_end: UnsafeMutablePointer<dv_far_end>?,
    _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        guard let conversation = unsafe conversation, let far_end = unsafe far_end else {
            throw .argument("conversation or far_end is null; say where the handles go")
        }
        unsafe (conversation.pointee, far_end.pointee) = (0, 0)
        var given = dv_conversation_config()
        if unsafe config != nil { given = try unsafe dv_conversation_config.read(config) }
        let mode = try TalkMode(given.mode, endOfTurnMilliseconds: given.end_of_turn_ms, in: "config.")
        let configuration = try FarEndConfiguration(
            queueMilliseconds: given.queue_ms, nearEndRate: given.near_end_rate)
        let object = try EngineObject.held(engine)
        let made = try object.perform { engine throws(EngineError) in
            try engine.converse(mode, configuration: configuration)
        }
        let farEnd = try FarEndObject(made.farEnd).named()
        let talk = ConversationObject(made, farEnd: farEnd)
        let handle: dv_conversation
        do throws(Failure) { handle = try talk.named() } catch {
            _ = FarEndObject.destroy(farEnd)
            throw error
        }
        object.events.follow(made.farEnd.events, of: farEnd)
        object.events.follow(made.events, of: farEnd, latencies: talk.latencies)
        unsafe (conversation.pointee, far_end.pointee) = (handle, farEnd)
    }
}

/// `dv_conversation_close`.
@c @implementation
public func dv_conversation_close(_ conversation: dv_conversation) -> dv_status {
    reporting(to: nil) { () throws(Failure) in
        // The far end first, since that may be in use; somebody may have closed it.
        let farEnd = try ConversationObject.held(conversation).farEnd
        do throws(Failure) { _ = try FarEndObject.retired(farEnd) } catch {
            guard error.status == DV_INVALID_HANDLE else { throw error }
        }
        try ConversationObject.retired(conversation).conversation.close()
    }
}

/// `dv_conversation_answer`.
@c @implementation
public func dv_conversation_answer(
    _ conversation: dv_conversation, _ turn: UInt32, _ utterance: UnsafeMutablePointer<UInt32>?,
    _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        guard let utterance = unsafe utterance else { throw .argument("utterance is null; say where its number goes") }
        unsafe utterance.pointee = try ConversationObject.held(conversation).perform { talk throws(TurnRefusal) in
            try talk.answer(turn == 0 ? nil : TurnID(rawValue: turn)).utterance.rawValue
        }
    }
}

/// `dv_conversation_say`.
@c @implementation
public func dv_conversation_say(
    _ conversation: dv_conversation, _ samples: UnsafePointer<Float>?, _ frames: Int, _ rate: UInt32,
    _ utterance: UInt32, _ place: UnsafeMutablePointer<Int>?
) -> dv_status {
    reporting(to: nil) { () throws(Failure) in
        guard let samples = unsafe samples, SoundCall.takes(frames), let rate = SoundRate(rawValue: Int(rate)) else {
            throw .argument("samples is null, there are too many, or their rate is not 16000, 24000 or 48000")
        }
        let taken = try ConversationObject.held(conversation).conversation.offer(
            unsafe SoundSamples(samples, count: frames), rate: rate, of: UtteranceID(rawValue: utterance))
        guard let count = taken else { throw .noAnswer(utterance) }
        if let place = unsafe place { unsafe place.pointee = count }
    }
}

/// `dv_conversation_finish`.
@c @implementation
public func dv_conversation_finish(_ conversation: dv_conversation, _ utterance: UInt32) -> dv_status {
    reporting(to: nil) { () throws(Failure) in
        let talk = try ConversationObject.held(conversation).conversation
        guard let isFinished = talk.finish(UtteranceID(rawValue: utterance)) else { throw .noAnswer(utterance) }
        guard isFinished else { throw Failure(DV_BUSY) }
    }
}

extension Failure {
    fileprivate static func noAnswer(_ utterance: UInt32) -> Failure {
        .argument("utterance \(utterance) is no answer; give the number that dv_conversation_answer returned")
    }
}

/// `dv_conversation_start_speech`.
@c @implementation
public func dv_conversation_start_speech(
    _ conversation: dv_conversation, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        try ConversationObject.held(conversation).perform { talk throws(TurnRefusal) in try talk.startSpeech() }
    }
}

/// `dv_conversation_stop_speech`.
@c @implementation
public func dv_conversation_stop_speech(
    _ conversation: dv_conversation, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        try ConversationObject.held(conversation).perform { talk throws(TurnRefusal) in try talk.stopSpeech() }
    }
}

/// `dv_conversation_put_off_end`.
@c @implementation
public func dv_conversation_put_off_end(
    _ conversation: dv_conversation, _ delay_ms: UInt32, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        try ConversationObject.held(conversation).perform { talk throws(TurnRefusal) in
            try talk.putOffEnd(by: .milliseconds(Int(delay_ms)))
        }
    }
}

/// `dv_conversation_end_turn`.
@c @implementation
public func dv_conversation_end_turn(
    _ conversation: dv_conversation, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        try ConversationObject.held(conversation).perform { talk throws(TurnRefusal) in try talk.endTurn() }
    }
}

/// `dv_conversation_set_mode`.
@c @implementation
public func dv_conversation_set_mode(
    _ conversation: dv_conversation, _ mode: UInt32, _ end_of_turn_ms: UInt32,
    _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        let chosen = try TalkMode(mode, endOfTurnMilliseconds: end_of_turn_ms, in: "")
        try ConversationObject.held(conversation).perform { talk throws(TurnRefusal) in try talk.setMode(chosen) }
    }
}

/// `dv_conversation_confirm`.
@c @implementation
public func dv_conversation_confirm(_ conversation: dv_conversation) -> dv_status {
    reporting(to: nil) { () throws(Failure) in try ConversationObject.held(conversation).conversation.confirmBargeIn() }
}

/// `dv_conversation_cancel`.
@c @implementation
public func dv_conversation_cancel(
    _ conversation: dv_conversation, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        try ConversationObject.held(conversation).perform { talk throws(TurnRefusal) in try talk.cancel() }
    }
}

extension TalkMode {
    /// As the header has them; `place` is where they stand, for a complaint.
    fileprivate init(_ mode: UInt32, endOfTurnMilliseconds: UInt32, in place: String) throws(Failure) {
        let silence = Duration.milliseconds(endOfTurnMilliseconds == 0 ? 700 : Int(endOfTurnMilliseconds))
        switch Int(mode) {
        case DV_TALK_DUPLEX: self = .duplex(Duplex(endOfTurn: silence))
        case DV_TALK_PUSH: self = .pushToTalk()
        case DV_TALK_TAP: self = .tapToTalk(TapToTalk(endOfTurn: silence))
        default: throw .argument("\(place)mode is \(mode); take one of DV_TALK_DUPLEX and its like")
        }
    }
}

/// `dv_conversation_heard`.
@c @implementation
public func dv_conversation_heard(
    _ conversation: dv_conversation, _ utterance: UInt32, _ heard_ns: UnsafeMutablePointer<Int64>?
) -> dv_status {
    reporting(to: nil) { () throws(Failure) in
        guard let heard = unsafe heard_ns else { throw .argument("heard_ns is null") }
        let talk = try ConversationObject.held(conversation).conversation
        unsafe heard.pointee = talk.heard(of: UtteranceID(rawValue: utterance)).nanoseconds
    }
}

/// `dv_conversation_caption`.
@c @implementation
public func dv_conversation_caption(
    _ conversation: dv_conversation, _ utterance: UInt32, _ words: UnsafePointer<CChar>?
) -> dv_status {
    reporting(to: nil) { () throws(Failure) in
        guard let words = try unsafe text(words, "text") else { throw .argument("text is null; give the words") }
        let talk = try ConversationObject.held(conversation).conversation
        guard talk.caption(words, of: UtteranceID(rawValue: utterance)) else { throw .noAnswer(utterance) }
    }
}

/// `dv_conversation_get_caption`.
@c @implementation
public func dv_conversation_get_caption(
    _ conversation: dv_conversation, _ utterance: UInt32, _ place: UnsafeMutablePointer<CChar>?, _ capacity: Int,
    _ count: UnsafeMutablePointer<Int>?, _ heard: UnsafeMutablePointer<Int>?
) -> dv_status {
    reporting(to: nil) { () throws(Failure) in
        guard unsafe place != nil || capacity == 0, capacity >= 0, let heard = unsafe heard else {
            throw .argument("text or heard is null, or capacity too large; say where words and number go")
        }
        let talk = try ConversationObject.held(conversation).conversation
        guard let caption = talk.caption(of: UtteranceID(rawValue: utterance)) else { throw .noAnswer(utterance) }
        if capacity > 0 {
            unsafe copy(caption.text, into: UnsafeMutableRawBufferPointer(start: place, count: capacity))
        }
        if let count = unsafe count { unsafe count.pointee = caption.text.utf8.count }
        unsafe heard.pointee = caption.heard.utf8.count
    }
}

/// `dv_conversation_report_stages`.
@c @implementation
public func dv_conversation_report_stages(
    _ conversation: dv_conversation, _ utterance: UInt32, _ stages: UnsafePointer<dv_agent_stages>?,
    _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        let times = try AgentStageTimes(unsafe dv_agent_stages.read(stages))
        let talk = try ConversationObject.held(conversation).conversation
        guard talk.report(times, of: UtteranceID(rawValue: utterance)) else {
            throw Failure(DV_WRONG_STATE)
        }
    }
}

/// `dv_conversation_latency`.
@c @implementation
public func dv_conversation_latency(
    _ conversation: dv_conversation, _ turn: UInt32, _ latency: UnsafeMutablePointer<dv_answer_latency>?
) -> dv_status {
    reporting(to: nil) { () throws(Failure) in
        let kept = try ConversationObject.held(conversation).latencies.latency(of: turn)
        guard let kept else { throw Failure(DV_WRONG_STATE) }
        try unsafe kept.write(to: latency)
    }
}
