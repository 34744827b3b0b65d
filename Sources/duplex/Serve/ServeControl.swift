import ArgumentParser
import ControlAPI
import ControlServer
import VoicePartner
import VoiceTransport
import VoiceWeb

/// Serves the control API, by which other programs drive spoken sessions.
struct ServeControl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve-control",
        abstract: "Serve the control API: other programs make sessions, speak, interrupt and take events over HTTP.",
        discussion: """
            A bot in any language makes a session with the sound card of this machine or with a room, is told what is said, has text or sound spoken, and interrupts it. \
            A partner answers questions as sound files; tokens for rooms are made with --room-secret-file or --room-key-file. docs/control.md has examples for curl, and /openapi.json \
            describes it all.

            Clients bring a key as 'Authorization: Bearer KEY': from --key-file, a line 'name: key' for each client, or from DUPLEX_CONTROL_KEY for one. Each client has \
            sessions of its own. Beyond this machine it needs a certificate.

            Runs until Control-C. Keys and certificate are read when it starts.

            For example:

              duplex serve-control --port 7990 --key-file keys
            """)

    @Option(help: "The address to listen on.") var address = "127.0.0.1"
    @Option(help: "The TCP port; 0 lets the system choose.") var port: UInt16 = 7_990
    @Option(help: "A name that clients call the server by, beyond localhost.") var host: [String] = []
    @Option(
        help: "A file with the clients' keys, 'name: key' a line; nobody else may be able to read it.",
        completion: .file())
    var keyFile: String?
    @Option(help: "A file whose first line is the secret that signs rooms' tokens.", completion: .file())
    var roomSecretFile: String?
    @Option(help: "A file with a room server's keys, 'name: secret' a line, one of which signs.", completion: .file())
    var roomKeyFile: String?
    @Option(help: "The name of that key, the tokens' issuer. (default: \(RoomSecret.usualKey))") var roomKey: String?
    @Option(help: "The certificate in PEM, for https.", completion: .file()) var certificate: String?
    @Option(help: "The certificate's private key in PEM.", completion: .file()) var privateKey: String?
    @OptionGroup var parts: OfflineOptions
    @Flag(help: "Print events as NDJSON.") var json = false

    func validate() throws {
        guard (certificate == nil) == (privateKey == nil) else {
            throw ValidationError("--certificate and --private-key belong together; give both or neither")
        }
        guard roomSecretFile == nil || roomKeyFile == nil else {
            throw ValidationError("--room-secret-file and --room-key-file were given; use one of them")
        }
        guard roomSecretFile != nil || roomKeyFile != nil || roomKey == nil else {
            throw ValidationError(
                "--room-key names the secret of --room-secret-file, or one of --room-key-file; give the file, or leave it out"
            )
        }
        guard ServerKey.isThisMachine(address) || certificate != nil else {
            throw ValidationError(
                "'\(address)' is beyond this machine: give --certificate and --private-key, or leave out --address")
        }
    }

    func run() async throws {
        ProcessMemory.keepOutOfCoreDumps()
        try await reportingFailure {
            let interruption = Interruption()
            try ServingCertificate.check(certificate, privateKey)
            let configuration = try await configured()
            let log = ServeControlLog(json: json)
            let server: ControlServer
            do throws(WebSocketFailure) {
                server = try ControlServer(configuration) { log.show($0) }
            } catch {
                throw Failure(error, servingAt: address, port)
            }
            let name = address.contains(":") ? "[\(address)]" : address
            log.listening(
                port: server.port, url: "\(certificate == nil ? "http" : "https")://\(name):\(server.port)")
            await interruption.wait()
            await server.stop()
            log.end()
        }
    }

    /// What makes tokens for rooms; nil where no key is given. Reads the file.
    func roomIssuer() throws -> TokenIssuer? {
        let name = roomKey.map { ["--key", $0] } ?? []
        if let roomSecretFile {
            return try RoomSecret.parse(["--secret-file", roomSecretFile] + name).loadIssuer()
        }
        return try roomKeyFile.map { try RoomSecret.parse(["--key-file", $0] + name).loadIssuer() }
    }

    private func configured() async throws -> ControlConfiguration {
        let clients = try keyFile.map { try ControlKeys.read($0) } ?? ControlKeys.inEnvironment()
        let issuer = try roomIssuer()
        let parts = try parts.make()
        do throws(PartnerError) {
            try await parts.recogniser.prepare()
            try await parts.responder.prepare()
            try await parts.synthesiser.prepare()
        } catch {
            throw Failure(error)
        }
        var configuration = ControlConfiguration(
            clients: clients, recogniser: parts.recogniser, responder: parts.responder, synthesiser: parts.synthesiser
        ) {
            WallClock.seconds
        }
        (configuration.interface, configuration.port) = (address, port)
        (configuration.certificate, configuration.privateKey) = (certificate, privateKey)
        configuration.hosts = Set((host + [address]).map { $0.contains(":") ? "[\($0)]" : $0.lowercased() })
        configuration.issuer = issuer
        configuration.version = Duplex.configuration.version.prefix { $0 != "\n" }.description
        return configuration
    }
}

/// The keys of the clients of a control server.
enum ControlKeys {
    /// Bytes of the file.
    private static let longestFile = 65_536
    /// Bytes of a key: shorter ones can be guessed.
    private static let lengths = 16...512

    static func read(_ path: String) throws -> [Gatekeeper.Client] {
        let file = try SecretFile(path, limit: longestFile + 1, kind: "key file", option: "--key-file")
        guard !file.isOpenToAll else {
            throw Failure(
                .permissionDenied,
                "every user of this machine can get at the keys in '\(path)': chmod 600 it, and change the keys")
        }
        guard file.bytes.count <= longestFile else {
            throw Failure(.inputUnusable, "the key file '\(path)' is longer than 64 KiB")
        }
        var clients: [Gatekeeper.Client] = []
        let lines = String(decoding: file.bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        for (number, line) in lines.enumerated() {
            let line = String(line).trimmed
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            let parts = line.split(separator: ":", maxSplits: 1).map { String($0).trimmed }
            guard parts.count == 2, isName(parts[0]), !clients.contains(where: { $0.name == parts[0] }),
                let key = key(parts[1])
            else {
                throw Failure(
                    .inputUnusable,
                    "line \(number + 1) of the key file '\(path)' is to be 'name: key', each name once, the key \(lengths.lowerBound) to \(lengths.upperBound) visible characters: 'openssl rand -hex 32'"
                )
            }
            clients.append(.init(name: parts[0], key: key))
        }
        guard !clients.isEmpty else { throw Failure(.inputUnusable, "the key file '\(path)' has no keys") }
        return clients
    }

    static func inEnvironment() throws -> [Gatekeeper.Client] {
        guard let text = Environment.value("DUPLEX_CONTROL_KEY"), !text.isEmpty else {
            throw Failure(
                .usage,
                "no key for clients; make one with '(umask 077; echo \"bot: $(openssl rand -hex 32)\" > keys)' and pass --key-file keys, or set DUPLEX_CONTROL_KEY"
            )
        }
        guard let key = key(text) else {
            throw Failure(
                .usage,
                "DUPLEX_CONTROL_KEY is to have \(lengths.lowerBound) to \(lengths.upperBound) visible characters")
        }
        return [.init(name: "default", key: key)]
    }

    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 32 && $0 < 127 }
    }

    private static func key(_ text: String) -> [UInt8]? {
        let key = Array(text.utf8)
        return lengths.contains(key.count) && key.allSatisfy { $0 > 32 && $0 < 127 } ? key : nil
    }
}
