public import CDuplexVoice
internal import VoiceEngine

/// `dv_engine_set_text`.
@c @implementation
public func dv_engine_set_text(
    _ engine: dv_engine, _ stream: UnsafePointer<CChar>?, _ text: UnsafePointer<CChar>?, _ is_final: UInt32,
    _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe change(engine, stream, text, is_final, error) { engine, stream, text, isFinal throws(EngineError) in
        try engine.setText(stream, to: text, isFinal: isFinal)
    }
}

/// `dv_engine_append_text`.
@c @implementation
public func dv_engine_append_text(
    _ engine: dv_engine, _ stream: UnsafePointer<CChar>?, _ text: UnsafePointer<CChar>?, _ is_final: UInt32,
    _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe change(engine, stream, text, is_final, error) { engine, stream, text, isFinal throws(EngineError) in
        try engine.appendText(stream, text, isFinal: isFinal)
    }
}

/// `dv_engine_abandon_text`.
@c @implementation
public func dv_engine_abandon_text(
    _ engine: dv_engine, _ stream: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        guard let name = try unsafe text(stream, "stream") else { throw .argument("stream is null; name one") }
        try EngineObject.held(engine).perform { engine throws(EngineError) in engine.abandonText(name) }
    }
}

/// `dv_engine_add_caption`.
@c @implementation
public func dv_engine_add_caption(
    _ engine: dv_engine, _ utterance: UInt32, _ words: UnsafePointer<CChar>?, _ start_ms: UInt32, _ end_ms: Int32,
    _ is_last: UInt32, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        guard let words = try unsafe text(words, "text") else { throw .argument("text is null; give the words") }
        guard utterance > 0, end_ms >= -1 else {
            throw .argument("utterance is \(utterance) and end_ms \(end_ms); take 1 or more, and -1 or more")
        }
        let isLast = try flag(is_last, "is_last")
        let end: Duration? = end_ms < 0 ? nil : .milliseconds(end_ms)
        try EngineObject.held(engine).addCaption(
            words, from: .milliseconds(start_ms), to: end, of: utterance, isWhole: isLast)
    }
}

private func change(
    _ engine: dv_engine, _ stream: UnsafePointer<CChar>?, _ change: UnsafePointer<CChar>?, _ isFinal: UInt32,
    _ error: UnsafeMutablePointer<dv_error>?,
    _ body: @escaping @Sendable (isolated VoiceEngine, String, String, Bool) throws(EngineError) -> Void
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        guard let name = try unsafe text(stream, "stream"), let change = try unsafe text(change, "text") else {
            throw .argument("stream or text is null; give both")
        }
        let isFinal = try flag(isFinal, "is_final")
        try EngineObject.held(engine).perform { engine throws(EngineError) in try body(engine, name, change, isFinal) }
    }
}
