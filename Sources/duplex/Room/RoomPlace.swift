import Glibc
import VoiceTransport

/// Where clients find a server.
struct RoomPlace {
    /// The name or address in its URL.
    let host: String

    /// All addresses of this machine: those of both families, since the name of a server often has both and a client
    /// takes either.
    static var everywhere: String {
        let descriptor = socket(AF_INET6, Int32(SOCK_DGRAM.rawValue), 0)
        guard descriptor >= 0 else { return "0.0.0.0" }
        close(descriptor)
        return "::"
    }

    /// - Parameters:
    ///   - listening: what the server is bound to.
    ///   - host: what its operator says.
    init(listening: String, host: String?) {
        let isEverywhere = listening == "0.0.0.0" || listening == "::"
        self.host = host ?? (isEverywhere ? Self.ownAddress() ?? "127.0.0.1" : listening)
    }

    /// Whether clients take a URL with this name or address in it.
    static func isHost(_ host: String) -> Bool {
        var address = in6_addr()
        let isWhole = unsafe !host.utf8.contains(UInt8(ascii: ":")) || inet_pton(AF_INET6, host, &address) == 1
        let endpoint = try? RoomEndpoint(url: RoomEndpoint.url(host: host, fingerprint: nil), token: "")
        return isWhole && endpoint?.host == host
    }

    /// What a certificate of the server's own is made for.
    var names: [String] { Array(Set([host, "localhost", "127.0.0.1"])).sorted() }

    /// The URL to paste.
    ///
    /// - Parameter isSigned: whether an authority has signed the certificate; then the host's name is enough.
    func url(port: UInt16, fingerprint: CertificateFingerprint?, isProtected: Bool, isSigned: Bool) -> String {
        guard isProtected else { return host.contains(":") ? "udp://[\(host)]:\(port)" : "udp://\(host):\(port)" }
        return RoomEndpoint.url(host: host, port: port, fingerprint: isSigned ? nil : fingerprint)
    }

    /// Where a program keeps what it must find again (XDG Base Directory Specification).
    static func usualState() throws -> String {
        if let state = Environment.value("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/duplexvoice" }
        guard let home = Environment.value("HOME"), home.hasPrefix("/") else {
            throw Failure(
                .usage, "neither XDG_STATE_HOME nor HOME is set; say by --state where the certificate is kept")
        }
        return home + "/.local/state/duplexvoice"
    }

    /// The first IPv4 address of this machine that is not its own alone; nil without a network.
    private static func ownAddress() -> String? {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else { return nil }
        defer { unsafe freeifaddrs(list) }
        var next = unsafe list
        while let entry = unsafe next?.pointee {
            unsafe next = entry.ifa_next
            let isUp = unsafe entry.ifa_flags & UInt32(IFF_UP) != 0
            let isOwn = unsafe entry.ifa_flags & UInt32(IFF_LOOPBACK) != 0
            guard isUp, !isOwn, let address = unsafe entry.ifa_addr,
                unsafe address.pointee.sa_family == sa_family_t(AF_INET)
            else { continue }
            var text = [CChar](repeating: 0, count: Int(INET_ADDRSTRLEN))
            let length = socklen_t(MemoryLayout<sockaddr_in>.size)
            guard
                unsafe getnameinfo(
                    address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
            else { continue }
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        return nil
    }
}
