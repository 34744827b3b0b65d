/// Where a room is, as people paste it.
///
///     duplex://host[:port][/][?fingerprint=sha256:…]      protected; the port is 7900 unless it is told
///     udp://host:port                                     plaintext
///
/// An IPv6 address stands in brackets (RFC 3986 section 3.2.2).
struct RoomURL: Equatable, CustomStringConvertible {
    /// Bytes of a domain name at most (RFC 1035 section 2.3.4).
    private static let hostLimit = 253
    private static let protectedScheme = "duplex://"
    private static let plaintextScheme = "udp://"

    let host: String
    let port: UInt16
    let security: RoomSecurity

    init(host: String, port: UInt16, security: RoomSecurity) {
        self.host = host
        self.port = port
        self.security = security
    }

    init(_ text: String) throws(RoomURLFault) {
        if text.hasPrefix(Self.plaintextScheme) {
            let authority = text.dropFirst(Self.plaintextScheme.count)
            (host, port) = try Self.authority(authority, defaultPort: nil)
            security = .plaintext
            return
        }
        guard text.hasPrefix(Self.protectedScheme) else { throw .scheme }
        let rest = text.dropFirst(Self.protectedScheme.count)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        (host, port) = try Self.authority(rest[..<end], defaultPort: RoomEndpoint.defaultPort)
        let fingerprint = try Self.fingerprint(rest[end...])
        security = .protected(fingerprint.map(ServerTrust.fingerprint) ?? .authorities(host: Self.name(host)))
    }

    private static func authority(
        _ text: Substring, defaultPort: UInt16?
    ) throws(RoomURLFault) -> (host: String, port: UInt16) {
        // The colon of a port is behind the bracket of an address.
        let bracket = text.lastIndex(of: "]") ?? text.startIndex
        let colon = text[bracket...].lastIndex(of: ":")
        var host = text[..<(colon ?? text.endIndex)]
        if host.hasPrefix("[") && host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard host.contains(":") else { throw .host }
        } else if host.contains(":") {
            throw .host
        }
        let isHost =
            !host.isEmpty && host.utf8.count <= hostLimit
            && host.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && !"/@?#[]%\\\"'".utf8.contains($0) }
        guard isHost else { throw .host }
        guard let colon else {
            guard let defaultPort else { throw .port }
            return (String(host), defaultPort)
        }
        let digits = text[text.index(after: colon)...]
        guard digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let port = UInt16(digits),
            port > 0
        else { throw .port }
        return (String(host), port)
    }

    /// The fingerprint in what follows the authority; nil where there is none.
    private static func fingerprint(_ rest: Substring) throws(RoomURLFault) -> CertificateFingerprint? {
        var rest = rest
        if rest.hasPrefix("/") { rest = rest.dropFirst() }
        if rest.isEmpty { return nil }
        let key = "?fingerprint="
        // What is not understood may be what it depends on.
        guard rest.hasPrefix(key) else { throw .surplus }
        let value = rest.dropFirst(key.count)
        guard !value.contains("&"), !value.contains("#") else { throw .surplus }
        guard let fingerprint = CertificateFingerprint(String(value)) else { throw .fingerprint }
        return fingerprint
    }

    /// A host as certificates name it: without the dot at the end.
    private static func name(_ host: String) -> String { host.hasSuffix(".") ? String(host.dropLast()) : host }

    var description: String {
        let place = (host.contains(":") ? "[\(host)]" : host) + ":\(port)"
        switch security {
        case .plaintext: return Self.plaintextScheme + place
        case .protected(.fingerprint(let fingerprint)):
            return "\(Self.protectedScheme)\(place)/?fingerprint=\(fingerprint)"
        case .protected(.authorities): return Self.protectedScheme + place
        }
    }
}

/// How the way to a room is protected.
public enum RoomSecurity: Equatable, Sendable {
    /// Not at all: loopback, or a network of one's own.
    case plaintext
    /// By DTLS and SRTP, from the server that this trusts.
    case protected(ServerTrust)
}

/// What of a room's URL was not understood.
public enum RoomURLFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// It begins with neither `duplex://` nor `udp://`. Remedy: `duplex://HOST`.
    case scheme
    /// It names no host, or one with characters that no host has. Remedy: a name, an IPv4 address, an IPv6 address in
    /// brackets.
    case host
    /// The port is no number of 1 to 65535, or missing behind `udp://`. Remedy: the port that the server prints.
    case port
    /// The fingerprint is not `sha256:` and 64 hexadecimal digits. Remedy: paste the URL that the server prints, whole.
    case fingerprint
    /// There is more than a host, a port and a fingerprint: a path, a user, another parameter. Remedy: leave it out.
    case surplus

    /// What to write.
    public var description: String {
        switch self {
        case .scheme: "write duplex://HOST:PORT, or udp://HOST:PORT for plaintext"
        case .host: "write a host name or an address, an IPv6 address in brackets"
        case .port: "write a port of 1 to 65535 behind the host"
        case .fingerprint: "write fingerprint=sha256: and 64 hexadecimal digits, as the server prints it"
        case .surplus: "leave out what is neither host, port nor fingerprint"
        }
    }
}
