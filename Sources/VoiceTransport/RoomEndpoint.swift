internal import VoiceRooms

/// Why a room's address was not understood.
public enum RoomEndpointError: Error, Equatable, Sendable {
    /// Not of the form `udp://host:port`, an IPv6 address in brackets. Remedy: write it so.
    case malformedURL(String)
    /// The token is longer than a server takes. Remedy: a token with fewer claims.
    case tokenTooLong
}

/// A room server and the token that opens a room there.
///
/// A token that was given holds as long as it says: a client that comes back after the server has forgotten it (a restart, or a break of more than
/// 30 s) needs one that is valid then. A token provider is asked for one at the join, and again when a rejoin finds that it has expired.
public struct RoomEndpoint: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// A host name, or a numeric address without brackets.
    public let host: String
    /// The UDP port.
    public let port: UInt16
    let tokens: TokenSource

    /// An endpoint from `udp://host:port` and an access token.
    public init(url: String, token: String) throws(RoomEndpointError) {
        guard token.utf8.count <= RoomProtocol.tokenLimit else { throw .tokenTooLong }
        try self.init(url: url, tokens: .given(Array(token.utf8)))
    }

    /// An endpoint from `udp://host:port` and whoever makes access tokens for it: the application's own server, most often.
    ///
    /// - Parameter tokenProvider: called on a task of its own, once at the join, which waits for it, and once in each break in which a token has
    ///   expired, when it has what is left of `RoomTimers.breakWindow`. What it throws ends the join, or the coming back, and so does a token longer
    ///   than `RoomProtocol.tokenLimit`.
    public init(url: String, tokenProvider: @escaping TokenProvider) throws(RoomEndpointError) {
        try self.init(url: url, tokens: .provided(tokenProvider))
    }

    private init(url: String, tokens: TokenSource) throws(RoomEndpointError) {
        guard let (host, port) = Self.parse(url) else { throw .malformedURL(url) }
        self.host = host
        self.port = port
        self.tokens = tokens
    }

    private static func parse(_ url: String) -> (String, UInt16)? {
        guard url.hasPrefix("udp://") else { return nil }
        let authority = url.dropFirst("udp://".count)
        guard let colon = authority.lastIndex(of: ":"), let port = UInt16(authority[authority.index(after: colon)...]),
            port > 0
        else { return nil }
        var host = authority[..<colon]
        if host.hasPrefix("[") && host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        // 253: a domain name at most (RFC 1035 section 2.3.4).
        let isHost = !host.isEmpty && host.utf8.count <= 253 && !host.contains { "/@?# \0".contains($0) }
        return isHost ? (String(host), port) : nil
    }

    /// The URL; the token is not shown.
    public var description: String { host.contains(":") ? "udp://[\(host)]:\(port)" : "udp://\(host):\(port)" }
    /// The URL; the token is not shown.
    public var debugDescription: String { description }
}
