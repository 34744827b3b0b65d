import ArgumentParser
import Glibc
import VoiceTransport

/// Serves rooms.
struct RoomServe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve rooms on one UDP port: forwards sound, never decodes it.",
        discussion: """
            Everybody with a valid token is let in; the token names the room. Runs until Control-C, which ends all calls. \
            SIGTERM, as a service manager sends it, tells the clients to come back to the server that takes its place. Control messages and sound are not \
            encrypted yet, so the server refuses any address but loopback unless told --allow-plaintext.
            """)

    @Option(help: "The address to listen on.")
    var address = "127.0.0.1"
    @Option(help: "The UDP port; 0 lets the system choose.")
    var port: UInt16 = 7_900
    @Flag(help: "Listen beyond loopback although nothing is encrypted.")
    var allowPlaintext = false
    @Flag(help: "Print NDJSON.")
    var json = false
    @OptionGroup var secret: RoomSecret

    func run() async throws {
        try await reportingFailure {
            let interruption = Interruption()
            let server = RoomServer(
                configuration: RoomServerConfiguration(host: address, port: port, allowPlaintext: allowPlaintext),
                verifier: TokenVerifier(keys: [try secret.load()]))
            let bound: UInt16
            do throws(RoomServerError) { bound = try server.start() } catch { throw Failure(error) }
            let log = RoomServeLog(json: json)
            log.listening(address: address, port: bound)
            let follower = Task {
                for await event in server.events { log.show(event) }
            }
            // Whoever runs services sends SIGTERM to restart one; Control-C is a person who ends it.
            let signal = await interruption.wait()
            server.stop(restarting: signal == SIGTERM)
            await follower.value
            log.end(server.statistics)
        }
    }
}
