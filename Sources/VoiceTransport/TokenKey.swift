/// Why a key or a token could not be made.
public enum TokenKeyError: Error, Equatable, Sendable {
    /// The secret is shorter than the 32 bytes that HS256 asks for (RFC 7518 section 3.2). Remedy: a longer random one.
    case secretTooShort
    /// The library would not make the token: a text holds a NUL byte, or memory ran out.
    case refused
    /// The metadata has more bytes than ``TokenVerifier/metadataLimit``. Remedy: less; say more over another way.
    case metadataTooLong
    /// The token is longer than a room server takes. Remedy: shorter identity, name, room or metadata.
    case tokenTooLong
}

/// An API key and its secret, shared by those who issue tokens and the servers that take them. Never printed.
public struct TokenKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// Bytes of a secret at least, as long as the hash's output (RFC 7518 section 3.2).
    public static let minimumSecretSize = 32

    /// What tokens call the key: their header's `kid`, or their `iss` where they have none.
    public let name: String
    let secret: [UInt8]

    /// A key with this name and secret.
    ///
    /// - Throws: ``TokenKeyError/secretTooShort`` below ``minimumSecretSize``.
    public init(name: String, secret: [UInt8]) throws(TokenKeyError) {
        guard secret.count >= Self.minimumSecretSize else { throw .secretTooShort }
        self.name = name
        self.secret = secret
    }

    /// The name of the key; the secret is not shown.
    public var description: String { "TokenKey(\(name))" }
    /// The name of the key; the secret is not shown.
    public var debugDescription: String { description }
}
