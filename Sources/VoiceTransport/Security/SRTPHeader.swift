internal import VoicePeers

/// What SRTP needs to know of a packet's clear header.
struct SRTPHeader: BitwiseCopyable {
    /// Bytes that stay in clear: fixed header, CSRCs and header extension; of a compound of RTCP the first 8.
    let length: Int
    let source: UInt32
    /// 0 for RTCP.
    let sequenceNumber: UInt16

    /// Bytes of the longest packet: a datagram's. Counter mode counts 65536 blocks, 1 MB, before it would come to the
    /// next packet's.
    static let packetLimit = 65_535
    private static let fixedLength = 12
    private static let reportLength = 8

    /// Nil where the packet is no RTP or RTCP of version 2, where its header ends behind it, and where it is too long.
    @unsafe
    init?(_ packet: UnsafePointer<UInt8>, count: Int, _ kind: MediaKind) {
        guard count <= Self.packetLimit else { return nil }
        switch kind {
        case .report:
            guard count >= Self.reportLength, unsafe packet[0] >> 6 == 2 else { return nil }
            (length, sequenceNumber) = (Self.reportLength, 0)
            source = unsafe packet.word(at: 4)
        case .sound:
            guard count >= Self.fixedLength, unsafe packet[0] >> 6 == 2 else { return nil }
            var length = unsafe Self.fixedLength + 4 * Int(packet[0] & 0x0F)
            if unsafe packet[0] & 0x10 != 0 {
                guard count >= length + 4 else { return nil }
                length += unsafe 4 * (1 + Int(packet.halfWord(at: length + 2)))
            }
            guard count >= length else { return nil }
            self.length = length
            sequenceNumber = unsafe packet.halfWord(at: 2)
            source = unsafe packet.word(at: 8)
        }
    }
}

extension UnsafePointer<UInt8> {
    /// Two bytes in network byte order. The caller has checked that they are there.
    @unsafe
    func halfWord(at offset: Int) -> UInt16 {
        unsafe UInt16(bigEndian: UnsafeRawPointer(self + offset).loadUnaligned(as: UInt16.self))
    }

    /// Four bytes in network byte order. The caller has checked that they are there.
    @unsafe
    func word(at offset: Int) -> UInt32 {
        unsafe UInt32(bigEndian: UnsafeRawPointer(self + offset).loadUnaligned(as: UInt32.self))
    }
}

extension UnsafeMutablePointer<UInt8> {
    /// Stores four bytes in network byte order. The caller has checked that there is room.
    @unsafe
    func store(_ word: UInt32, at offset: Int) {
        unsafe UnsafeMutableRawPointer(self + offset).storeBytes(of: word.bigEndian, as: UInt32.self)
    }
}
