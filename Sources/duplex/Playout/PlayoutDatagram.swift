/// Finds the UDP payload in a captured packet.
///
/// Link layers: raw IP, Ethernet with VLAN tags, Linux cooked v1 and v2, BSD loopback (the registry at
/// tcpdump.org/linktypes.html). Network layers: IPv4 (RFC 791), whole datagrams only; IPv6 with extension headers (RFC
/// 8200).
enum PlayoutDatagram {
    /// The link layers that are understood, by libpcap's `DLT_` number.
    enum Link: Int32, CaseIterable {
        case null = 0
        case ethernet = 1
        case raw = 12
        case openRaw = 14
        case linktypeRaw = 101
        case loop = 108
        case cooked = 113
        case ipv4 = 228
        case ipv6 = 229
        case cooked2 = 276

        /// Bytes before the network layer, without VLAN tags.
        fileprivate var headerBytes: Int {
            switch self {
            case .raw, .openRaw, .linktypeRaw, .ipv4, .ipv6: 0
            case .null, .loop: 4
            case .ethernet: 14
            case .cooked: 16
            case .cooked2: 20
            }
        }

        /// Where the two bytes of the EtherType are.
        fileprivate var etherTypeAt: Int? {
            switch self {
            case .ethernet: 12
            case .cooked: 14
            case .cooked2: 0
            default: nil
            }
        }
    }

    private static let ipv4EtherType = 0x0800
    private static let ipv6EtherType = 0x86DD
    private static let vlanEtherTypes = [0x8100, 0x88A8, 0x9100]
    private static let udp: UInt8 = 17
    /// Hop-by-hop options, routing, destination options.
    private static let extensionHeaders: [UInt8] = [0, 43, 60]

    /// The UDP payload of a packet, or nil if it carries none that is whole.
    static func payload(of packet: ArraySlice<UInt8>, link: Link) -> ArraySlice<UInt8>? {
        var rest = packet
        guard rest.count >= link.headerBytes else { return nil }
        let header = rest.prefix(link.headerBytes)
        rest = rest.dropFirst(link.headerBytes)
        if let at = link.etherTypeAt {
            var etherType = word(header, at)
            while vlanEtherTypes.contains(etherType) {
                guard rest.count >= 4 else { return nil }
                etherType = word(rest, 2)
                rest = rest.dropFirst(4)
            }
            guard etherType == ipv4EtherType || etherType == ipv6EtherType else { return nil }
        }
        guard let version = rest.first.map({ $0 >> 4 }) else { return nil }
        switch version {
        case 4: return ipv4Payload(rest)
        case 6: return ipv6Payload(rest)
        default: return nil
        }
    }

    private static func ipv4Payload(_ packet: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard packet.count >= 20 else { return nil }
        let headerBytes = Int(byte(packet, 0) & 0x0F) * 4
        let totalBytes = word(packet, 2)
        let isFragment = word(packet, 6) & 0x3FFF != 0
        guard headerBytes >= 20, totalBytes >= headerBytes, packet.count >= totalBytes, !isFragment,
            byte(packet, 9) == udp
        else { return nil }
        return udpPayload(packet.prefix(totalBytes).dropFirst(headerBytes))
    }

    private static func ipv6Payload(_ packet: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard packet.count >= 40 else { return nil }
        let payloadBytes = word(packet, 4)
        guard packet.count >= 40 + payloadBytes else { return nil }
        var next = byte(packet, 6)
        var rest = packet.dropFirst(40).prefix(payloadBytes)
        while extensionHeaders.contains(next) {
            // Its length counts 8 bytes, less the first 8.
            guard rest.count >= 8 else { return nil }
            let bytes = 8 + 8 * Int(byte(rest, 1))
            next = byte(rest, 0)
            guard rest.count >= bytes else { return nil }
            rest = rest.dropFirst(bytes)
        }
        return next == udp ? udpPayload(rest) : nil
    }

    private static func udpPayload(_ segment: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard segment.count >= 8 else { return nil }
        let bytes = word(segment, 4)
        guard bytes >= 8, segment.count >= bytes else { return nil }
        return segment.prefix(bytes).dropFirst(8)
    }

    private static func byte(_ bytes: ArraySlice<UInt8>, _ at: Int) -> UInt8 { bytes[bytes.startIndex + at] }

    private static func word(_ bytes: ArraySlice<UInt8>, _ at: Int) -> Int {
        Int(byte(bytes, at)) << 8 | Int(byte(bytes, at + 1))
    }
}
