internal import ControlAPI
internal import VoiceRealtime
package import VoiceWeb

/// Serves the control API (docs/control.md) over HTTP. Letting it go ends connections; ``stop()`` ends sessions too.
///
///     StreamServer ══ bytes ══► HTTPConnection ── head ──► Gatekeeper, ControlOperation
///      (a thread)                    │ request
///                                    └──► ControlDesk (sessions of clients) ──► ControlSession ── engines
package final class ControlServer: Sendable {
    /// Where it listens.
    package let port: UInt16
    private let server: StreamServer
    private let desk: ControlDesk
    private let sweeper: Task<Void, Never>

    /// How often it is looked for sessions that nobody uses.
    private static let sweepPeriod = Duration.seconds(5)

    /// - Parameter tell: called with what happens, from any thread; must not block.
    package init(
        _ configuration: ControlConfiguration, tell: @escaping @Sendable (ControlEvent) -> Void = { _ in }
    ) throws(WebSocketFailure) {
        let desk = ControlDesk(configuration, tell: tell)
        let gate = Gatekeeper(configuration.clients, hosts: configuration.hosts)
        let places = RequestPlaces()
        server = try StreamServer(
            interface: configuration.interface, port: configuration.port, certificate: configuration.certificate,
            privateKey: configuration.privateKey
        ) { link in
            ControlConnection(link, desk, gate, places)
        }
        port = server.port
        self.desk = desk
        sweeper = Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.sweepPeriod)
                await desk.endIdle()
            }
        }
    }

    deinit { sweeper.cancel() }

    /// Ends all sessions.
    package func stop() async {
        sweeper.cancel()
        await desk.endAll()
    }

    /// This moment, by the clock that all of it goes by.
    static var now: Duration { MonotonicTime.now().sinceEpoch }
}
