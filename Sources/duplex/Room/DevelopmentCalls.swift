import VoiceRooms
import VoiceTransport

extension TokenKey {
    /// A key with a secret that nobody else knows, for one run.
    static func made(name: String = "dev") throws -> TokenKey {
        let secret = (0..<minimumSecretSize).map { _ in UInt8.random(in: .min ... .max) }
        return try TokenKey(name: name, secret: secret)
    }
}

/// Two calls that come into one room of a server, for whoever tries it.
struct DevelopmentCalls {
    let url: String
    let key: TokenKey

    /// How long the tokens are valid: a day.
    private static let validity: Int64 = 86_400

    /// One command each, to be pasted into a terminal.
    var lines: [String] {
        get throws {
            let now = WallClock.seconds
            let issuer = TokenIssuer(key: key)
            return try ["alice", "bob"].map { identity in
                let token = try issuer.token(
                    for: TokenGrants(identity: identity, room: "dev"), notBefore: now, expires: now + Self.validity)
                return "DUPLEX_TOKEN=\(token) duplex call --server '\(url)'"
            }
        }
    }
}
