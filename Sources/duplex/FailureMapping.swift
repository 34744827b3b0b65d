import VoiceEngine
import VoicePeers
import VoiceTransport

extension Failure {
    /// A failure of the engine.
    init(_ error: EngineError) {
        switch error {
        case .device(let error): self.init(error)
        case .room(let error): self.init(error)
        case .invalidConfiguration(let complaint): self.init(.usage, complaint)
        case .resourcesExhausted(let complaint): self.init(.unavailable, complaint)
        case .notStarted, .alreadyStarted, .notJoined, .alreadyJoined, .unknownParticipant, .overloaded,
            .requestRefused, .calledFromEngineThread, .alreadyConversing,
            .turn:
            self.init(.unavailable, "the engine refused: \(error)")
        }
    }

    /// A device that does not work.
    init(_ error: DeviceError) {
        switch error {
        case .permissionDenied: self.init(.permissionDenied, "\(error)")
        case .file(let error): self.init(error)
        case .invalidConfiguration: self.init(.usage, "\(error)")
        case .notFound:
            self.init(.unavailable, "\(error); see 'duplex devices', or call with files by --input and --output")
        case .unsupported, .busy, .disconnected, .io, .alreadyRunning: self.init(.unavailable, "\(error)")
        }
    }

    /// A sound file that does not work.
    init(_ error: AudioFileError) {
        switch error {
        case .permissionDenied: self.init(.permissionDenied, "\(error)")
        case .unwritable, .diskFull: self.init(.thresholdMissed, "\(error)")
        default: self.init(.inputUnusable, "\(error)")
        }
    }

    /// A room that could not be reached, or was lost.
    init(_ end: RoomClientEnd) {
        switch end {
        case .session(let end): self.init(end)
        case .unknownHost(let host): self.init(.unavailable, "no host is named '\(host)'; check the server's name")
        case .nameServiceUnavailable(let host):
            self.init(.unavailable, "no name server answered for '\(host)'; check the network")
        case .plaintextRefused(let host):
            self.init(
                .permissionDenied,
                "'\(host)' is beyond this machine and nothing would be encrypted; use a duplex:// URL, or pass --allow-plaintext on a network of yours"
            )
        case .noTrust(.authoritiesUnreadable(let file)):
            self.init(
                .unavailable,
                "the authorities\(file.map { " in '\($0)'" } ?? "") cannot be read; install ca-certificates, or paste the URL with its fingerprint"
            )
        case .noTrust(.invalidHost(let host)): self.init(.usage, "'\(host)' is neither a host name nor an address")
        case .noTrust(.outOfMemory):
            self.init(.unavailable, "no memory for the server's certificate, or OpenSSL is broken")
        case .system(let errno): self.init(.unavailable, "the network refused: \(systemReason(errno))")
        case .tokenUnavailable: self.init(.permissionDenied, "no token could be had; ask whoever makes them")
        case .stopped: self.init(.unavailable, "the call was stopped")
        }
    }

    /// A room server that did not start.
    init(_ error: RoomServerError) {
        switch error {
        case .invalidAddress(let address):
            self.init(
                .usage,
                "'\(address)' is no numeric address; use localhost, 127.0.0.1, ::1, 0.0.0.0 or one of this machine's")
        case .plaintextRefused(let address):
            self.init(
                .permissionDenied,
                "'\(address)' is beyond loopback and nothing would be encrypted; leave out --plaintext, or pass --allow-plaintext on a network of yours"
            )
        case .identity(let error): self.init(error.code, "\(error)")
        case .portInUse(let port):
            self.init(.unavailable, "port \(port) is in use; choose another or end the other process")
        case .permissionDenied(let port):
            self.init(.permissionDenied, "no permission to use port \(port); use one from 1024 up")
        case .addressNotAvailable(let address):
            self.init(.unavailable, "'\(address)' is not an address of this machine")
        case .alreadyStarted: self.init(.unavailable, "the server runs already")
        case .system(let errno): self.init(.unavailable, "the system refused: \(systemReason(errno))")
        }
    }

    /// A stay in a room that ended by itself.
    init(_ end: RoomSessionEnd) {
        switch end {
        case .refused(let refusal, _): self.init(refusal.code, "the room refused: \(refusal.explanation)")
        case .joinTimedOut:
            self.init(
                .unavailable,
                "no room server has answered for \(RoomTimers.joinTimeout.components.seconds) s; check its address and that it runs"
            )
        case .connectionLost:
            self.init(
                .unavailable,
                "the room server was lost and did not come back within \(RoomTimers.breakWindow.components.seconds) s")
        case .removed(let reason): self.init(reason.code, "out of the room: \(reason.explanation)")
        case .left: self.init(.unavailable, "left the room")
        case .identityRefused(let refusal): self.init(.permissionDenied, refusal.explanation)
        case .handshakeFailed:
            self.init(
                .unavailable,
                "what answers there is no room server of this version; check the URL, and update the older side")
        }
    }
}

extension ServerIdentityError {
    /// What it is to a script.
    var code: Failure.Code {
        switch self {
        case .keyReadableByAll, .folderWritableByOthers: .permissionDenied
        case .unreadable, .notAFile, .notACertificate, .notAKey, .otherKey, .weakCertificate: .inputUnusable
        case .invalidName: .usage
        case .unwritable, .outOfMemory: .unavailable
        }
    }
}

extension IdentityRefusal {
    /// What is wrong and what to do.
    var explanation: String {
        switch self {
        case .otherFingerprint:
            "the server has another certificate than the URL's fingerprint says; get the URL anew from whoever runs it"
        case .untrusted:
            "no authority has signed the server's certificate; paste its URL with the fingerprint, or have it get a signed one"
        case .otherHost: "the server's certificate is for another host; check the URL"
        case .outOfDate:
            "the server's certificate has expired or is not valid yet; have it renewed, and check this machine's clock"
        }
    }
}

extension RoomRefusal {
    /// What the refusal is to a script.
    var code: Failure.Code {
        switch self {
        case .expired, .notYetValid, .badSignature, .wrongRoom, .noJoinRight, .noPublishRight, .noSubscribeRight,
            .noInterruptionRight, .wrongIdentity:
            .permissionDenied
        case .malformed: .inputUnusable
        case .roomFull, .serverFull, .versionMismatch, .serverShuttingDown, .unknownStream, .unknownParticipant,
            .receiverBusy, .tooOften:
            .unavailable
        }
    }

    /// What is wrong and what to do.
    var explanation: String {
        switch self {
        case .expired: "the token has expired; get a new one"
        case .notYetValid: "the token is not valid yet; wait, or check both machines' clocks"
        case .badSignature: "the token was not signed with this server's key and secret; get one from whoever runs it"
        case .wrongRoom: "the token is for another room; get one for this room"
        case .noJoinRight: "the token does not allow joining; get one that does"
        case .noPublishRight: "the token does not allow speaking; you can only listen"
        case .noSubscribeRight: "the token does not allow listening; you can only speak"
        case .roomFull: "the room is full; try again later"
        case .serverFull: "the server is full; try again later"
        case .versionMismatch: "client and server speak different versions of the protocol; update the older one"
        case .malformed: "the token cannot be read; copy it whole, or get a new one"
        case .serverShuttingDown: "the server is shutting down; try again later"
        case .unknownStream: "there is no such stream"
        case .unknownParticipant: "there is no such participant"
        case .receiverBusy: "the receiver is too slow; try again"
        case .noInterruptionRight: "whoever speaks lets nobody else interrupt"
        case .wrongIdentity: "the token is somebody else's; get one for the identity that you are in the room as"
        case .tooOften: "asked for too often; wait a moment"
        }
    }
}

extension RemovalReason {
    /// What it is to a script.
    var code: Failure.Code {
        switch self {
        case .tokenExpired: .permissionDenied
        case .removedByServer, .replaced, .serverShuttingDown, .restarting: .unavailable
        }
    }

    /// What happened and what to do.
    var explanation: String {
        switch self {
        case .removedByServer: "the server's operator ended your stay"
        case .replaced: "somebody else joined with your identity; use a token with another"
        case .serverShuttingDown: "the server is shutting down"
        case .tokenExpired: RoomRefusal.expired.explanation
        case .restarting: "the server is restarting; try again"
        }
    }
}
