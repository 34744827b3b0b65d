/// Who or what stands in the way.
public enum ErrorOrigin: String, Sendable, CaseIterable {
    /// A value that was given.
    case configuration
    /// The order of calls.
    case usage
    /// A right that is missing, of the process or of the token.
    case permission
    /// A sound card.
    case device
    /// A sound file.
    case file
    /// This machine: memory, threads, time.
    case system
    /// The way to the room's server.
    case transport
    /// The room, its server or whoever is in it.
    case room
    /// Whose turn it is.
    case turn
}

/// What went wrong, as a name that stays the same from version to version: for logs, for scripts, for languages without
/// Swift's enumerations. docs/errors.md is the table of all.
public enum ErrorCode: String, Sendable, CaseIterable {
    case configurationInvalid = "configuration.invalid"

    case engineNotStarted = "engine.notStarted"
    case engineAlreadyStarted = "engine.alreadyStarted"
    case engineCalledFromItsThread = "engine.calledFromItsThread"
    case engineResourcesExhausted = "engine.resourcesExhausted"
    case engineOverloaded = "engine.overloaded"

    case deviceNotFound = "device.notFound"
    case deviceBusy = "device.busy"
    case devicePermissionDenied = "device.permissionDenied"
    case deviceUnsupported = "device.unsupported"
    case deviceDisconnected = "device.disconnected"
    case deviceFailed = "device.failed"
    case deviceInvalidConfiguration = "device.invalidConfiguration"
    case deviceAlreadyRunning = "device.alreadyRunning"

    case fileMissing = "file.missing"
    case filePermissionDenied = "file.permissionDenied"
    case fileNotAudio = "file.notAudio"
    case fileUnreadable = "file.unreadable"
    case fileUnwritable = "file.unwritable"
    case fileDiskFull = "file.diskFull"
    case fileUnsupportedRate = "file.unsupportedRate"
    case fileTooManyChannels = "file.tooManyChannels"
    case fileTooLong = "file.tooLong"

    case transportUnknownHost = "transport.unknownHost"
    case transportNameServiceUnavailable = "transport.nameServiceUnavailable"
    case transportPlaintextRefused = "transport.plaintextRefused"
    case transportAuthoritiesUnreadable = "transport.authoritiesUnreadable"
    case transportInvalidHost = "transport.invalidHost"
    case transportNoMemory = "transport.noMemory"
    case transportRefusedBySystem = "transport.refusedBySystem"
    case transportNoAnswer = "transport.noAnswer"
    case transportLost = "transport.lost"
    case transportHandshakeFailed = "transport.handshakeFailed"
    case transportOtherFingerprint = "transport.otherFingerprint"
    case transportUntrusted = "transport.untrusted"
    case transportOtherHost = "transport.otherHost"
    case transportCertificateOutOfDate = "transport.certificateOutOfDate"

    case tokenUnavailable = "token.unavailable"
    case tokenTooLong = "token.tooLong"
    case tokenMalformed = "token.malformed"
    case tokenBadSignature = "token.badSignature"
    case tokenExpired = "token.expired"
    case tokenNotYetValid = "token.notYetValid"
    case tokenWrongRoom = "token.wrongRoom"
    case tokenWrongIdentity = "token.wrongIdentity"
    case tokenNoJoinRight = "token.noJoinRight"
    case tokenNoPublishRight = "token.noPublishRight"
    case tokenNoSubscribeRight = "token.noSubscribeRight"

    case roomNotJoined = "room.notJoined"
    case roomAlreadyJoined = "room.alreadyJoined"
    case roomLeft = "room.left"
    case roomFull = "room.full"
    case roomServerFull = "room.serverFull"
    case roomVersionMismatch = "room.versionMismatch"
    case roomServerShuttingDown = "room.serverShuttingDown"
    case roomServerRestarting = "room.serverRestarting"
    case roomRemoved = "room.removed"
    case roomReplaced = "room.replaced"
    case roomUnknownStream = "room.unknownStream"
    case roomUnknownParticipant = "room.unknownParticipant"
    case roomReceiverBusy = "room.receiverBusy"
    case roomNoInterruptionRight = "room.noInterruptionRight"
    case roomTooOften = "room.tooOften"
    case roomQueueFull = "room.queueFull"
    case roomMessageTooLong = "room.messageTooLong"
    case roomNameTooLong = "room.nameTooLong"
    case roomStreamNameTaken = "room.streamNameTaken"
    case roomStreamNameTooLong = "room.streamNameTooLong"
    case roomTooManyStreamNames = "room.tooManyStreamNames"
    case roomListener = "room.listener"
    case roomAttributesTooLong = "room.attributesTooLong"

    case textInvalidName = "text.invalidName"
    case textTooLong = "text.tooLong"
    case textExtrasTooLong = "text.extrasTooLong"
    case textTooManyStreams = "text.tooManyStreams"

    case turnConversing = "turn.conversing"
    case turnNotInThisMode = "turn.notInThisMode"
    case turnAlreadyListening = "turn.alreadyListening"
    case turnNotListening = "turn.notListening"
    case turnOver = "turn.over"
    case turnIdle = "turn.idle"
    case turnBusy = "turn.busy"
    case turnClosed = "turn.closed"
    case turnInvalidMode = "turn.invalidMode"
}

extension ErrorCode {
    /// Who or what stands in the way.
    public var origin: ErrorOrigin { facts.origin }

    /// Whether the same call may succeed later, with nothing changed by the caller.
    public var isRetryable: Bool { facts.again }

    /// What to do about it.
    public var remedy: String { facts.remedy }

    private var facts: (origin: ErrorOrigin, again: Bool, remedy: String) {
        switch self {
        case .configurationInvalid: (.configuration, false, "correct the setting that the explanation names")
        case .engineNotStarted: (.usage, false, "call start() first")
        case .engineAlreadyStarted: (.usage, false, "call stop() before")
        case .engineCalledFromItsThread: (.usage, false, "make the call from a thread of your own, not from a callback")
        case .engineResourcesExhausted:
            (.system, true, "free memory, threads or descriptors, or raise the process's limits")
        case .engineOverloaded:
            (.system, true, "give the media thread real-time priority, or the machine less to do; then try again")
        case .deviceNotFound: (.device, false, "choose one of those that are there: duplex devices")
        case .deviceBusy:
            (.device, true, "close the program that holds it, or use a device that shares (dmix, dsnoop, PipeWire)")
        case .devicePermissionDenied:
            (.permission, false, "add the user to the group audio, or grant access to /dev/snd")
        case .deviceUnsupported: (.device, false, "ask for what the device offers, or name it through plug:")
        case .deviceDisconnected: (.device, true, "plug it in again, or choose another")
        case .deviceFailed: (.device, true, "try again; if it comes back, report it with the explanation")
        case .deviceInvalidConfiguration: (.configuration, false, "correct the setting that the explanation names")
        case .deviceAlreadyRunning: (.usage, false, "stop it first")
        case .fileMissing: (.file, false, "check the path")
        case .filePermissionDenied: (.permission, false, "check the permissions of the file and its folder")
        case .fileNotAudio: (.file, false, "convert it to WAV")
        case .fileUnreadable: (.file, false, "the file is damaged: fetch it anew")
        case .fileUnwritable: (.file, false, "choose another place")
        case .fileDiskFull: (.file, true, "free some space; what was written before may be incomplete")
        case .fileUnsupportedRate: (.file, false, "convert it to a rate that the explanation names")
        case .fileTooManyChannels: (.file, false, "extract the channels that are meant")
        case .fileTooLong: (.file, false, "cut it")
        case .transportUnknownHost: (.transport, false, "check the server's name")
        case .transportNameServiceUnavailable: (.transport, true, "check the network")
        case .transportPlaintextRefused:
            (.permission, false, "use a duplex:// URL; or allow plaintext, on a network of your own")
        case .transportAuthoritiesUnreadable:
            (.transport, false, "install ca-certificates, or use the URL with its fingerprint")
        case .transportInvalidHost: (.configuration, false, "give a host name or an address")
        case .transportNoMemory: (.system, true, "raise the process's limits; if it comes back, install libssl3 anew")
        case .transportRefusedBySystem: (.transport, true, "check the route to the host, and the process's limits")
        case .transportNoAnswer:
            (.transport, true, "check that the server runs, its address and port, and the firewall")
        case .transportLost: (.transport, true, "check the network and the server, then join again")
        case .transportHandshakeFailed: (.transport, false, "check the URL, and update the older side")
        case .transportOtherFingerprint: (.permission, false, "get the URL anew from whoever runs the server")
        case .transportUntrusted:
            (.permission, false, "use the URL with its fingerprint, or have the server get a signed certificate")
        case .transportOtherHost: (.permission, false, "check the URL's host")
        case .transportCertificateOutOfDate:
            (.permission, false, "have the certificate renewed, and check this machine's clock")
        case .tokenUnavailable: (.permission, true, "ask whoever makes the tokens")
        case .tokenTooLong: (.configuration, false, "get a token with fewer claims")
        case .tokenMalformed: (.permission, false, "copy the token whole, or get a new one")
        case .tokenBadSignature: (.permission, false, "get a token made with this server's key")
        case .tokenExpired: (.permission, false, "get a new token")
        case .tokenNotYetValid: (.permission, true, "wait, or set both machines' clocks")
        case .tokenWrongRoom: (.permission, false, "get a token for this room")
        case .tokenWrongIdentity: (.permission, false, "get a token for the identity that is in the room")
        case .tokenNoJoinRight: (.permission, false, "get a token that grants roomJoin")
        case .tokenNoPublishRight: (.permission, false, "listen only, or get a token that grants canPublish")
        case .tokenNoSubscribeRight: (.permission, false, "speak only, or get a token that grants canSubscribe")
        case .roomNotJoined: (.usage, false, "join first, and wait until that is granted")
        case .roomAlreadyJoined: (.usage, false, "leave before")
        case .roomLeft: (.room, false, "join again, if that was not meant")
        case .roomFull: (.room, true, "try later")
        case .roomServerFull: (.room, true, "try later, or another server")
        case .roomVersionMismatch: (.room, false, "update the older side")
        case .roomServerShuttingDown: (.room, true, "try another server, or this one after its restart")
        case .roomServerRestarting: (.room, true, "try again in some seconds")
        case .roomRemoved: (.room, false, "ask whoever runs the server")
        case .roomReplaced: (.room, false, "use a token with another identity")
        case .roomUnknownStream: (.room, false, "use the streams of the roster")
        case .roomUnknownParticipant: (.room, false, "use the participants of the roster")
        case .roomReceiverBusy: (.room, true, "send it again, later")
        case .roomNoInterruptionRight: (.permission, false, "lower its volume, or leave it to the publisher")
        case .roomTooOften: (.room, true, "wait half a second")
        case .roomQueueFull: (.room, true, "send less often, or again later")
        case .roomMessageTooLong: (.configuration, false, "send a shorter message, or several")
        case .roomNameTooLong: (.configuration, false, "use a shorter name for the room")
        case .roomStreamNameTaken: (.room, false, "choose another name, or unpublish the other stream")
        case .roomStreamNameTooLong: (.configuration, false, "use a name of 1 to 64 bytes")
        case .roomTooManyStreamNames: (.usage, false, "play those that were named before")
        case .roomListener: (.room, false, "become a talker first")
        case .roomAttributesTooLong: (.configuration, false, "tell less of yourself, or in fewer words")
        case .textInvalidName: (.configuration, false, "choose another name")
        case .textTooLong: (.configuration, false, "begin the next round, or send less")
        case .textExtrasTooLong: (.configuration, false, "send less along with the text")
        case .textTooManyStreams: (.configuration, false, "use those that there are")
        case .turnConversing: (.usage, false, "close the conversation before another begins")
        case .turnNotInThisMode: (.turn, false, "switch to a mode in which turns begin and end by a call")
        case .turnAlreadyListening: (.turn, false, "nothing: the near talker has the turn")
        case .turnNotListening: (.turn, false, "start the turn first")
        case .turnOver: (.turn, false, "nothing: what belongs to that turn is not wanted any more")
        case .turnIdle: (.turn, false, "nothing: there is no turn to cancel")
        case .turnBusy: (.turn, true, "wait until it is nobody's turn, or cancel what is under way")
        case .turnClosed: (.turn, false, "begin another conversation")
        case .turnInvalidMode: (.configuration, false, "correct the number that the explanation names")
        }
    }
}
