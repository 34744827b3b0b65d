internal import CDuplexVoice

/// An object that C holds by a number. The table of handles keeps it alive.
protocol HandledObject: AnyObject {
    static var handleKind: UInt8 { get }
}

extension HandledObject {
    /// Gives it a number.
    func named() throws(Failure) -> UInt64 {
        let object = unsafe Unmanaged.passRetained(self)
        let handle = unsafe dv_handle_make(Self.handleKind, object.toOpaque())
        guard handle != 0 else {
            unsafe object.release()
            throw Failure(DV_TOO_MANY, "\(DV_HANDLE_SLOTS) objects exist, as many as there may be; destroy one")
        }
        return handle
    }

    /// Takes the number away, and the object with it.
    static func destroy(_ handle: UInt64) -> dv_status {
        var status = DV_OK
        guard let object = unsafe dv_handle_retire(handle, handleKind, &status) else { return status }
        unsafe Unmanaged<Self>.fromOpaque(object).release()
        return DV_OK
    }

    /// The object, kept alive by whoever asks: for control sides that take calls from many threads at once.
    static func held(_ handle: UInt64) throws(Failure) -> Self {
        var status = DV_OK
        guard let object = unsafe dv_handle_enter_soon(handle, handleKind, Side.control, &status) else {
            throw Failure(status)
        }
        defer { dv_handle_leave(handle, Side.control) }
        return unsafe Unmanaged<Self>.fromOpaque(object).takeUnretainedValue()
    }

    /// Takes the number away, once calls that ``held(_:)`` made have the object.
    static func retired(_ handle: UInt64) throws(Failure) -> Self {
        var status = DV_OK
        guard let object = unsafe dv_handle_retire_soon(handle, handleKind, &status) else { throw Failure(status) }
        return unsafe Unmanaged<Self>.fromOpaque(object).takeRetainedValue()
    }

    /// Runs the body with the object, of which these sides are its own meanwhile.
    @inline(__always)
    static func with(_ handle: UInt64, sides: UInt32, _ body: (Self) -> dv_status) -> dv_status {
        var status = DV_OK
        guard let object = unsafe dv_handle_enter(handle, handleKind, sides, &status) else { return status }
        defer { dv_handle_leave(handle, sides) }
        return unsafe Unmanaged<Self>.fromOpaque(object)._withUnsafeGuaranteedRef { body($0) }
    }
}

/// Kinds of objects, as they stand in handles.
enum HandleKind {
    static var processor: UInt8 { @_noLocks @_noAllocation get { 1 } }
    static var engine: UInt8 { @_noLocks @_noAllocation get { 2 } }
    static var farEnd: UInt8 { @_noLocks @_noAllocation get { 3 } }
    static var conversation: UInt8 { @_noLocks @_noAllocation get { 4 } }
    static var playout: UInt8 { @_noLocks @_noAllocation get { 5 } }
    static var graph: UInt8 { @_noLocks @_noAllocation get { 6 } }
    static var listener: UInt8 { @_noLocks @_noAllocation get { 7 } }
    static var meter: UInt8 { @_noLocks @_noAllocation get { 8 } }
}

/// Of which side of an object a call is.
enum Side {
    static var sound: UInt32 { @_noLocks @_noAllocation get { UInt32(DV_SIDE_SOUND) } }
    static var control: UInt32 { @_noLocks @_noAllocation get { UInt32(DV_SIDE_CONTROL) } }
    /// Of an object whose sound goes two ways: the loudspeaker's, or what a far end hears.
    static var secondSound: UInt32 { @_noLocks @_noAllocation get { UInt32(DV_SIDE_SECOND_SOUND) } }
}

/// What a call of a sound side may bring.
enum SoundCall {
    /// Frames at most.
    static var mostFrames: Int { @_noLocks @_noAllocation get { 1 << 20 } }

    @_noLocks @_noAllocation
    static func takes(_ frames: Int) -> Bool { frames >= 0 && frames <= mostFrames }

    /// Whether it can be a time of the monotonic clock, which begins at the machine's start: sums and differences of a
    /// few do not overflow, and a CLOCK_REALTIME's time of today is none.
    @_noLocks @_noAllocation
    static func isTime(_ nanoseconds: Int64) -> Bool { nanoseconds >= 0 && nanoseconds >> 60 == 0 }
}
