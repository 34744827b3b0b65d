public import CDuplexVoice
internal import VoiceEngine

/// `dv_engine_play_stream`.
@c @implementation
public func dv_engine_play_stream(
    _ engine: dv_engine, _ stream: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe change(engine, stream, error) { engine, name throws(EngineError) in try engine.play(name) }
}

/// `dv_engine_stop_stream`.
@c @implementation
public func dv_engine_stop_stream(
    _ engine: dv_engine, _ stream: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe change(engine, stream, error) { engine, name throws(EngineError) in try engine.stopPlaying(name) }
}

/// `dv_engine_set_stream_volume`.
@c @implementation
public func dv_engine_set_stream_volume(
    _ engine: dv_engine, _ stream: UnsafePointer<CChar>?, _ volume: Float, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe change(engine, stream, error) { engine, name throws(EngineError) in
        try engine.setVolume(volume, ofStream: name)
    }
}

/// `dv_engine_set_stream_muted`.
@c @implementation
public func dv_engine_set_stream_muted(
    _ engine: dv_engine, _ stream: UnsafePointer<CChar>?, _ muted: UInt32, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        let muted = try flag(muted, "muted")
        guard let name = try unsafe text(stream, "stream") else { throw .argument("stream is null; name one") }
        try EngineObject.held(engine).perform { engine throws(EngineError) in
            try engine.setMuted(muted, ofStream: name)
        }
    }
}

/// `dv_engine_publish_stream`.
@c @implementation
public func dv_engine_publish_stream(
    _ engine: dv_engine, _ stream: UnsafePointer<CChar>?, _ is_speech: UInt32,
    _ config: UnsafePointer<dv_far_end_config>?, _ far_end: UnsafeMutablePointer<dv_far_end>?,
    _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        guard let far_end = unsafe far_end else { throw .argument("far_end is null; say where the handle goes") }
        unsafe far_end.pointee = 0
        var configuration = try flag(is_speech, "is_speech") ? OutgoingStreamConfiguration.speech : .music
        if let config = unsafe config {
            let given = try unsafe dv_far_end_config.read(config)
            let asked = try FarEndConfiguration(queueMilliseconds: given.queue_ms, nearEndRate: given.near_end_rate)
            if given.queue_ms != 0 { configuration.queue = asked.queue }
        }
        guard let name = try unsafe text(stream, "stream") else { throw .argument("stream is null; name one") }
        let object = try EngineObject.held(engine)
        let farEnd = try object.perform { [configuration] engine throws(EngineError) in
            try engine.publish(stream: name, configuration).source
        }
        let handle = try FarEndObject(farEnd).named()
        object.events.follow(farEnd.events, of: handle)
        unsafe far_end.pointee = handle
    }
}

/// `dv_engine_publish`.
@c @implementation
public func dv_engine_publish(
    _ engine: dv_engine, _ stream: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        let name = try unsafe text(stream, "stream") ?? ""
        try EngineObject.held(engine).perform { engine throws(EngineError) in try engine.publish(as: name) }
    }
}

/// `dv_engine_unpublish`.
@c @implementation
public func dv_engine_unpublish(_ engine: dv_engine, _ error: UnsafeMutablePointer<dv_error>?) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        try EngineObject.held(engine).perform { engine throws(EngineError) in engine.unpublish() }
    }
}

/// `dv_engine_set_role`.
@c @implementation
public func dv_engine_set_role(
    _ engine: dv_engine, _ role: UInt32, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        let role = try RoomRole(number: role, "role")
        try EngineObject.held(engine).perform { engine throws(EngineError) in try engine.setRole(role) }
    }
}

/// `dv_engine_set_attribute`.
@c @implementation
public func dv_engine_set_attribute(
    _ engine: dv_engine, _ key: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?,
    _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        guard let key = try unsafe text(key, "key") else { throw .argument("key is null; name one") }
        let value = try unsafe text(value, "value")
        try EngineObject.held(engine).perform { engine throws(EngineError) in try engine.setAttribute(key, to: value) }
    }
}

private func change(
    _ engine: dv_engine, _ stream: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<dv_error>?,
    _ body: @escaping @Sendable (isolated VoiceEngine, String) throws(EngineError) -> Void
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        guard let name = try unsafe text(stream, "stream") else { throw .argument("stream is null; name one") }
        try EngineObject.held(engine).perform { engine throws(EngineError) in try body(engine, name) }
    }
}

extension RoomRole {
    /// One of DV_ROLE_…
    init(number: UInt32, _ field: String) throws(Failure) {
        guard let raw = UInt8(exactly: number), let role = RoomRole(rawValue: raw) else {
            throw .argument("\(field) is \(number); take DV_ROLE_TALKER or DV_ROLE_LISTENER")
        }
        self = role
    }
}
