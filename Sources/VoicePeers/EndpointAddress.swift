/// Where datagrams come from and go to: an address that the state machines compare and never look into.
///
/// Wide enough for an IPv6 address (IPv4 goes in mapped, RFC 4291 section 2.5.5.2), its scope and port, so a server
/// needs no table of addresses that strangers could fill.
public struct EndpointAddress: Hashable, Sendable, BitwiseCopyable {
    /// The upper 64 bits of the address.
    public let high: UInt64
    /// The lower 64 bits of the address.
    public let low: UInt64
    /// The interface of a link-local address; 0 elsewhere.
    public let scope: UInt32
    /// The UDP port.
    public let port: UInt16

    /// Makes an address of its parts.
    public init(high: UInt64, low: UInt64, scope: UInt32 = 0, port: UInt16) {
        self.high = high
        self.low = low
        self.scope = scope
        self.port = port
    }
}

extension EndpointAddress {
    /// What stands for one network: the first 64 bits of an IPv6 address, since who has one has all behind them; a whole IPv4 address.
    var network: UInt64 { high == 0 ? low : high }
}
