/// What a media packet carries, as its clear header tells (RFC 5761 section 4): the same protected or not.
package enum MediaKind: Sendable, BitwiseCopyable {
    /// RTP
    case sound
    /// RTCP
    case report

    /// RTCP packet types lie where RTP has marker and payload type; RTP must not use 64...95 here.
    private static let reportTypes: ClosedRange<UInt8> = 192...223

    /// The kind of a datagram whose first byte is 128...191; nil when it is too short to tell.
    package init?(of datagram: Span<UInt8>) {
        guard datagram.count >= 2 else { return nil }
        self = Self.reportTypes.contains(datagram[1]) ? .report : .sound
    }
}
