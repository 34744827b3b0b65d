public import CDuplexVoice

/// `dv_send_capture`.
@c @implementation @_noLocks @_noAllocation
public func dv_send_capture(
    _ engine: dv_engine, _ samples: UnsafePointer<Float>?, _ frames: Int, _ time_ns: Int64,
    _ taken: UnsafeMutablePointer<Int>?
) -> dv_status {
    var status = DV_OK
    guard let object = unsafe dv_handle_enter(engine, HandleKind.engine, Side.sound, &status) else {
        return status
    }
    status = unsafe Unmanaged<EngineObject>.fromOpaque(object)._withUnsafeGuaranteedRef {
        unsafe $0.send(samples, frames, time_ns, taken)
    }
    dv_handle_leave(engine, Side.sound)
    return status
}

/// `dv_send_reference`.
@c @implementation @_noLocks @_noAllocation
public func dv_send_reference(
    _ engine: dv_engine, _ samples: UnsafePointer<Float>?, _ frames: Int, _ time_ns: Int64,
    _ taken: UnsafeMutablePointer<Int>?
) -> dv_status {
    var status = DV_OK
    guard let object = unsafe dv_handle_enter(engine, HandleKind.engine, Side.secondSound, &status) else {
        return status
    }
    status = unsafe Unmanaged<EngineObject>.fromOpaque(object)._withUnsafeGuaranteedRef {
        unsafe $0.sendReference(samples, frames, time_ns, taken)
    }
    dv_handle_leave(engine, Side.secondSound)
    return status
}

/// `dv_pull_playback`.
@c @implementation @_noLocks @_noAllocation
public func dv_pull_playback(
    _ engine: dv_engine, _ samples: UnsafeMutablePointer<Float>?, _ frames: Int, _ time_ns: Int64,
    _ given: UnsafeMutablePointer<Int>?
) -> dv_status {
    guard let samples = unsafe samples, SoundCall.takes(frames) else {
        return DV_INVALID_ARGUMENT
    }
    var status = DV_OK
    if let object = unsafe dv_handle_enter(engine, HandleKind.engine, Side.secondSound, &status) {
        status = unsafe Unmanaged<EngineObject>.fromOpaque(object)._withUnsafeGuaranteedRef {
            unsafe $0.pull(samples, frames, time_ns, given)
        }
        dv_handle_leave(engine, Side.secondSound)
    }
    if status != DV_OK {
        var frame = 0
        while frame < frames {
            unsafe samples[frame] = 0
            frame &+= 1
        }
    }
    return status
}
