package import ControlAPI
package import VoiceEngine
package import VoicePartner
package import VoiceTransport

/// What a ``ControlServer`` serves, and to whom.
package struct ControlConfiguration: Sendable {
    /// The address to listen on.
    package var interface = "127.0.0.1"
    /// 0 for any that is free.
    package var port: UInt16 = 0
    /// PEM files, for TLS.
    package var certificate: String?
    package var privateKey: String?
    /// Names that the server is asked by, beyond those of this machine.
    package var hosts: Set<String> = []
    package var clients: [Gatekeeper.Client]
    package var limits = SessionTable.Limits()
    /// Of the server, for its status.
    package var version = "unknown"
    /// What makes tokens; nil where it has no key for them.
    package var issuer: TokenIssuer?
    /// What hears, thinks and speaks; prepared.
    package var recogniser: any Recogniser
    package var responder: any Responder
    package var synthesiser: any Synthesiser
    /// The device of a session without a room.
    package var device: @Sendable () -> DeviceChoice = { .systemDefault }
    /// How long an answer that is given in pieces waits for the next; then it is over as it is.
    package var pieceTime = Duration.seconds(30)
    /// Seconds since 1970.
    package var unixTime: @Sendable () -> Int64

    package init(
        clients: [Gatekeeper.Client], recogniser: any Recogniser, responder: any Responder,
        synthesiser: any Synthesiser, unixTime: @escaping @Sendable () -> Int64
    ) {
        self.clients = clients
        self.recogniser = recogniser
        self.responder = responder
        self.synthesiser = synthesiser
        self.unixTime = unixTime
    }
}

/// What happens at a ``ControlServer``, for its log: no keys, tokens or words.
package enum ControlEvent: Equatable, Sendable {
    case sessionStarted(client: String, kind: String)
    case sessionEnded(client: String, reason: String)
    case asked(client: String)
}
