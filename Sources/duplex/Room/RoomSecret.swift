import ArgumentParser
import Foundation
import VoiceTransport

/// Where the key that signs tokens comes from. Never from the command line, which every user of the machine can read.
struct RoomSecret: ParsableArguments {
    @Option(help: "A file whose first line is the secret that signs tokens; or set DUPLEX_ROOM_SECRET.")
    var secretFile: String?

    @Option(help: "The key's name, the tokens' issuer.")
    var key = "duplex"

    /// The key with its secret.
    func load() throws -> TokenKey {
        let text: String
        if let secretFile {
            guard let content = try? String(contentsOfFile: secretFile, encoding: .utf8) else {
                throw Failure(.inputUnusable, "the secret file \(secretFile) cannot be read; check its path and permissions")
            }
            text = content.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        } else if let value = ProcessInfo.processInfo.environment["DUPLEX_ROOM_SECRET"] {
            text = value
        } else {
            throw Failure(
                .inputUnusable,
                "no secret to sign tokens with; make one with 'openssl rand -hex 32 > secret' and pass --secret-file secret")
        }
        do {
            return try TokenKey(name: key, secret: Array(text.utf8))
        } catch {
            throw Failure(
                .inputUnusable,
                "the secret has \(text.utf8.count) bytes; at least \(TokenKey.minimumSecretSize) are needed: 'openssl rand -hex 32'")
        }
    }
}
