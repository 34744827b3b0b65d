/// Where a server is: `ws://host[:port][/path]` or `wss://…`, or as HTTP has it.
package struct WebAddress: Equatable, Sendable {
    package var isSecure: Bool
    /// A name, or an address without brackets.
    package var host: String
    package var port: UInt16
    /// With the query.
    package var path: String

    /// Nil where it is no such URL. User names and passwords in it are refused: they would be seen in lists of
    /// processes.
    package init?(_ url: String, plain: String = "ws://", secure: String = "wss://") {
        guard url.utf8.count <= 2_048, url.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else { return nil }
        let rest: Substring
        if url.hasPrefix(secure) {
            (isSecure, rest) = (true, url.dropFirst(secure.count))
        } else if url.hasPrefix(plain) {
            (isSecure, rest) = (false, url.dropFirst(plain.count))
        } else {
            return nil
        }
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let tail = rest.dropFirst(authority.count).prefix { $0 != "#" }
        path = tail.hasPrefix("/") ? String(tail) : "/\(tail)"
        guard !authority.contains("@"), let place = HostAndPort(authority, defaultPort: isSecure ? 443 : 80) else {
            return nil
        }
        (host, port) = (place.host, place.port)
    }

    /// Of `http://…` or `https://…`.
    package init?(http url: String) { self.init(url, plain: "http://", secure: "https://") }

    /// As a request names it.
    var authority: String {
        let name = HostAndPort.bracketed(host)
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }
}

/// `host`, `host:port` or `[address]:port`.
struct HostAndPort: Equatable {
    var host: String
    var port: UInt16

    init?(_ text: Substring, defaultPort: UInt16) {
        let rest: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = String(text[text.index(after: text.startIndex)..<end])
            rest = text[text.index(after: end)...]
        } else {
            let name = text.prefix { $0 != ":" }
            host = String(name)
            rest = text.dropFirst(name.count)
        }
        guard !host.isEmpty, host.utf8.count <= 253 else { return nil }
        if rest.isEmpty {
            port = defaultPort
        } else {
            guard rest.first == ":", let given = UInt16(rest.dropFirst()), given > 0 else { return nil }
            port = given
        }
    }

    /// As it stands before a port.
    static func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }
}
