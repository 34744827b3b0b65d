public import VoiceDevices
internal import VoicePeers
public import VoiceRooms
public import VoiceText
public import VoiceTransport
public import VoiceTurns

extension EngineError {
    /// What went wrong, as a name for programs.
    public var code: ErrorCode {
        switch self {
        case .device(let error): error.code
        case .room(let end): end.code
        case .invalidConfiguration: .configurationInvalid
        case .resourcesExhausted: .engineResourcesExhausted
        case .notStarted: .engineNotStarted
        case .alreadyStarted: .engineAlreadyStarted
        case .notJoined: .roomNotJoined
        case .alreadyJoined: .roomAlreadyJoined
        case .unknownParticipant: .roomUnknownParticipant
        case .tooManyStreamNames: .roomTooManyStreamNames
        case .requestRefused(let error): error.code
        case .overloaded: .engineOverloaded
        case .alreadyConversing: .turnConversing
        case .turn(let refusal): refusal.code
        case .text(let error): error.code
        case .calledFromEngineThread: .engineCalledFromItsThread
        }
    }

    /// The room server's own number for its refusal, as docs/protocol.md has it; nil where it was not the server.
    public var serverCode: UInt8? {
        switch self {
        case .room(.session(.refused(let refusal, _))): refusal.rawValue
        case .room(.session(.removed(let reason))): reason.rawValue
        default: nil
        }
    }
}

extension DeviceError {
    /// What went wrong, as a name for programs.
    public var code: ErrorCode {
        switch self {
        case .notFound: .deviceNotFound
        case .busy: .deviceBusy
        case .permissionDenied: .devicePermissionDenied
        case .unsupported: .deviceUnsupported
        case .disconnected: .deviceDisconnected
        case .io: .deviceFailed
        case .invalidConfiguration: .deviceInvalidConfiguration
        case .file(let error): error.code
        case .alreadyRunning: .deviceAlreadyRunning
        }
    }
}

extension AudioFileError {
    /// What went wrong, as a name for programs.
    public var code: ErrorCode {
        switch self {
        case .missing: .fileMissing
        case .permissionDenied: .filePermissionDenied
        case .notAudio: .fileNotAudio
        case .unreadable: .fileUnreadable
        case .unwritable: .fileUnwritable
        case .diskFull: .fileDiskFull
        case .unsupportedRate: .fileUnsupportedRate
        case .tooManyChannels: .fileTooManyChannels
        case .tooLong: .fileTooLong
        }
    }
}

extension RoomClientEnd {
    /// What went wrong, as a name for programs.
    public var code: ErrorCode {
        switch self {
        case .session(let end): end.code
        case .unknownHost: .transportUnknownHost
        case .nameServiceUnavailable: .transportNameServiceUnavailable
        case .noTrust(.authoritiesUnreadable): .transportAuthoritiesUnreadable
        case .noTrust(.invalidHost): .transportInvalidHost
        case .noTrust(.outOfMemory): .transportNoMemory
        case .plaintextRefused: .transportPlaintextRefused
        case .system: .transportRefusedBySystem
        case .tokenUnavailable: .tokenUnavailable
        case .stopped: .roomLeft
        }
    }
}

extension RoomSessionEnd {
    /// What went wrong, as a name for programs.
    public var code: ErrorCode {
        switch self {
        case .left: .roomLeft
        case .refused(let refusal, _): refusal.code
        case .joinTimedOut: .transportNoAnswer
        case .connectionLost: .transportLost
        case .removed(.removedByServer): .roomRemoved
        case .removed(.replaced): .roomReplaced
        case .removed(.serverShuttingDown): .roomServerShuttingDown
        case .removed(.restarting): .roomServerRestarting
        case .removed(.tokenExpired): .tokenExpired
        case .identityRefused(.otherFingerprint): .transportOtherFingerprint
        case .identityRefused(.untrusted): .transportUntrusted
        case .identityRefused(.otherHost): .transportOtherHost
        case .identityRefused(.outOfDate): .transportCertificateOutOfDate
        case .handshakeFailed: .transportHandshakeFailed
        }
    }
}

extension RoomRefusal {
    /// What went wrong, as a name for programs.
    public var code: ErrorCode {
        switch self {
        case .malformed: .tokenMalformed
        case .versionMismatch: .roomVersionMismatch
        case .badSignature: .tokenBadSignature
        case .expired: .tokenExpired
        case .notYetValid: .tokenNotYetValid
        case .wrongRoom: .tokenWrongRoom
        case .noJoinRight: .tokenNoJoinRight
        case .noPublishRight: .tokenNoPublishRight
        case .noSubscribeRight: .tokenNoSubscribeRight
        case .roomFull: .roomFull
        case .serverFull: .roomServerFull
        case .serverShuttingDown: .roomServerShuttingDown
        case .unknownStream: .roomUnknownStream
        case .unknownParticipant: .roomUnknownParticipant
        case .receiverBusy: .roomReceiverBusy
        case .noInterruptionRight: .roomNoInterruptionRight
        case .tooOften: .roomTooOften
        case .wrongIdentity: .tokenWrongIdentity
        case .nameTaken: .roomStreamNameTaken
        case .listenerCannotPublish: .roomListener
        }
    }
}

extension RoomSessionError {
    /// What went wrong, as a name for programs.
    public var code: ErrorCode {
        switch self {
        case .notJoined: .roomNotJoined
        case .alreadyStarted: .roomAlreadyJoined
        case .queueFull: .roomQueueFull
        case .messageTooLong: .roomMessageTooLong
        case .tokenTooLong: .tokenTooLong
        case .roomNameTooLong: .roomNameTooLong
        case .streamNameTooLong: .roomStreamNameTooLong
        case .attributesTooLong: .roomAttributesTooLong
        }
    }
}

extension TextError {
    /// What went wrong, as a name for programs.
    public var code: ErrorCode {
        switch self {
        case .invalidName: .textInvalidName
        case .textTooLong: .textTooLong
        case .extrasTooLong: .textExtrasTooLong
        case .tooManyStreams: .textTooManyStreams
        }
    }
}

extension TurnRefusal {
    /// What went wrong, as a name for programs.
    public var code: ErrorCode {
        switch self {
        case .notInThisMode: .turnNotInThisMode
        case .alreadyListening: .turnAlreadyListening
        case .notListening: .turnNotListening
        case .turnIsOver: .turnOver
        case .idle: .turnIdle
        case .busy: .turnBusy
        case .invalidMode: .turnInvalidMode
        case .closed: .turnClosed
        }
    }
}
