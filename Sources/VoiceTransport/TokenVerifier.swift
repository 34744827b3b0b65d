package import VoiceRooms

/// Tells whether an access token is genuine, in time, and what it grants.
///
/// Only HS256 is taken: a token without a signature (`alg` none) or with another algorithm is a bad signature, whatever
/// else it says (RFC 8725 section 3.1). **Which key:** the one that the header's `kid` names; where there is no `kid`,
/// the one that `iss` names. A `kid` that is unknown is a bad signature, whatever `iss` says, so that a key that was
/// taken out is out; beside a `kid`, `iss` may be anything. LiveKit's server looks at `iss` alone, as its own libraries
/// write it: their tokens are taken here, and those of a ``TokenIssuer`` without an issuer of its own are taken there.
///
/// Any thread. Allocates. Two readings and one HMAC for a token, however many keys there are.
public struct TokenVerifier: Sendable {
    /// By how much the clocks of who issues and who serves may differ, unless told: a token is taken so much earlier
    /// and later than it says. Clocks that are kept by NTP differ by far less; LiveKit takes a minute.
    public static let leeway: Duration = .seconds(10)
    /// Bytes of the claim `metadata` at most.
    package static let metadataLimit = 512

    /// The keys, which may be replaced at any time.
    public let keyring: TokenKeyring
    private let expiryLeeway: Int64
    private let notBeforeLeeway: Int64

    /// A verifier that takes tokens of the keys in a ring.
    ///
    /// - Parameters:
    ///   - keyring: the keys.
    ///   - expiryLeeway: how long after `exp` a token is taken, in whole seconds; not less than 0.
    ///   - notBeforeLeeway: how long before `nbf`.
    public init(
        keyring: TokenKeyring, expiryLeeway: Duration = leeway, notBeforeLeeway: Duration = leeway
    ) {
        self.keyring = keyring
        self.expiryLeeway = max(0, expiryLeeway.components.seconds)
        self.notBeforeLeeway = max(0, notBeforeLeeway.components.seconds)
    }

    /// A verifier that takes tokens of these keys, in a ring of its own.
    public init(keys: [TokenKey], expiryLeeway: Duration = leeway, notBeforeLeeway: Duration = leeway) {
        self.init(
            keyring: TokenKeyring(keys: keys), expiryLeeway: expiryLeeway, notBeforeLeeway: notBeforeLeeway)
    }

    /// The verdict on a token at a time in seconds since 1970.
    ///
    /// `exp` and `sub` and `video.room` are required. `video.canPublish` and `video.canSubscribe` are granted when
    /// absent, `video.roomJoin` is not, as in LiveKit.
    package func verdict(on token: [UInt8], unixTime: Int64) -> TokenVerdict {
        // Beyond a NUL byte the library would not look.
        guard token.count <= RoomProtocol.tokenLimit, !token.contains(0),
            let text = String(validating: token, as: UTF8.self), let claimed = JSONWebToken(reading: text, secret: nil)
        else { return .refused(.malformed) }
        guard let genuine = genuine(text, claiming: claimed) else { return .refused(.badSignature) }

        guard let expires = genuine.number("exp") else { return .refused(.malformed) }
        let end = Self.sum(expires, expiryLeeway)
        guard unixTime < end else { return .refused(.expired) }
        if genuine.has("nbf") {
            guard let notBefore = genuine.number("nbf") else { return .refused(.malformed) }
            guard unixTime >= Self.sum(notBefore, -notBeforeLeeway) else { return .refused(.notYetValid) }
        }
        guard let grants = grants(of: genuine, until: end) else { return .refused(.malformed) }
        return .granted(grants)
    }

    /// The token, if the key that it names has signed it. What it claims says nothing yet.
    private func genuine(_ text: String, claiming claimed: borrowing JSONWebToken) -> JSONWebToken? {
        let name = claimed.hasHeader("kid") ? claimed.header("kid") : claimed.text("iss")
        guard let name, let key = keyring.key(named: name), let token = JSONWebToken(reading: text, secret: key.secret),
            token.isHS256
        else { return nil }
        return token
    }

    /// Times are whatever the issuer wrote.
    private static func sum(_ time: Int64, _ seconds: Int64) -> Int64 {
        let (sum, overflows) = time.addingReportingOverflow(seconds)
        return overflows ? (seconds < 0 ? .min : .max) : sum
    }

    private func grants(of token: borrowing JSONWebToken, until end: Int64) -> TokenGrants? {
        guard let identity = token.text("sub"), let videoJSON = token.json("video"),
            let video = JSONWebToken(json: videoJSON), let room = video.text("room"),
            let canJoin = flag("roomJoin", of: video, whenAbsent: false),
            let canPublish = flag("canPublish", of: video, whenAbsent: true),
            let canSubscribe = flag("canSubscribe", of: video, whenAbsent: true),
            let metadata = token.has("metadata") ? token.text("metadata") : "",
            metadata.utf8.count <= Self.metadataLimit
        else { return nil }
        return TokenGrants(
            identity: identity, name: token.text("name") ?? "", room: room, canJoin: canJoin, canPublish: canPublish,
            canSubscribe: canSubscribe, metadata: metadata, expiresAt: end)
    }

    /// A claim that is neither true nor false must not count as absent.
    private func flag(_ claim: String, of token: borrowing JSONWebToken, whenAbsent: Bool) -> Bool? {
        if let value = token.flag(claim) { return value }
        return token.has(claim) ? nil : whenAbsent
    }
}
