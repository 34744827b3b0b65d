internal import CWebSocket
internal import VoiceRealtime

/// A WebSocket server on a thread of its own, for up to 16 clients at any path. Letting it go closes all, and waits for
/// its thread.
package final class WebSocketServer: Sendable {
    /// Where it listens.
    package let port: UInt16
    private let loop: WebLoop
    private let thread: RealtimeThread

    /// - Parameters:
    ///   - interface: the address, such as 127.0.0.1.
    ///   - port: 0 for any that is free.
    ///   - certificate: a PEM file, for wss, with `privateKey`.
    ///   - key: what clients must bring, visible ASCII of less than 4 KiB; nil for nothing, and then browsers are
    ///     served pages of this machine alone.
    ///   - header: the name of a request's header, in lower case, whose value ``WebSocketLink/header`` tells.
    ///   - accept: takes a connection; called on the server's thread.
    package init(
        interface: String, port: UInt16, certificate: String? = nil, privateKey: String? = nil, key: String? = nil,
        header: String? = nil, limits: WebSocketLimits = WebSocketLimits(),
        accept: @escaping @Sendable (WebSocketLink) -> Void
    ) throws(WebSocketFailure) {
        let loop = WebLoop(limits: limits, accept: accept)
        let place = ListeningPlace(
            interface: interface, port: port, certificate: certificate, privateKey: privateKey, key: key,
            toldHeader: header.map { "\($0):" }, messageSeconds: limits.messageSeconds)
        let server = try ServerThread(name: "dv-web") { started in
            unsafe loop.run(
                { handler, owner in unsafe place.withOptions { unsafe dv_web_listen($0, handler, owner) } },
                started: started)
        }
        self.loop = loop
        (thread, self.port) = (server.thread, server.port)
    }

    deinit { loop.stop() }
}
