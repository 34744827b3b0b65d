public import CDuplexVoice
internal import VoiceEngine

/// `dv_far_end_open`.
@c @implementation
public func dv_far_end_open(
    _ engine: dv_engine, _ config: UnsafePointer<dv_far_end_config>?, _ far_end: UnsafeMutablePointer<dv_far_end>?,
    _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        guard let far_end = unsafe far_end else { throw .argument("far_end is null; say where the handle goes") }
        unsafe far_end.pointee = 0
        var configuration = FarEndConfiguration()
        if let config = unsafe config {
            let given = try unsafe dv_far_end_config.read(config)
            configuration = try FarEndConfiguration(
                queueMilliseconds: given.queue_ms, nearEndRate: given.near_end_rate)
        }
        let object = try EngineObject.held(engine)
        let farEnd = try object.perform { [configuration] engine throws(EngineError) in
            try engine.openFarEnd(configuration)
        }
        let handle = try FarEndObject(farEnd).named()
        object.events.follow(farEnd.events, of: handle)
        unsafe far_end.pointee = handle
    }
}

/// `dv_far_end_close`.
@c @implementation
public func dv_far_end_close(_ far_end: dv_far_end) -> dv_status {
    reporting(to: nil) { () throws(Failure) in try FarEndObject.retired(far_end).farEnd.close() }
}

/// `dv_far_end_offer`.
@c @implementation @_noLocks @_noAllocation
public func dv_far_end_offer(
    _ far_end: dv_far_end, _ samples: UnsafePointer<Float>?, _ frames: Int, _ rate: UInt32, _ utterance: UInt32,
    _ is_last: UInt32, _ taken: UnsafeMutablePointer<Int>?
) -> dv_status {
    guard let samples = unsafe samples, SoundCall.takes(frames) else {
        return DV_INVALID_ARGUMENT
    }
    return unsafe offer(far_end, SoundSamples(samples, count: frames), rate, utterance, is_last, taken)
}

/// `dv_far_end_offer_int16`.
@c @implementation @_noLocks @_noAllocation
public func dv_far_end_offer_int16(
    _ far_end: dv_far_end, _ samples: UnsafePointer<Int16>?, _ frames: Int, _ rate: UInt32, _ utterance: UInt32,
    _ is_last: UInt32, _ taken: UnsafeMutablePointer<Int>?
) -> dv_status {
    guard let samples = unsafe samples, SoundCall.takes(frames) else {
        return DV_INVALID_ARGUMENT
    }
    return unsafe offer(far_end, SoundSamples(samples, count: frames), rate, utterance, is_last, taken)
}

@_noLocks @_noAllocation
private func offer(
    _ farEnd: dv_far_end, _ samples: SoundSamples, _ rate: UInt32, _ utterance: UInt32, _ isLast: UInt32,
    _ taken: UnsafeMutablePointer<Int>?
) -> dv_status {
    var status = DV_OK
    guard let object = unsafe dv_handle_enter(farEnd, HandleKind.farEnd, Side.sound, &status) else {
        return status
    }
    status = unsafe Unmanaged<FarEndObject>.fromOpaque(object)._withUnsafeGuaranteedRef {
        unsafe $0.offer(samples, rate, utterance, isLast, taken)
    }
    dv_handle_leave(farEnd, Side.sound)
    return status
}

/// `dv_far_end_take`.
@c @implementation @_noLocks @_noAllocation
public func dv_far_end_take(
    _ far_end: dv_far_end, _ samples: UnsafeMutablePointer<Float>?, _ frames: Int,
    _ taken: UnsafeMutablePointer<Int>?, _ time_ns: UnsafeMutablePointer<Int64>?
) -> dv_status {
    guard let samples = unsafe samples, let taken = unsafe taken, SoundCall.takes(frames) else {
        return DV_INVALID_ARGUMENT
    }
    var status = DV_OK
    guard let object = unsafe dv_handle_enter(far_end, HandleKind.farEnd, Side.secondSound, &status) else {
        return status
    }
    status = unsafe Unmanaged<FarEndObject>.fromOpaque(object)._withUnsafeGuaranteedRef {
        unsafe $0.take(samples, frames, taken, time_ns)
    }
    dv_handle_leave(far_end, Side.secondSound)
    return status
}

/// `dv_far_end_interrupt`.
@c @implementation
public func dv_far_end_interrupt(_ far_end: dv_far_end, _ utterance: UInt32) -> dv_status {
    reporting(to: nil) { () throws(Failure) in
        let farEnd = try FarEndObject.held(far_end).farEnd
        if utterance == 0 { farEnd.interrupt() } else { farEnd.interrupt(through: UtteranceID(rawValue: utterance)) }
    }
}

/// `dv_far_end_set_volume`.
@c @implementation
public func dv_far_end_set_volume(_ far_end: dv_far_end, _ volume: Float) -> dv_status {
    reporting(to: nil) { () throws(Failure) in
        let farEnd = try FarEndObject.held(far_end).farEnd
        do throws(EngineError) { try farEnd.setVolume(volume) } catch { throw Failure(error) }
    }
}

extension FarEndConfiguration {
    /// As the header has them: 0 is the default.
    init(queueMilliseconds: UInt32, nearEndRate rate: UInt32) throws(Failure) {
        self.init()
        if queueMilliseconds != 0 { queue = .milliseconds(Int(queueMilliseconds)) }
        guard rate != 0 else { return }
        guard let rate = SoundRate(rawValue: Int(rate)) else {
            throw .argument("config.near_end_rate is \(rate); take 16000, 24000 or 48000")
        }
        nearEndRate = rate
    }
}
