internal import VoiceRooms
internal import VoiceWire

/// Tells media apart from everything else by its first bytes (RFC 7983 section 7, RFC 5761 section 4).
enum MediaDatagram {
    /// First bytes of RTP and RTCP: version 2 in the upper two bits.
    static let firstBytes: ClosedRange<UInt8> = 128...191

    /// RTP that repeats earlier packets (RFC 2198), RTP that does not, or RTCP.
    enum Kind { case sound, repeatingSound, report }

    /// What kind a media datagram of at least two bytes is.
    static func kind(of bytes: Span<UInt8>) -> Kind {
        if reportTypes.contains(bytes[1]) { return .report }
        return bytes[1] & 0x7F == RoomProtocol.redundantPayloadType ? .repeatingSound : .sound
    }

    /// RTCP packet types lie where RTP has marker and payload type; RTP must not use 64...95 here.
    private static let reportTypes: ClosedRange<UInt8> = 192...223

    /// The SSRC of the sender; nil when the datagram is too short to be RTP, or no RTCP of one sender.
    static func synchronizationSource(of bytes: Span<UInt8>) -> UInt32? {
        guard bytes.count >= 2, reportTypes.contains(bytes[1]) else {
            return RTPDatagram.synchronizationSource(of: bytes)
        }
        return try? RTCPCompound.sender(of: bytes)
    }
}
