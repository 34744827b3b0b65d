import ArgumentParser
import Glibc
import VoiceRooms
import VoiceTransport

/// Makes an access token.
struct RoomToken: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Make an access token (JWT, HS256, claims as LiveKit's).",
        discussion: """
            Prints the token alone, so that it can be used in $(...); with --json what it grants and for how long as well.

            For example:

              duplex room token --room lobby --identity anna --key-file keys >token
            """
    )

    @Option(help: "The room that the token opens.")
    var room: String
    @Option(help: "Who its bearer is; unique in the room.")
    var identity: String
    @Option(help: "What to call its bearer.")
    var name: String?
    @Option(help: "What the application wants to say about its bearer; text, at most 512 bytes.")
    var metadata: String?
    @Option(help: "For how many seconds the token is valid.")
    var validSeconds = 3_600
    @Option(
        parsing: .unconditional,
        help: "In how many seconds that begins; negative: it began in the past, for a server whose clock is behind.")
    var startsIn = 0
    @Flag(help: "The bearer may listen but not speak.")
    var listenOnly = false
    @Flag(help: "The bearer may speak but not listen.")
    var speakOnly = false
    @Flag(help: "Print NDJSON.")
    var json = false
    @OptionGroup var secret: RoomSecret

    /// Ten years; longer is a mistake.
    private static let longest = 315_360_000

    func validate() throws {
        guard (1...Self.longest).contains(validSeconds) else {
            throw ValidationError("--valid-seconds is \(validSeconds); use 1 to \(Self.longest)")
        }
        guard (-Self.longest...Self.longest).contains(startsIn) else {
            throw ValidationError("--starts-in is \(startsIn); use \(-Self.longest) to \(Self.longest)")
        }
        guard !listenOnly || !speakOnly else {
            throw ValidationError("--listen-only and --speak-only leave nothing; use one of them")
        }
        guard !room.isEmpty, !identity.isEmpty else { throw ValidationError("--room and --identity must not be empty") }
        for (option, text) in [("--room", room), ("--identity", identity), ("--name", name ?? "")]
        where text.utf8.count > RoomProtocol.textLimit {
            throw ValidationError("\(option) has \(text.utf8.count) bytes; use at most \(RoomProtocol.textLimit)")
        }
        if let count = metadata?.utf8.count, count > TokenVerifier.metadataLimit {
            throw ValidationError("--metadata has \(count) bytes; use at most \(TokenVerifier.metadataLimit)")
        }
    }

    /// What the options grant.
    var grants: TokenGrants {
        TokenGrants(
            identity: identity, name: name ?? "", room: room, canPublish: !listenOnly, canSubscribe: !speakOnly,
            metadata: metadata ?? "")
    }

    func run() async throws {
        try await reportingFailure {
            let issuer = try secret.loadIssuer()
            let start = WallClock.seconds + Int64(startsIn)
            do throws(TokenKeyError) {
                let expires = start + Int64(validSeconds)
                let token = try issuer.token(for: grants, notBefore: start, expires: expires)
                if json {
                    Console.emit(RoomTokenLine(token: token, grants: grants, notBefore: start, expires: expires))
                } else {
                    Console.say(token)
                }
            } catch {
                switch error {
                case .tokenTooLong:
                    throw Failure(
                        .usage,
                        "the token is longer than a server takes; choose a shorter --room, --identity, --name, --metadata or --key"
                    )
                case .refused, .secretTooShort, .metadataTooLong:
                    throw Failure(
                        .unavailable, "the token library refused to make the token; try again, then report it")
                }
            }
        }
    }
}

/// A token and what it is for.
struct RoomTokenLine: JSONLine {
    let schema = "duplexvoice.room.token/1"
    let type = "summary"
    var token: String
    var room: String
    var identity: String
    var name: String?
    var canPublish: Bool
    var canSubscribe: Bool
    var metadata: String?
    /// From when until when it is valid, seconds since 1970.
    var notBefore: Int64
    var expires: Int64

    init(token: String, grants: TokenGrants, notBefore: Int64, expires: Int64) {
        self.token = token
        room = grants.room
        identity = grants.identity
        name = grants.name.isEmpty ? nil : grants.name
        canPublish = grants.canPublish
        canSubscribe = grants.canSubscribe
        metadata = grants.metadata.isEmpty ? nil : grants.metadata
        self.notBefore = notBefore
        self.expires = expires
    }
}
