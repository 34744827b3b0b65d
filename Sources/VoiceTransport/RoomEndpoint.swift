internal import VoiceRooms

/// Why a room's address was not understood.
public enum RoomEndpointError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Not of the form `duplex://host:port/?fingerprint=sha256:…` or `udp://host:port`. Remedy: see the fault.
    case malformedURL(String, RoomURLFault)
    /// The token is longer than a server takes. Remedy: a token with fewer claims.
    case tokenTooLong

    /// What was given, and what to do.
    public var description: String {
        switch self {
        case .malformedURL(let url, let fault): "the room server's URL is '\(url)'; \(fault)"
        case .tokenTooLong:
            "the token is longer than the \(RoomProtocol.tokenLimit) bytes that a server takes; make one with fewer claims"
        }
    }
}

/// A room server and the token that opens a room there.
///
/// A token that was given holds as long as it says: a client that comes back after the server has forgotten it (a
/// restart, or a break of more than 30 s) needs one that is valid then. A token provider is asked for one at the join,
/// and again when a rejoin finds that it has expired.
///
/// - `duplex://host:7900/?fingerprint=sha256:…`: protected; the server with this certificate. The port is 7900 unless
///   it is told.
/// - `duplex://host`: protected; the server whose certificate an authority of this system has signed for the host.
/// - `udp://host:port`: plaintext; for loopback, unless `RoomClientConfiguration.allowPlaintext` says otherwise.
///
/// An IPv6 address stands in brackets.
public struct RoomEndpoint: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The UDP port of `duplex://` where none is told.
    public static let defaultPort: UInt16 = 7900

    /// A host name, or a numeric address without brackets.
    public let host: String
    /// The UDP port.
    public let port: UInt16
    /// Plaintext, or which server is trusted.
    public let security: RoomSecurity
    let tokens: TokenSource

    /// An endpoint from a URL and an access token.
    ///
    /// - Throws: ``RoomEndpointError``, where the URL is none of these or the token is longer than a server takes;
    ///   whether it opens a room, the server says.
    public init(url: String, token: String) throws(RoomEndpointError) {
        guard token.utf8.count <= RoomProtocol.tokenLimit else { throw .tokenTooLong }
        try self.init(url: url, tokens: .given(Array(token.utf8)))
    }

    /// An endpoint from a URL and whoever makes access tokens for it: the application's own server, most often.
    ///
    /// - Parameters:
    ///   - url: the room server's, as ``init(url:token:)`` takes it.
    ///   - tokenProvider: called on a task of its own: once at the join, which waits for it; at four fifths of a token's
    ///     time, and again each tenth while none comes, because a stay ends with its token; and once in each break in
    ///     which a token has expired, when it has what is left of `RoomTimers.breakWindow`. What it throws ends the
    ///     join, or the coming back, and so does a token longer than 1000 bytes.
    public init(url: String, tokenProvider: @escaping TokenProvider) throws(RoomEndpointError) {
        try self.init(url: url, tokens: .provided(tokenProvider))
    }

    private init(url: String, tokens: TokenSource) throws(RoomEndpointError) {
        let read: RoomURL
        do { read = try RoomURL(url) } catch { throw .malformedURL(url, error) }
        host = read.host
        port = read.port
        security = read.security
        self.tokens = tokens
    }

    /// The URL of a room server, as people paste it; without a fingerprint for one whose certificate an authority has
    /// signed.
    public static func url(host: String, port: UInt16 = defaultPort, fingerprint: CertificateFingerprint?) -> String {
        let trust = fingerprint.map(ServerTrust.fingerprint) ?? .authorities(host: host)
        return RoomURL(host: host, port: port, security: .protected(trust)).description
    }

    /// The URL; the token is not shown.
    public var description: String { RoomURL(host: host, port: port, security: security).description }
    /// The URL; the token is not shown.
    public var debugDescription: String { description }
}
