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
        let told = isEverywhere ? Self.best(of: Self.ownAddresses(), takesIPv6: listening == "::") : listening
        self.host = host ?? told
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

    /// An address of this machine, as its numbers.
    struct OwnAddress: Equatable {
        let text: String
        /// Whether only this machine reaches it.
        let isLoopback: Bool

        var isIPv6: Bool { text.contains(":") }
        /// Whether others reach it by its numbers alone: an address of one link has to say by which interface.
        var isReachable: Bool { !isLoopback && !text.contains("%") }
    }

    /// Which of a machine's addresses to tell: one of IPv4, which most clients have; of IPv6 where there is none. Without
    /// a network its own.
    static func best(of addresses: [OwnAddress], takesIPv6: Bool) -> String {
        let usable = addresses.filter { takesIPv6 || !$0.isIPv6 }
        let reachable = usable.filter(\.isReachable)
        if let best = reachable.first(where: { !$0.isIPv6 }) ?? reachable.first { return best.text }
        let own = usable.filter(\.isLoopback)
        return (own.first { !$0.isIPv6 } ?? own.first)?.text ?? "127.0.0.1"
    }

    /// The addresses of this machine's interfaces that are up.
    private static func ownAddresses() -> [OwnAddress] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else { return [] }
        defer { unsafe freeifaddrs(list) }
        var addresses: [OwnAddress] = []
        var next = unsafe list
        while let entry = unsafe next?.pointee {
            unsafe next = entry.ifa_next
            guard unsafe entry.ifa_flags & UInt32(IFF_UP) != 0, let address = unsafe entry.ifa_addr else { continue }
            let length: Int
            switch unsafe address.pointee.sa_family {
            case sa_family_t(AF_INET): length = MemoryLayout<sockaddr_in>.size
            case sa_family_t(AF_INET6): length = MemoryLayout<sockaddr_in6>.size
            default: continue
            }
            // With a percent sign and the name of an interface behind it, of 15 characters at most.
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN) + 16)
            guard
                unsafe getnameinfo(
                    address, socklen_t(length), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
            else { continue }
            let isLoopback = unsafe entry.ifa_flags & UInt32(IFF_LOOPBACK) != 0
            addresses.append(
                OwnAddress(
                    text: String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self),
                    isLoopback: isLoopback))
        }
        return addresses
    }
}
