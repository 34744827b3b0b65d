public import CDuplexVoice
internal import VoiceEngine
internal import VoiceRooms

/// A function of C's that hears sound on the media thread.
@safe
private final class ForeignListener: SoundListener, @unchecked Sendable {
    // C says that it may be called on the media thread.
    private let call: dv_sound_listener
    private let context: UnsafeMutableRawPointer?

    init(_ call: dv_sound_listener, _ context: UnsafeMutableRawPointer?) {
        unsafe self.call = unsafe call
        unsafe self.context = context
    }

    func hear(_ block: Span<Float>, at nanoseconds: Int64) {
        dv_callback_enter()
        unsafe block.withUnsafeBufferPointer { samples in
            guard let start = samples.baseAddress else { return }
            unsafe call(context, start, samples.count, nanoseconds)
        }
        dv_callback_leave()
    }
}

/// The object behind a `dv_listener`.
private final class ListenerObject: HandledObject {
    static var handleKind: UInt8 { HandleKind.listener }

    let listening: SoundListening

    init(_ listening: SoundListening) { self.listening = listening }
}

/// Whom or what a listener hears, as the header has it.
private enum ListeningPlace {
    case point(SoundPoint)
    case participant(ParticipantID)

    init(_ point: UInt32, _ participant: UInt32) throws(Failure) {
        if Int(point) == DV_POINT_PARTICIPANT {
            guard participant != 0 else { throw .argument("participant is 0; say whom to hear") }
            self = .participant(ParticipantID(rawValue: participant))
            return
        }
        guard let known = UInt8(exactly: point).flatMap(SoundPoint.init(rawValue:)) else {
            throw .argument("point is \(point); take one of DV_POINT_…")
        }
        guard participant == 0 else {
            throw .argument("participant is \(participant); with this point it is 0")
        }
        self = .point(known)
    }
}

/// `dv_engine_listen`.
@c @implementation
public func dv_engine_listen(
    _ engine: dv_engine, _ point: UInt32, _ participant: UInt32, _ call: dv_sound_listener?,
    _ context: UnsafeMutableRawPointer?, _ listener: UnsafeMutablePointer<dv_listener>?,
    _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        guard let listener = unsafe listener else { throw .argument("listener is null; say where the handle goes") }
        unsafe listener.pointee = 0
        guard let call = unsafe call else { throw .argument("call is null; say what hears the sound") }
        let place = try ListeningPlace(point, participant)
        let foreign = unsafe ForeignListener(call, context)
        let listening = try EngineObject.held(engine).perform { engine throws(EngineError) in
            switch place {
            case .point(let point): try engine.listen(at: point, with: foreign)
            case .participant(let participant): try engine.listen(to: participant, with: foreign)
            }
        }
        unsafe listener.pointee = try ListenerObject(listening).named()
    }
}

/// `dv_listener_close`.
@c @implementation
public func dv_listener_close(_ listener: dv_listener) -> dv_status {
    guard !CallbackGate.isInside else { return DV_WRONG_STATE }
    return reporting(to: nil) { () throws(Failure) in try ListenerObject.retired(listener).listening.close() }
}
