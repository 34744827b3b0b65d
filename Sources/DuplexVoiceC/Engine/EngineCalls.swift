public import CDuplexVoice
internal import VoiceEngine

/// `dv_engine_create`.
@c @implementation
public func dv_engine_create(
    _ config: UnsafePointer<dv_engine_config>?, _ engine: UnsafeMutablePointer<dv_engine>?,
    _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        guard let engine = unsafe engine else { throw .argument("engine is null; say where the handle goes") }
        unsafe engine.pointee = 0
        var configuration = EngineConfiguration.voiceChat
        if let config = unsafe config {
            configuration = try unsafe EngineConfiguration(try unsafe dv_engine_config.read(config))
        }
        unsafe engine.pointee = try EngineObject(configuration).named()
    }
}

/// `dv_engine_start`.
@c @implementation
public func dv_engine_start(_ engine: dv_engine, _ error: UnsafeMutablePointer<dv_error>?) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        try EngineObject.held(engine).perform { engine throws(EngineError) in _ = try engine.start() }
    }
}

/// `dv_engine_stop`.
@c @implementation
public func dv_engine_stop(_ engine: dv_engine, _ error: UnsafeMutablePointer<dv_error>?) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        try EngineObject.held(engine).complete { .success(await $0.stop()) }
    }
}

/// `dv_engine_destroy`.
@c @implementation
public func dv_engine_destroy(_ engine: dv_engine) -> dv_status {
    reporting(to: nil) { () throws(Failure) in
        try CallbackGate.checkOutside()
        let object = try EngineObject.retired(engine)
        object.events.close()
        try object.complete { .success(await $0.stop()) }
    }
}

/// `dv_engine_next_event`.
@c @implementation
public func dv_engine_next_event(
    _ engine: dv_engine, _ timeout_ms: Int32, _ event: UnsafeMutablePointer<dv_event>?
) -> dv_status {
    reporting(to: nil) { () throws(Failure) in
        guard timeout_ms >= -1 else { throw .argument("timeout_ms is \(timeout_ms); take -1 or more") }
        // Before an event is taken that could not be written.
        try unsafe dv_event.checkRoom(at: event)
        let timeout: Duration? = timeout_ms < 0 ? nil : .milliseconds(Int(timeout_ms))
        guard let next = try EngineObject.held(engine).events.next(timeout: timeout) else {
            throw Failure(DV_INVALID_HANDLE)
        }
        try unsafe next.write(to: event)
    }
}

/// `dv_engine_event_descriptor`.
@c @implementation
public func dv_engine_event_descriptor(
    _ engine: dv_engine, _ descriptor: UnsafeMutablePointer<Int32>?
) -> dv_status {
    reporting(to: nil) { () throws(Failure) in
        guard let descriptor = unsafe descriptor else { throw .argument("descriptor is null") }
        unsafe descriptor.pointee = try EngineObject.held(engine).events.descriptor
    }
}

/// `dv_engine_set_muted`.
@c @implementation
public func dv_engine_set_muted(
    _ engine: dv_engine, _ muted: UInt32, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        let muted = try flag(muted, "muted")
        try EngineObject.held(engine).perform { engine throws(EngineError) in try engine.setMuted(muted) }
    }
}

/// `dv_engine_set_output_volume`.
@c @implementation
public func dv_engine_set_output_volume(
    _ engine: dv_engine, _ volume: Float, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        try EngineObject.held(engine).perform { engine throws(EngineError) in try engine.setOutputVolume(volume) }
    }
}

/// `dv_engine_follow_noise`.
@c @implementation
public func dv_engine_follow_noise(
    _ engine: dv_engine, _ is_on: UInt32, _ range: Float, _ quiet: Float, _ loud: Float,
    _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        let following = try flag(is_on, "is_on") ? NoiseFollowing(range: range, quiet: quiet, loud: loud) : nil
        try EngineObject.held(engine).perform { engine throws(EngineError) in try engine.setNoiseFollowing(following) }
    }
}

/// `dv_engine_level_talkers`.
@c @implementation
public func dv_engine_level_talkers(
    _ engine: dv_engine, _ is_on: UInt32, _ target: Float, _ range: Float, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        let levelling = try flag(is_on, "is_on") ? TalkerLevelling(target: target, range: range) : nil
        try EngineObject.held(engine).perform { engine throws(EngineError) in
            try engine.setTalkerLevelling(levelling)
        }
    }
}

/// `dv_engine_apply`.
@c @implementation
public func dv_engine_apply(
    _ engine: dv_engine, _ settings: UnsafePointer<dv_processor_settings>?, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        let settings = try ProcessingSettings(try unsafe dv_processor_settings.read(settings))
        try EngineObject.held(engine).perform { engine throws(EngineError) in try engine.setProcessing(settings) }
    }
}

/// `dv_engine_apply_preset`.
@c @implementation
public func dv_engine_apply_preset(
    _ engine: dv_engine, _ preset: UInt32, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        let preset = try EngineConfiguration.Preset(number: preset, "preset")
        try EngineObject.held(engine).perform { engine throws(EngineError) in try engine.apply(preset) }
    }
}

/// `dv_engine_set_route`.
@c @implementation
public func dv_engine_set_route(
    _ engine: dv_engine, _ route: UInt32, _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        let profile = try RouteProfile(number: route, "route")
        try EngineObject.held(engine).perform { engine throws(EngineError) in try engine.setRouteProfile(profile) }
    }
}

/// `dv_engine_select_devices`.
@c @implementation
public func dv_engine_select_devices(
    _ engine: dv_engine, _ capture: UnsafePointer<CChar>?, _ playback: UnsafePointer<CChar>?,
    _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        let (capture, playback) = (try unsafe text(capture, "capture"), try unsafe text(playback, "playback"))
        try EngineObject.held(engine).perform { engine throws(EngineError) in
            _ = try engine.selectDevices(capture: capture, playback: playback)
        }
    }
}
