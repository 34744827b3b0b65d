internal import CJWT
internal import Glibc
public import VoiceRooms

/// Why a key or a token could not be made.
public enum TokenKeyError: Error, Equatable, Sendable {
    /// The secret is shorter than the 32 bytes that HS256 asks for (RFC 7518 section 3.2). Remedy: a longer random one.
    case secretTooShort
    /// The library would not make the token: a text holds a NUL byte, or memory ran out.
    case refused
    /// The token is longer than a room server takes. Remedy: shorter identity, name or room.
    case tokenTooLong
}

/// An API key and its secret, shared by those who issue tokens and the servers that take them. Never printed.
public struct TokenKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// Bytes of a secret at least, as long as the hash's output (RFC 7518 section 3.2).
    public static let minimumSecretSize = 32

    /// The name of the key, the token's `iss`.
    public let name: String
    let secret: [UInt8]

    /// A key with this name and secret.
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

/// Makes access tokens: JSON Web Tokens signed with HS256, claims as in LiveKit's.
///
/// Any thread. Allocates; not for media threads.
public struct TokenIssuer: Sendable {
    private let key: TokenKey

    /// An issuer with this key.
    public init(key: TokenKey) { self.key = key }

    /// A token with these grants, valid from `notBefore` until `expires`, in seconds since 1970.
    public func token(for grants: TokenGrants, notBefore: Int64, expires: Int64) throws(TokenKeyError) -> String {
        let video = try JSONWebToken()
        video.set("room", grants.room)
        video.set("roomJoin", grants.canJoin)
        video.set("canPublish", grants.canPublish)
        video.set("canSubscribe", grants.canSubscribe)
        guard let videoJSON = video.json(nil) else { throw .refused }

        let token = try JSONWebToken()
        token.set("iss", key.name)
        token.set("sub", grants.identity)
        token.set("name", grants.name)
        token.set("nbf", notBefore)
        token.set("exp", expires)
        // The values inside were escaped by the library; only the name around them is ours.
        token.merge(json: "{\"video\":\(videoJSON)}")
        guard !token.hasFailed, !video.hasFailed, let signed = token.signed(with: key.secret) else { throw .refused }
        guard signed.utf8.count <= RoomProtocol.tokenLimit else { throw .tokenTooLong }
        return signed
    }
}
