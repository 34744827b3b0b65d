import VoiceEngine
import VoicePeers
import VoiceRealtime
import VoiceTransport

extension Failure.Code {
    /// What an error of the engine is to a script.
    init(_ error: ErrorCode) {
        self =
            switch error {
            case .fileUnwritable, .fileDiskFull: .thresholdMissed
            case .tokenMalformed: .inputUnusable
            default:
                switch error.origin {
                case .configuration: .usage
                case .permission: .permissionDenied
                case .file: .inputUnusable
                case .usage, .device, .system, .transport, .room, .turn: .unavailable
                }
            }
    }
}

extension Failure {
    /// A failure of the engine.
    init(_ error: EngineError) {
        switch error {
        case .device(let error): self.init(error)
        case .room(let end): self.init(end)
        default: self.init(Code(error.code), error.explanation)
        }
    }

    /// A device that does not work.
    init(_ error: DeviceError) {
        let advice =
            if case .notFound = error {
                "; see 'duplex devices'; a call can do without one (--capture none, --playback none) or with files "
                    + "(--input, --output)"
            } else {
                ""
            }
        self.init(Code(error.code), error.description + advice)
    }

    /// A sound file that does not work.
    init(_ error: AudioFileError) { self.init(Code(error.code), error.description) }

    /// A room that could not be reached, or was lost.
    init(_ end: RoomClientEnd) {
        let message =
            switch end {
            case .system(let errno): "the network refused: \(systemReason(errno))"
            case .plaintextRefused: "\(end.explanation): --allow-plaintext"
            default: end.explanation
            }
        self.init(Code(end.code), message)
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
}

extension ServerIdentityError {
    /// What it is to a script.
    var code: Failure.Code {
        switch self {
        case .keyReadableByAll, .folderWritableByOthers: .permissionDenied
        case .unreadable(_, let number): SystemError(number: number).codeOfInput
        case .notAFile, .notACertificate, .notAKey, .otherKey, .weakCertificate: .inputUnusable
        case .invalidName: .usage
        case .unwritable(_, let number): SystemError(number: number).isForbidden ? .permissionDenied : .unavailable
        case .outOfMemory: .unavailable
        }
    }
}
