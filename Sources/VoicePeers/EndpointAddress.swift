/// Where datagrams come from and go to, and by which of this machine's own addresses: what the state machines compare
/// and never look into.
///
/// Wide enough for an IPv6 address (IPv4 goes in mapped, RFC 4291 section 2.5.5.2), its scope and port, so a server
/// needs no table of addresses that strangers could fill.
package struct EndpointAddress: Hashable, Sendable, BitwiseCopyable {
    /// The upper 64 bits of the address.
    package let high: UInt64
    /// The lower 64 bits of the address.
    package let low: UInt64
    /// The interface of a link-local address; 0 elsewhere.
    package let scope: UInt32
    /// The UDP port.
    package let port: UInt16
    /// Which of this machine's addresses they talk with, as whoever has the socket numbers them: who asked at one takes
    /// an answer from nowhere else. 0: the socket has only one, or the system chooses.
    package let local: UInt16

    /// Makes an address of its parts.
    package init(high: UInt64, low: UInt64, scope: UInt32 = 0, port: UInt16, local: UInt16 = 0) {
        self.high = high
        self.low = low
        self.scope = scope
        self.port = port
        self.local = local
    }
}

extension EndpointAddress {
    /// What somebody may have all addresses of.
    enum NetworkWidth: Sendable {
        /// A whole IPv4 address, which may have many clients behind it; an IPv6 /64, since who has one address has all
        /// of it.
        case host
        /// An IPv4 /24, the narrowest that is routed; an IPv6 /48, as customers get it.
        case site
        /// An IPv4 /16, an IPv6 /32: a provider's, or a good part of it.
        case provider
    }

    /// What stands for the network of that width around this address.
    func prefix(_ width: NetworkWidth) -> UInt64 {
        let isIPv4 = high == 0
        return switch width {
        case .host: isIPv4 ? low : high
        case .site: isIPv4 ? low & ~0xFF : high & ~0xFFFF
        case .provider: isIPv4 ? low & ~0xFFFF : high & ~0xFFFF_FFFF
        }
    }
}
