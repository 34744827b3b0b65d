package import VoicePeers

/// What a token grants, once its signature and its times have been found right. Claims as in LiveKit's access tokens.
public struct TokenGrants: Equatable, Sendable {
    /// `sub`: who the participant is, unique in the room.
    public var identity: String
    /// `name`: for display; may be empty.
    public var name: String
    /// `video.room`: the one room that the token opens.
    public var room: String
    /// `video.roomJoin`
    public var canJoin: Bool
    /// `video.canPublish`
    public var canPublish: Bool
    /// `video.canSubscribe`
    public var canSubscribe: Bool
    /// `metadata`: the application's own words about the participant, at most 512 bytes; may be empty.
    public var metadata: String
    /// When the grants end, in seconds since 1970: `exp` and the verifier's leeway, so that nobody is let in and put
    /// out at once. Nil: never.
    public var expiresAt: Int64?

    /// Describes the grants of a token.
    public init(
        identity: String, name: String = "", room: String, canJoin: Bool = true, canPublish: Bool = true,
        canSubscribe: Bool = true, metadata: String = "", expiresAt: Int64? = nil
    ) {
        self.identity = identity
        self.name = name
        self.room = room
        self.canJoin = canJoin
        self.canPublish = canPublish
        self.canSubscribe = canSubscribe
        self.metadata = metadata
        self.expiresAt = expiresAt
    }
}

/// What the verifier says of a token.
package enum TokenVerdict: Equatable, Sendable {
    /// Genuine and in time.
    case granted(TokenGrants)
    /// Not to be let in.
    case refused(RoomRefusal)
}

/// A token that waits for its verdict. `RoomDirectory.pollVerification` gives it out.
package struct VerificationRequest: Equatable, Sendable {
    /// To be given back with the verdict.
    package struct ID: Hashable, Sendable, BitwiseCopyable {
        let rawValue: UInt64
    }

    /// To be given back with the verdict.
    package let id: ID
    /// Who brought it.
    package let peer: PeerID
    /// The token, not yet looked at.
    package let token: [UInt8]
}

/// The random numbers that a new participant needs; all from a cryptographic source.
package struct JoinEntropy: Sendable, BitwiseCopyable {
    /// Proves the participant's identity after a break.
    package let secret: RejoinSecret
    /// The first SSRC, unless the room has it already (RFC 3550 section 8.1 asks for a random one).
    package let synchronizationSource: UInt32

    /// Collects random numbers.
    package init(secret: RejoinSecret, synchronizationSource: UInt32) {
        self.secret = secret
        self.synchronizationSource = synchronizationSource
    }
}
