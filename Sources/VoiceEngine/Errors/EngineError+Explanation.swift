internal import VoiceDevices
internal import VoicePeers
internal import VoiceRealtime
public import VoiceRooms
internal import VoiceText
public import VoiceTransport
internal import VoiceTurns

extension EngineError {
    /// What is wrong, where, and what to do: one sentence for people. It may hold names that others chose: escape it
    /// before a terminal sees it (``PlainText``).
    public var explanation: String {
        switch self {
        case .device(let error): error.description
        case .room(let end): end.explanation
        case .invalidConfiguration(let complaint), .resourcesExhausted(let complaint): complaint
        case .turn(.invalidMode(let fault)): fault.description
        case .notStarted: "the engine is not started; \(code.remedy)"
        case .alreadyStarted: "the engine runs already; \(code.remedy)"
        case .notJoined: RoomSessionError.notJoined.explanation
        case .alreadyJoined: RoomSessionError.alreadyStarted.explanation
        case .unknownParticipant(let participant):
            "no \(participant) is in the room; \(code.remedy)"
        case .tooManyStreamNames: "too many streams have been named; \(code.remedy)"
        case .requestRefused(let error): error.explanation
        case .overloaded: "the media thread took no command for a while; \(code.remedy)"
        case .alreadyConversing: "a conversation is under way; \(code.remedy)"
        case .turn(.notInThisMode): "the mode has no such thing; \(code.remedy)"
        case .turn(.alreadyListening): "the near talker has the turn already"
        case .turn(.notListening): "the near talker does not have the turn; \(code.remedy)"
        case .turn(.turnIsOver(let turn)): "turn \(turn.rawValue) is over"
        case .turn(.idle): "it is nobody's turn"
        case .turn(.closed): "the conversation is over; \(code.remedy)"
        case .turn(.busy(let state)): "it is somebody's turn (\(state)); \(code.remedy)"
        case .text(.invalidName): "a text stream's name has 1 to \(TextFormat.nameLimit) bytes; \(code.remedy)"
        case .text(.textTooLong(let bytes)):
            "the text would have \(bytes) bytes, of \(TextFormat.textLimit) possible; \(code.remedy)"
        case .text(.extrasTooLong(let bytes)):
            "the extras have \(bytes) bytes, of \(TextFormat.extrasLimit) possible; \(code.remedy)"
        case .text(.tooManyStreams): "there are \(TextFormat.streamLimit) text streams already; \(code.remedy)"
        case .calledFromEngineThread: "the call waits, and came from a thread of the engine's own; \(code.remedy)"
        }
    }
}

extension EngineError: CustomStringConvertible {
    /// The ``explanation``.
    public var description: String { explanation }
}

extension RoomClientEnd {
    /// What is wrong, where, and what to do.
    public var explanation: String {
        switch self {
        case .session(let end): end.explanation
        case .unknownHost(let host): "no host is named '\(host)'; \(code.remedy)"
        case .nameServiceUnavailable(let host): "no name server answered for '\(host)'; \(code.remedy)"
        case .plaintextRefused(let host):
            "'\(host)' is beyond this machine and nothing would be encrypted; \(code.remedy)"
        case .noTrust(.authoritiesUnreadable(let file)):
            "the authorities\(file.map { " in '\($0)'" } ?? "") cannot be read; \(code.remedy)"
        case .noTrust(.invalidHost(let host)): "'\(host)' is neither a host name nor an address"
        case .noTrust(.outOfMemory): "no memory for the server's certificate, or OpenSSL is broken; \(code.remedy)"
        case .system(let errno): "the network refused: \(systemReason(errno)); \(code.remedy)"
        case .tokenUnavailable: "no token could be had; \(code.remedy)"
        case .stopped: "the stay in the room was stopped"
        }
    }
}

extension RoomSessionEnd {
    /// What is wrong, where, and what to do.
    public var explanation: String {
        switch self {
        case .refused(let refusal, _): "the room refused: \(refusal.explanation)"
        case .joinTimedOut:
            "no room server has answered for \(RoomTimers.joinTimeout.components.seconds) s; \(code.remedy)"
        case .connectionLost:
            "the room server was lost and did not come back within \(RoomTimers.breakWindow.components.seconds) s; \(code.remedy)"
        case .removed(let reason): "out of the room: \(reason.explanation)"
        case .left: "left the room"
        case .identityRefused(.otherFingerprint):
            "the server has another certificate than the URL's fingerprint says; \(code.remedy)"
        case .identityRefused(.untrusted): "no authority has signed the server's certificate; \(code.remedy)"
        case .identityRefused(.otherHost): "the server's certificate is for another host; \(code.remedy)"
        case .identityRefused(.outOfDate): "the server's certificate has expired or is not valid yet; \(code.remedy)"
        case .handshakeFailed: "what answers there is no room server of this version; \(code.remedy)"
        }
    }
}

extension RoomRefusal {
    /// What is wrong and what to do.
    public var explanation: String {
        switch self {
        case .expired: "the token has expired; \(code.remedy)"
        case .notYetValid: "the token is not valid yet; \(code.remedy)"
        case .badSignature: "the token was not signed with this server's key and secret; \(code.remedy)"
        case .wrongRoom: "the token is for another room; \(code.remedy)"
        case .noJoinRight: "the token does not allow joining; \(code.remedy)"
        case .noPublishRight: "the token does not allow speaking; \(code.remedy)"
        case .noSubscribeRight: "the token does not allow listening; \(code.remedy)"
        case .roomFull: "the room is full; \(code.remedy)"
        case .serverFull: "the server is full; \(code.remedy)"
        case .versionMismatch: "client and server speak different versions of the protocol; \(code.remedy)"
        case .malformed: "the token cannot be read; \(code.remedy)"
        case .serverShuttingDown: "the server is shutting down; \(code.remedy)"
        case .unknownStream: "there is no such stream; \(code.remedy)"
        case .unknownParticipant: "there is no such participant; \(code.remedy)"
        case .receiverBusy: "the receiver is too slow; \(code.remedy)"
        case .noInterruptionRight: "whoever speaks lets nobody else interrupt; \(code.remedy)"
        case .wrongIdentity: "the token is somebody else's; \(code.remedy)"
        case .tooOften: "asked for too often; \(code.remedy)"
        case .nameTaken: "another stream of the room has that name; \(code.remedy)"
        case .listenerCannotPublish: "listeners publish nothing; \(code.remedy)"
        }
    }
}

extension RemovalReason {
    /// What happened and what to do.
    public var explanation: String {
        switch self {
        case .removedByServer: "the server's operator ended your stay"
        case .replaced: "somebody else joined with your identity; \(ErrorCode.roomReplaced.remedy)"
        case .serverShuttingDown: "the server is shutting down; \(ErrorCode.roomServerShuttingDown.remedy)"
        case .tokenExpired: RoomRefusal.expired.explanation
        case .restarting: "the server is restarting; \(ErrorCode.roomServerRestarting.remedy)"
        }
    }
}

extension RoomSessionError {
    /// What is wrong and what to do.
    public var explanation: String {
        switch self {
        case .notJoined: "the engine is in no room; \(code.remedy)"
        case .alreadyStarted: "the engine is in a room already; \(code.remedy)"
        case .queueFull: "too many messages wait for the server; \(code.remedy)"
        case .messageTooLong: "a message is longer than \(RoomProtocol.messageLimit) bytes; \(code.remedy)"
        case .tokenTooLong: "a token is longer than \(RoomProtocol.tokenLimit) bytes; \(code.remedy)"
        case .roomNameTooLong: "the room's name is longer than \(RoomProtocol.textLimit) bytes; \(code.remedy)"
        case .streamNameTooLong:
            "a stream's name is empty, or longer than \(RoomProtocol.streamNameLimit) bytes; \(code.remedy)"
        case .attributesTooLong:
            "there are more than \(ParticipantAttributes.countLimit) attributes or \(ParticipantAttributes.byteLimit) bytes of them; \(code.remedy)"
        }
    }
}
