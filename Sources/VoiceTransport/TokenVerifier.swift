public import VoiceRooms

/// Tells whether an access token is genuine, in time, and what it grants.
///
/// Only HS256 with the secret of the key that `iss` names is taken: a token without a signature (`alg` none) or with
/// another algorithm is a bad signature, whatever else it says (RFC 8725 section 3.1). Any thread. Allocates.
public struct TokenVerifier: Sendable {
    private let keys: [TokenKey]

    /// A verifier that takes tokens of these keys.
    public init(keys: [TokenKey]) { self.keys = keys }

    /// The verdict on a token at a time in seconds since 1970.
    ///
    /// `exp` and `sub` and `video.room` are required. `video.canPublish` and `video.canSubscribe` are granted when
    /// absent, `video.roomJoin` is not, as in LiveKit. Both times are taken exactly, without leeway.
    public func verdict(on token: [UInt8], unixTime: Int64) -> TokenVerdict {
        // Beyond a NUL byte the library would not look.
        guard token.count <= RoomProtocol.tokenLimit, !token.contains(0),
            let text = String(validating: token, as: UTF8.self)
        else { return .refused(.malformed) }

        // With a key, the library reads a token and checks its signature at once; what for is looked at only where that fails.
        guard let genuine = genuine(text) else {
            return .refused(JSONWebToken(reading: text, secret: nil) == nil ? .malformed : .badSignature)
        }

        guard let expires = genuine.number("exp") else { return .refused(.malformed) }
        guard unixTime < expires else { return .refused(.expired) }
        if genuine.has("nbf") {
            guard let notBefore = genuine.number("nbf") else { return .refused(.malformed) }
            guard unixTime >= notBefore else { return .refused(.notYetValid) }
        }
        guard let grants = grants(of: genuine) else { return .refused(.malformed) }
        return .granted(grants)
    }

    /// A token that one of the keys has signed in its own name.
    private func genuine(_ text: String) -> JSONWebToken? {
        for key in keys {
            guard let token = JSONWebToken(reading: text, secret: key.secret) else { continue }
            if token.isHS256, token.text("iss") == key.name { return token }
        }
        return nil
    }

    private func grants(of token: borrowing JSONWebToken) -> TokenGrants? {
        guard let identity = token.text("sub"), let videoJSON = token.json("video"),
            let video = JSONWebToken(json: videoJSON), let room = video.text("room"),
            let canJoin = flag("roomJoin", of: video, whenAbsent: false),
            let canPublish = flag("canPublish", of: video, whenAbsent: true),
            let canSubscribe = flag("canSubscribe", of: video, whenAbsent: true)
        else { return nil }
        return TokenGrants(
            identity: identity, name: token.text("name") ?? "", room: room, canJoin: canJoin, canPublish: canPublish,
            canSubscribe: canSubscribe)
    }

    /// A claim that is neither true nor false must not count as absent.
    private func flag(_ claim: String, of token: borrowing JSONWebToken, whenAbsent: Bool) -> Bool? {
        if let value = token.flag(claim) { return value }
        return token.has(claim) ? nil : whenAbsent
    }
}
