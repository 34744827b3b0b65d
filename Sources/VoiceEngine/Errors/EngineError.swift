internal import VoiceCoding
public import VoiceDevices
internal import VoiceProcessing
public import VoiceRooms
public import VoiceText
public import VoiceTransport
public import VoiceTurns

/// Why the engine could not do what it was asked, grouped by what the caller can do about it.
public enum EngineError: Error, Sendable {
    /// A device could not be opened or started; the device's error says which and what to do.
    case device(DeviceError)
    /// The room could not be reached or refused; the error says why. The engine runs on without a room.
    case room(RoomClientEnd)
    /// A setting is out of its range. Correct it; the old settings stay.
    case invalidConfiguration(String)
    /// The system gave no thread, memory or codec. Free resources, then try again.
    case resourcesExhausted(String)
    /// The call needs a started engine: call `start()` first.
    case notStarted
    /// `start()` was called twice. Call `stop()` before.
    case alreadyStarted
    /// The call needs a room: `join(_:)` first.
    case notJoined
    /// `join(_:)` was called in a room. Call `leave()` before.
    case alreadyJoined
    /// No participant of that identifier is in the room.
    case unknownParticipant(ParticipantID)
    /// The app has named as many streams as an engine takes. Play those, or stop playing them.
    case tooManyStreamNames
    /// A request to the room could not be sent: too long, or too many are waiting.
    case requestRefused(RoomSessionError)
    /// The media thread did not take commands for a while; it is overloaded. Try again.
    case overloaded
    /// A conversation is under way: close it before another begins, since there is one microphone.
    case alreadyConversing
    /// The conversation's turn does not allow what was asked; nothing has changed. The refusal says why.
    case turn(TurnRefusal)
    /// A text cannot be sent, and stays as it was.
    case text(TextError)
    /// A call that waits came from a thread of the engine's, as callbacks do, and would never end. Make it from another
    /// thread.
    case calledFromEngineThread
}

extension EngineError {
    init(_ error: RoomSessionError) {
        switch error {
        case .notJoined: self = .notJoined
        case .alreadyStarted: self = .alreadyJoined
        default: self = .requestRefused(error)
        }
    }

    init(_ error: ProcessingError) {
        switch error {
        case .libraryRefused, .outOfMemory: self = .resourcesExhausted("the processing backend failed: \(error)")
        default: self = .invalidConfiguration("processing: \(error)")
        }
    }

    init(_ error: OpusError) {
        switch error {
        case .invalidSetting: self = .invalidConfiguration("Opus: \(error)")
        default: self = .resourcesExhausted("Opus: \(error)")
        }
    }
}
