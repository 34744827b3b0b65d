import ArgumentParser
import Foundation
import VoiceRooms
import VoiceTransport

/// Makes an access token.
struct RoomToken: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Make an access token (JWT, HS256, claims as LiveKit's).",
        discussion: "Prints the token alone, so that it can be used in $(...).")

    @Option(help: "The room that the token opens.")
    var room: String
    @Option(help: "Who its bearer is; unique in the room.")
    var identity: String
    @Option(help: "What to call its bearer.")
    var name: String?
    @Option(help: "For how many seconds the token is valid.")
    var validSeconds = 3_600
    @Option(
        parsing: .unconditional,
        help: "In how many seconds that begins; negative: it began in the past, for a server whose clock is behind.")
    var startsIn = 0
    @Flag(help: "The bearer may listen but not speak.")
    var listenOnly = false
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
        guard !room.isEmpty, !identity.isEmpty else { throw ValidationError("--room and --identity must not be empty") }
        for (option, text) in [("--room", room), ("--identity", identity), ("--name", name ?? "")]
        where text.utf8.count > RoomProtocol.textLimit {
            throw ValidationError("\(option) has \(text.utf8.count) bytes; use at most \(RoomProtocol.textLimit)")
        }
    }

    func run() async throws {
        try await reportingFailure {
            let issuer = TokenIssuer(key: try secret.load())
            let start = Int64(Date().timeIntervalSince1970) + Int64(startsIn)
            let grants = TokenGrants(identity: identity, name: name ?? "", room: room, canPublish: !listenOnly)
            do throws(TokenKeyError) {
                Console.say(try issuer.token(for: grants, notBefore: start, expires: start + Int64(validSeconds)))
            } catch {
                switch error {
                case .tokenTooLong:
                    throw Failure(
                        .usage,
                        "the token is longer than a server takes; choose a shorter --room, --identity, --name or --key")
                case .refused, .secretTooShort:
                    throw Failure(
                        .unavailable, "the token library refused to make the token; try again, then report it")
                }
            }
        }
    }
}
