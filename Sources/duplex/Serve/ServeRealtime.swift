import ArgumentParser
import RealtimePartner
import VoiceDialog
import VoicePartner
import VoiceTransport
import VoiceWeb

/// Serves the partner that needs no network, as servers of the Realtime protocol do.
struct ServeRealtime: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve-realtime",
        abstract: "Serve the offline partner by the Realtime protocol, for other clients and without a cloud.",
        discussion: """
            Listens for WebSockets at any path and speaks the present generation of the protocol: PCM16, G.711, turns found by the server or told by the client, \
            answers in sound or text, interruptions that know where they cut. Functions and pictures are not served. At most 16 clients at a time; turns are recognised \
            one after another.

            Without --key-file everybody on this machine may connect, but no page of another host in a browser. Beyond this machine it needs a key and a certificate.

            Runs until Control-C. Key and certificate are read when it starts.

            For example:

              duplex serve-realtime --port 8800 --key-file key
            """)

    @Option(help: "The address to listen on.") var address = "127.0.0.1"
    @Option(help: "The TCP port; 0 lets the system choose.") var port: UInt16 = 7_980
    @Option(help: "A file whose first line is the key that clients must have.", completion: .file())
    var keyFile: String?
    @Option(help: "The certificate in PEM, for wss.", completion: .file()) var certificate: String?
    @Option(help: "The certificate's private key in PEM.", completion: .file()) var privateKey: String?
    @OptionGroup var parts: OfflineOptions
    @Flag(help: "Print events as NDJSON.") var json = false

    /// What sessions call the model.
    private static let model = "duplexvoice-offline"

    func validate() throws {
        guard (certificate == nil) == (privateKey == nil) else {
            throw ValidationError("--certificate and --private-key belong together; give both or neither")
        }
        guard ServerKey.isThisMachine(address) || (keyFile != nil && certificate != nil) else {
            throw ValidationError(
                "'\(address)' is beyond this machine: give --key-file, --certificate and --private-key, or leave out --address"
            )
        }
    }

    func run() async throws {
        ProcessMemory.keepOutOfCoreDumps()
        try await reportingFailure {
            let interruption = Interruption()
            try ServingCertificate.check(certificate, privateKey)
            let key = try keyFile.map { try ServerKey.read($0) }
            let log = ServeRealtimeLog(json: json)
            let parts = try await prepared()
            let server: RealtimeServer
            do throws(WebSocketFailure) {
                server = try RealtimeServer(
                    ServedSettings(model: Self.model, voice: self.parts.voice), interface: address, port: port,
                    certificate: certificate, privateKey: privateKey, key: key, recogniser: parts.recogniser,
                    responder: parts.responder, synthesiser: parts.synthesiser
                ) { log.show($0) }
            } catch {
                throw Failure(error, servingAt: address, port)
            }
            log.listening(port: server.port, url: url(server.port))
            await interruption.wait()
            withExtendedLifetime(server) {}
            log.end()
        }
    }

    private func prepared() async throws -> OfflineOptions.Parts {
        let parts = try parts.make()
        do throws(PartnerError) {
            try await parts.recogniser.prepare()
            try await parts.responder.prepare()
            try await parts.synthesiser.prepare()
        } catch {
            throw Failure(error)
        }
        return parts
    }

    private func url(_ port: UInt16) -> String {
        let host = address.contains(":") ? "[\(address)]" : address
        return "\(certificate == nil ? "ws" : "wss")://\(host):\(port)/v1/realtime"
    }
}
