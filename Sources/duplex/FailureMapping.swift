import Glibc
import VoiceEngine

extension Failure {
    /// A failure of the engine.
    init(_ error: EngineError) {
        switch error {
        case .device(let error): self.init(error)
        case .room(let error): self.init(error)
        case .invalidConfiguration(let complaint): self.init(.inputUnusable, complaint)
        case .resourcesExhausted(let complaint): self.init(.unavailable, complaint)
        case .notStarted, .alreadyStarted, .notJoined, .alreadyJoined, .unknownParticipant, .overloaded,
            .requestRefused:
            self.init(.unavailable, "the engine refused: \(error)")
        }
    }

    /// A device that does not work.
    init(_ error: DeviceError) {
        switch error {
        case .permissionDenied: self.init(.permissionDenied, "\(error)")
        case .file(let error): self.init(error)
        case .unsupported, .invalidConfiguration: self.init(.inputUnusable, "\(error)")
        case .notFound, .busy, .disconnected, .io, .alreadyRunning: self.init(.unavailable, "\(error)")
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
                "'\(host)' is beyond this machine and nothing would be encrypted; pass --allow-plaintext on a network of yours")
        case .system(let errno): self.init(.unavailable, "the network refused: \(Self.systemReason(errno))")
        case .stopped: self.init(.unavailable, "the call was stopped")
        }
    }

    private static func systemReason(_ number: Int32) -> String {
        guard let text = unsafe strerror(number) else { return "error \(number)" }
        return unsafe String(cString: text)
    }

    /// A room server that did not start.
    init(_ error: RoomServerError) {
        switch error {
        case .invalidAddress(let address):
            self.init(.inputUnusable, "'\(address)' is no numeric address; use 127.0.0.1, ::1, 0.0.0.0 or one of this machine's")
        case .plaintextRefused(let address):
            self.init(
                .permissionDenied,
                "'\(address)' is beyond loopback and nothing would be encrypted; pass --allow-plaintext on a network of yours")
        case .portInUse(let port): self.init(.unavailable, "port \(port) is in use; choose another or end the other process")
        case .permissionDenied(let port): self.init(.permissionDenied, "no permission to use port \(port); use one from 1024 up")
        case .addressNotAvailable(let address): self.init(.unavailable, "'\(address)' is not an address of this machine")
        case .alreadyStarted: self.init(.unavailable, "the server runs already")
        case .system(let errno): self.init(.unavailable, "the system refused: \(Self.systemReason(errno))")
        }
    }

    /// A stay in a room that ended by itself.
    init(_ end: RoomSessionEnd) {
        switch end {
        case .refused(let refusal, _): self.init(.permissionDenied, "the room refused: \(refusal.explanation)")
        case .joinTimedOut: self.init(.unavailable, "the room server does not answer; check its address and that it runs")
        case .connectionLost: self.init(.unavailable, "the room server was lost and did not come back within 30 s")
        case .removed(let reason): self.init(.unavailable, "removed from the room: \(reason)")
        case .left: self.init(.unavailable, "left the room")
        }
    }
}

extension RoomRefusal {
    /// What is wrong and what to do.
    var explanation: String {
        switch self {
        case .expired: "the token has expired; get a new one"
        case .notYetValid: "the token is not valid yet; check both machines' clocks"
        case .badSignature: "the token was not signed with this server's secret"
        case .wrongRoom: "the token is for another room"
        case .noJoinRight: "the token does not allow joining"
        case .noPublishRight: "the token does not allow speaking"
        case .noSubscribeRight: "the token does not allow listening"
        case .roomFull: "the room is full"
        case .serverFull: "the server is full"
        case .versionMismatch: "client and server speak different versions of the protocol; update the older one"
        case .malformed: "the token is not a token"
        case .serverShuttingDown: "the server is shutting down"
        case .unknownStream: "no such stream"
        case .unknownParticipant: "no such participant"
        case .receiverBusy: "the receiver is too slow; try again"
        }
    }
}
