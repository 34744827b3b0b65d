import ArgumentParser
import Glibc
import VoiceRooms
import VoiceTransport

/// Serves rooms.
struct RoomServe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve rooms on one UDP port: forwards sound, never decodes it.",
        discussion: """
            Everybody with a valid token is let in; the token names the room. Messages and sound are protected by DTLS and SRTP. Without --certificate the \
            server makes a certificate of its own the first time, keeps it in --state, and prints the URL with its fingerprint: whoever calls that URL \
            talks to this server and no other. --dev makes a key and prints two calls to paste.

            Runs until Control-C, which ends all calls. SIGTERM, as a service manager sends it, tells the clients to come back to the server that takes \
            its place. SIGHUP has certificate and keys read again. SIGUSR1 has it say how it does: who is there, what was forwarded and refused.

            For example:

              duplex room serve --dev
            """)

    @Option(
        help: "The address to listen on. (default: ::, all of IPv6 and IPv4, or 0.0.0.0; with --plaintext 127.0.0.1)")
    var address: String?
    @Option(help: "The UDP port; 0 lets the system choose.")
    var port: UInt16 = 7_900
    @Option(
        help: "The name or address by which clients reach this server, for its URL. (default: this machine's address)")
    var host: String?
    @Option(help: "The certificate in PEM, with those of its authorities behind it.", completion: .file())
    var certificate: String?
    @Option(help: "The certificate's private key in PEM.", completion: .file())
    var privateKey: String?
    @Option(
        help:
            "Where a certificate of the server's own is kept. (default: $XDG_STATE_HOME/duplexvoice or ~/.local/state/duplexvoice)",
        completion: .directory)
    var state: String?
    @Option(help: "How many participants a room takes, 1 to \(RoomProtocol.participantLimit).")
    var roomCapacity = RoomDirectoryConfiguration().roomCapacity
    @Option(help: "How many participants the server takes in all rooms together; some 60 kB of memory each.")
    var serverCapacity = RoomDirectoryConfiguration().serverCapacity
    @Option(
        help: ArgumentHelp("Say each so many seconds how the server does, as on SIGUSR1.", valueName: "seconds"))
    var statisticsInterval: Int?
    @Flag(help: "Make a key for this run, and print two calls that come into one room, ready to paste.")
    var dev = false
    @Flag(help: "Protect nothing: for loopback, or with --allow-plaintext for a network of yours.")
    var plaintext = false
    @Flag(help: "Listen beyond loopback although nothing is protected.")
    var allowPlaintext = false
    @Flag(help: "Print NDJSON.")
    var json = false
    @OptionGroup var secret: RoomSecret

    func validate() throws {
        guard (certificate == nil) == (privateKey == nil) else {
            throw ValidationError("--certificate and --private-key belong together; give both or neither")
        }
        guard certificate == nil || state == nil else {
            throw ValidationError("--state keeps a certificate of the server's own; leave it out with --certificate")
        }
        guard !plaintext || (certificate == nil && state == nil) else {
            throw ValidationError("--certificate and --state are of a protected server; leave out --plaintext")
        }
        guard plaintext || !allowPlaintext else {
            throw ValidationError("--allow-plaintext is for --plaintext; without it everything is protected")
        }
        let capacities = [
            ("--room-capacity", roomCapacity, RoomProtocol.participantLimit),
            ("--server-capacity", serverCapacity, RoomDirectoryConfiguration.serverCapacityLimit),
        ]
        for (option, capacity, limit) in capacities where !(1...limit).contains(capacity) {
            throw ValidationError("\(option) is \(capacity); use 1 to \(limit)")
        }
        if let statisticsInterval, !(1...86_400).contains(statisticsInterval) {
            throw ValidationError("--statistics-interval is \(statisticsInterval); use 1 to 86400 seconds")
        }
        guard host.map(RoomPlace.isHost) ?? true else {
            throw ValidationError(
                "--host is '\(host ?? "")'; give a name or an address alone, without scheme, brackets and port")
        }
        guard !dev || (secret.secretFile == nil && secret.keyFile == nil) else {
            throw ValidationError("--dev makes a key of its own; leave out --secret-file and --key-file")
        }
        guard !secret.namesKey || (secret.keyFile == nil && !dev) else {
            throw ValidationError(
                "--key and --key-id name the key of --secret-file; leave them out with --dev, and with --key-file, of which every key is taken"
            )
        }
    }

    func run() async throws {
        try await reportingFailure {
            // Before there are keys in it.
            ProcessMemory.hide()
            let interruption = Interruption(takesIgnoredHangUp: true, others: [SIGUSR1])
            let keys = dev ? [try TokenKey.made()] : try secret.loadKeys()
            let verifier = TokenVerifier(keys: keys)
            let listening = address ?? (plaintext ? "127.0.0.1" : RoomPlace.everywhere)
            let place = RoomPlace(listening: listening, host: host)
            let server = RoomServer(
                configuration: RoomServerConfiguration(
                    host: listening, port: port, security: try security(names: place.names),
                    allowPlaintext: allowPlaintext, directory: directory),
                verifier: verifier)
            let bound: UInt16
            do throws(RoomServerError) { bound = try server.start() } catch { throw Failure(error) }
            let url = place.url(
                port: bound, fingerprint: server.fingerprint, isProtected: !plaintext, isSigned: certificate != nil)
            let log = RoomServeLog(json: json)
            log.listening(address: listening, port: bound, url: url, fingerprint: server.fingerprint)
            if dev, let key = keys.first {
                for call in try DevelopmentCalls(url: url, key: key).lines { log.suggest(call) }
            }
            let kept = ServerKey.isThisMachine(listening) ? nil : server.scarceSocketBuffer
            let follower = Task {
                var burst = BurstWarning(kept: kept, wanted: Int(RoomServer.socketBufferSize))
                for await event in server.events {
                    log.show(event)
                    if let warning = burst.handle(event) { Console.complain(warning) }
                }
            }
            let watch = certificate.map { _ in
                Task {
                    while true {
                        Self.warnOfCertificate(server)
                        try await Task.sleep(for: .seconds(86_400))
                    }
                }
            }
            let teller = statisticsInterval.map { interval in
                Task {
                    while true {
                        try await Task.sleep(for: .seconds(interval))
                        log.tell(server.statistics)
                    }
                }
            }
            // Whoever runs services sends SIGTERM to restart one; Control-C is a person who ends it.
            let signal = await serve(server, verifier, log, until: interruption)
            watch?.cancel()
            teller?.cancel()
            server.stop(restarting: signal == SIGTERM)
            await follower.value
            log.end(server.statistics)
        }
    }

    /// Waits for the signal that ends it. SIGUSR1 asks how it does; SIGHUP has files read again, but where a terminal went
    /// away.
    private func serve(
        _ server: RoomServer, _ verifier: TokenVerifier, _ log: RoomServeLog, until interruption: Interruption
    ) async -> Int32? {
        while true {
            let signal = await interruption.wait()
            if signal == SIGUSR1 {
                log.tell(server.statistics)
                continue
            }
            guard signal == SIGHUP, isatty(STDIN_FILENO) == 0 else { return signal }
            reload(server, verifier, log)
        }
    }

    /// Reads certificate and keys again; of what cannot be read the old stays.
    private func reload(_ server: RoomServer, _ verifier: TokenVerifier, _ log: RoomServeLog) {
        var reread: [String] = []
        do throws(RoomServerError) {
            try server.reloadIdentity()
            if !plaintext { reread.append("the certificate") }
            if certificate != nil { Self.warnOfCertificate(server) }
        } catch {
            Console.complain("the certificate in use stays: \(Failure(error).message)")
        }
        if !dev {
            do {
                let keys = try secret.loadKeys()
                verifier.keyring.replace(keys: keys)
                reread.append(keys.count.counted("key"))
            } catch {
                Console.complain("the keys in use stay: \((error as? Failure)?.message ?? "\(error)")")
            }
        }
        if !reread.isEmpty { log.reloaded(reread.joined(separator: " and ")) }
    }

    private static func warnOfCertificate(_ server: RoomServer) {
        guard let expires = server.certificateExpires else { return }
        if let warning = CertificateWarning.text(expires: expires, now: WallClock.seconds) { Console.complain(warning) }
    }

    /// What the options ask of the rooms.
    var directory: RoomDirectoryConfiguration {
        RoomDirectoryConfiguration(roomCapacity: roomCapacity, serverCapacity: serverCapacity)
    }

    private func security(names: [String]) throws -> RoomServerSecurity {
        if plaintext { return .plaintext }
        if let certificate, let privateKey {
            return .protected(.files(certificates: certificate, key: privateKey))
        }
        return .protected(.kept(directory: try state ?? RoomPlace.usualState(), names: names))
    }
}
