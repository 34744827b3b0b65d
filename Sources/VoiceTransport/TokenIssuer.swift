public import VoiceRooms

/// Makes access tokens: JSON Web Tokens signed with HS256, claims as in LiveKit's.
///
/// Any thread. Allocates; not for media threads.
public struct TokenIssuer: Sendable {
    private let key: TokenKey
    private let issuer: String?

    /// An issuer with this key.
    ///
    /// - Parameters:
    ///   - key: what signs.
    ///   - issuer: who issues, the `iss` of the tokens, which then name the key in their header's `kid`. Nil: the key's
    ///     name is their `iss` and there is no `kid`, as in LiveKit's.
    public init(key: TokenKey, issuer: String? = nil) {
        self.key = key
        self.issuer = issuer
    }

    /// A token with these grants, valid from `notBefore` until `expires`, in seconds since 1970; the grants' own
    /// ``TokenGrants/expiresAt`` is not looked at.
    ///
    /// - Throws: ``TokenKeyError/metadataTooLong``, ``TokenKeyError/tokenTooLong``, ``TokenKeyError/refused``.
    public func token(for grants: TokenGrants, notBefore: Int64, expires: Int64) throws(TokenKeyError) -> String {
        guard grants.metadata.utf8.count <= TokenVerifier.metadataLimit else { throw .metadataTooLong }
        let video = try JSONWebToken()
        video.set("room", grants.room)
        video.set("roomJoin", grants.canJoin)
        video.set("canPublish", grants.canPublish)
        video.set("canSubscribe", grants.canSubscribe)
        guard let videoJSON = video.json(nil) else { throw .refused }

        let token = try JSONWebToken()
        if issuer != nil { token.setHeader("kid", key.name) }
        token.set("iss", issuer ?? key.name)
        token.set("sub", grants.identity)
        token.set("name", grants.name)
        token.set("nbf", notBefore)
        token.set("exp", expires)
        if !grants.metadata.isEmpty { token.set("metadata", grants.metadata) }
        // The values inside were escaped by the library; only the name around them is ours.
        token.merge(json: "{\"video\":\(videoJSON)}")
        guard !token.hasFailed, !video.hasFailed, let signed = token.signed(with: key.secret) else { throw .refused }
        guard signed.utf8.count <= RoomProtocol.tokenLimit else { throw .tokenTooLong }
        return signed
    }
}
