/// Which protocol a datagram on a shared port belongs to, told by its first bytes alone.
///
/// One byte decides (RFC 7983 section 7), and for RTP and RTCP the second (RFC 5761 section 4). Reads nothing else, so
/// that it can stand before decryption. A kind is a guess that the protocol's own parser or cipher must confirm.
package enum DatagramKind: Equatable, Sendable {
    /// First byte 0 to 3.
    case stun
    /// First byte 16 to 19.
    case zrtp
    /// First byte 20 to 63.
    case dtls
    /// First byte 64 to 79.
    case turnChannel
    /// First byte 128 to 191, second not an RTCP packet type.
    case rtp
    /// First byte 128 to 191, second an RTCP packet type, 192 to 223.
    case rtcp
    /// Empty, too short to tell, or of no known protocol: drop it.
    case unknown

    /// Tells the kind of this datagram.
    package init(of datagram: Span<UInt8>) {
        guard datagram.count > 0 else {
            self = .unknown
            return
        }
        switch datagram[0] {
        case 0...3: self = .stun
        case 16...19: self = .zrtp
        case 20...63: self = .dtls
        case 64...79: self = .turnChannel
        case 128...191 where datagram.count >= 2:
            // As an RTP packet these would have the payload types 64 to 95 with the marker set; sessions that share a
            // port do not use those (RFC 5761 section 4).
            self = 192...223 ~= datagram[1] ? .rtcp : .rtp
        default: self = .unknown
        }
    }
}
