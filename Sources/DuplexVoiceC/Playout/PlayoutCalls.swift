public import CDuplexVoice

/// `dv_playout_create`.
@c @implementation
public func dv_playout_create(
    _ config: UnsafePointer<dv_playout_config>?, _ playout: UnsafeMutablePointer<dv_playout>?,
    _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        guard let playout = unsafe playout else { throw .argument("playout is null; say where the handle goes") }
        unsafe playout.pointee = 0
        var choice = PlayoutChoice()
        if let config = unsafe config { choice = try PlayoutChoice(try unsafe dv_playout_config.read(config)) }
        unsafe playout.pointee = try Playout.make(choice).named()
    }
}

/// `dv_playout_destroy`.
@c @implementation
public func dv_playout_destroy(_ playout: dv_playout) -> dv_status { Playout.destroy(playout) }

/// `dv_playout_insert`.
@c @implementation @_noLocks @_noAllocation
public func dv_playout_insert(
    _ playout: dv_playout, _ packet: UnsafeRawPointer?, _ count: Int, _ arrival_ns: Int64
) -> dv_status {
    guard let packet = unsafe packet, count >= 1, count <= PlayoutPacket.mostBytes, SoundCall.isTime(arrival_ns) else {
        return DV_INVALID_ARGUMENT
    }
    var status = DV_OK
    guard let object = unsafe dv_handle_enter(playout, HandleKind.playout, Side.secondSound, &status) else {
        return status
    }
    status = unsafe Unmanaged<Playout>.fromOpaque(object)._withUnsafeGuaranteedRef {
        unsafe $0.insert(packet.assumingMemoryBound(to: UInt8.self), count, arrival_ns)
    }
    dv_handle_leave(playout, Side.secondSound)
    return status
}

/// `dv_playout_insert_opus`.
@c @implementation @_noLocks @_noAllocation
public func dv_playout_insert_opus(
    _ playout: dv_playout, _ payload: UnsafeRawPointer?, _ count: Int, _ sequence_number: UInt16, _ timestamp: UInt32,
    _ arrival_ns: Int64
) -> dv_status {
    guard let payload = unsafe payload, count >= 1, count <= PlayoutPacket.mostBytes &- PlayoutPacket.headerBytes,
        SoundCall.isTime(arrival_ns)
    else { return DV_INVALID_ARGUMENT }
    var status = DV_OK
    guard let object = unsafe dv_handle_enter(playout, HandleKind.playout, Side.secondSound, &status) else {
        return status
    }
    status = unsafe Unmanaged<Playout>.fromOpaque(object)._withUnsafeGuaranteedRef {
        unsafe $0.insert(
            payload.assumingMemoryBound(to: UInt8.self), count, sequence_number, timestamp, arrival_ns)
    }
    dv_handle_leave(playout, Side.secondSound)
    return status
}

/// `dv_playout_pull`.
@c @implementation
public func dv_playout_pull(
    _ playout: dv_playout, _ samples: UnsafeMutablePointer<Float>?, _ frames: Int, _ now_ns: Int64
) -> dv_status {
    guard let samples = unsafe samples, SoundCall.takes(frames) else { return DV_INVALID_ARGUMENT }
    var status = DV_INVALID_ARGUMENT
    if SoundCall.isTime(now_ns) {
        status = Playout.with(playout, sides: Side.sound) { playout in
            unsafe playout.pull(samples, frames, now_ns)
            return DV_OK
        }
    }
    if status != DV_OK { unsafe samples.update(repeating: 0, count: frames) }
    return status
}

/// `dv_playout_reset`.
@c @implementation
public func dv_playout_reset(_ playout: dv_playout) -> dv_status {
    Playout.with(playout, sides: Side.control) { playout in
        playout.reset()
        return DV_OK
    }
}

/// `dv_playout_get_statistics`.
@c @implementation
public func dv_playout_get_statistics(
    _ playout: dv_playout, _ statistics: UnsafeMutablePointer<dv_playout_statistics>?
) -> dv_status {
    Playout.with(playout, sides: Side.control) { playout in
        reporting(to: nil) { () throws(Failure) in try unsafe playout.statistics().write(to: statistics) }
    }
}
