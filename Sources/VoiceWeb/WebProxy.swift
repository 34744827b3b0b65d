/// The HTTP proxy by which a server is reached, as the environment's `https_proxy`, `http_proxy`, `all_proxy` and
/// `no_proxy` say (curl's rules: lower case first; `HTTP_PROXY` is not read, since a request could set it in a CGI
/// program).
package enum WebProxy {
    /// "[user:password@]host:port"; nil for none. Throws where a proxy is named that is none.
    package static func proxy(
        for address: WebAddress, environment: (String) -> String?
    ) throws(WebSocketFailure) -> String? {
        let exempt = environment("no_proxy") ?? environment("NO_PROXY") ?? ""
        guard !isExempt(address.host, from: exempt) else { return nil }
        let names = address.isSecure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
        for name in names + ["all_proxy", "ALL_PROXY"] {
            guard let value = environment(name), !value.isEmpty else { continue }
            guard let proxy = parse(value) else {
                throw .proxyRefused("\(name) is no http:// proxy: only those are understood")
            }
            return proxy
        }
        return nil
    }

    private static func parse(_ value: String) -> String? {
        var rest = Substring(value)
        if let scheme = rest.range(of: "://") {
            guard rest[..<scheme.lowerBound] == "http" else { return nil }
            rest = rest[scheme.upperBound...]
        }
        rest = rest.prefix { $0 != "/" }
        let credentials = rest.lastIndex(of: "@").map { rest[...$0] } ?? ""
        guard let place = HostAndPort(rest.dropFirst(credentials.count), defaultPort: 3_128) else { return nil }
        return "\(credentials)\(HostAndPort.bracketed(place.host)):\(place.port)"
    }

    /// Whether a host, or a domain that it is in, is in a list between commas; `*` is every one.
    static func isExempt(_ host: String, from list: String) -> Bool {
        list.split { $0 == "," || $0 == " " }.contains { entry in
            let name = entry.hasPrefix(".") ? entry.dropFirst() : entry
            return name == "*" || host == name || host.hasSuffix(".\(name)")
        }
    }
}

extension Substring {
    /// The first place of a text in it.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            formIndex(after: &start)
        }
        return nil
    }
}
