internal import VoiceRooms

/// Why a room's address was not understood.
public enum RoomEndpointError: Error, Equatable, Sendable {
    /// Not of the form `udp://host:port`, an IPv6 address in brackets. Remedy: write it so.
    case malformedURL(String)
    /// The token is longer than a server takes. Remedy: a token with fewer claims.
    case tokenTooLong
}

/// A room server and the token that opens a room there.
public struct RoomEndpoint: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// A host name, or a numeric address without brackets.
    public let host: String
    /// The UDP port.
    public let port: UInt16
    let token: [UInt8]

    /// An endpoint from `udp://host:port` and an access token.
    public init(url: String, token: String) throws(RoomEndpointError) {
        guard let (host, port) = Self.parse(url) else { throw .malformedURL(url) }
        guard token.utf8.count <= RoomProtocol.tokenLimit else { throw .tokenTooLong }
        self.host = host
        self.port = port
        self.token = Array(token.utf8)
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
