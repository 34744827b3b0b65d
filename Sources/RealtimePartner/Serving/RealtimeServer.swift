package import VoiceDialog
package import VoicePartner
package import VoiceWeb

/// What happens at a ``RealtimeServer``.
package enum ServedEvent: Equatable, Sendable {
    case connected
    /// And why, where the client did not close it.
    case disconnected(String?)
    /// What a talker said; empty where nothing was understood.
    case recognised(String)
    case failed(PartnerError)
}

/// A partner's recogniser, responder and synthesiser behind a server that speaks the Realtime protocol, for up to 16
/// clients. Letting it go ends their sessions.
package final class RealtimeServer: Sendable {
    /// Where it listens.
    package let port: UInt16
    private let server: WebSocketServer

    /// Listens; the partner's parts must be prepared. Blocks shortly.
    ///
    /// - Parameters:
    ///   - settings: what a session begins with.
    ///   - interface: and what follows: see ``WebSocketServer``.
    ///   - tell: called with what happens, from any thread; must not block.
    package init(
        _ settings: ServedSettings, interface: String, port: UInt16, certificate: String? = nil,
        privateKey: String? = nil, key: String? = nil, recogniser: any Recogniser, responder: any Responder,
        synthesiser: any Synthesiser, tell: @escaping @Sendable (ServedEvent) -> Void = { _ in }
    ) throws(WebSocketFailure) {
        let desk = RecogniserDesk(recogniser)
        server = try WebSocketServer(
            interface: interface, port: port, certificate: certificate, privateKey: privateKey, key: key,
            header: "openai-beta"
        ) { link in
            // What names no version, or another, is told in the present shapes.
            let versions = (link.header ?? "").split { $0 == "," || $0 == ";" || $0 == " " }
            let settings = settings.of(versions.contains("realtime=v1") ? .beta : .current)
            Task {
                await ServedClient(link, settings, desk, responder, synthesiser, tell: tell).run()
            }
        }
        self.port = server.port
    }
}
