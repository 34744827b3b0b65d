internal import CDuplexVoice

/// `dv_version`; see duplexvoice.h, as for all that is exported here.
@c @implementation
public func dv_version() -> UInt32 { UInt32(DV_VERSION_MAJOR << 16 | DV_VERSION_MINOR << 8 | DV_VERSION_PATCH) }

/// `dv_status_text`.
@c @implementation
public func dv_status_text(_ status: Int32) -> UnsafePointer<CChar> {
    // The address of a literal lasts, and costs nothing.
    let text: StaticString =
        switch dv_status(status) {
        case DV_OK: "done"
        case DV_INVALID_HANDLE: "the handle names no object of this kind: it was never made, or is destroyed; make one"
        case DV_BUSY: "another call of the same side of the object runs; call from one thread, or again"
        case DV_INVALID_ARGUMENT: "an argument is null that must not be, or out of its range; correct the call"
        case DV_INVALID_SIZE: "a structure's size is none that any version had; set it to sizeof"
        case DV_UNSUPPORTED: "this library cannot do what is asked; ask for less, or take a newer one"
        case DV_TOO_MANY: "as many objects exist as there may be; destroy one"
        case DV_OUT_OF_MEMORY: "there is no memory; free some"
        case DV_INTERNAL: "a library below refused; this is worth a report"
        case DV_WRONG_STATE: "the object is not in a state for that; make the calls in their order"
        case DV_NOT_PERMITTED: "a right is missing, of the process or of the token; dv_error says which"
        case DV_DEVICE_FAILED: "a sound card or sound file failed; dv_error says which and what to do"
        case DV_NETWORK_FAILED: "the room's server could not be reached; dv_error says what to do"
        case DV_ROOM_REFUSED: "the room refused; dv_error says why"
        case DV_EXHAUSTED:
            "the machine has no threads, memory, descriptors or time to spare; free some, then call again"
        default: "this number is no status of this library"
        }
    return unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}
