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
    @Flag(help: "The bearer may listen but not speak.")
    var listenOnly = false
    @OptionGroup var secret: RoomSecret

    func validate() throws {
        guard validSeconds > 0 else { throw ValidationError("--valid-seconds is \(validSeconds); use 1 or more") }
        guard !room.isEmpty, !identity.isEmpty else { throw ValidationError("--room and --identity must not be empty") }
    }

    func run() async throws {
        try await reportingFailure {
            let issuer = TokenIssuer(key: try secret.load())
            let now = Int64(Date().timeIntervalSince1970)
            let grants = TokenGrants(identity: identity, name: name ?? "", room: room, canPublish: !listenOnly)
            do {
                Console.say(try issuer.token(for: grants, notBefore: now, expires: now + Int64(validSeconds)))
            } catch {
                throw Failure(.inputUnusable, "the token could not be made: \(error)")
            }
        }
    }
}
