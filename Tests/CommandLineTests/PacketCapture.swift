/// Captures as bytes: what libpcap's classic savefile format makes of packets.
enum PacketCapture {
    /// Raw IP, by libpcap's `LINKTYPE_` number.
    static let rawIP: Int32 = 101
    /// The longest packet that the file's header says is kept whole.
    private static let snapshotBytes: UInt32 = 65_535

    /// A file with these packets, each with its time in microseconds, in the order given.
    static func file(link: Int32 = rawIP, _ packets: [(microseconds: Int, bytes: [UInt8])]) -> [UInt8] {
        var file = little(0xA1B2_C3D4) + [2, 0, 4, 0] + little(0) + little(0) + little(snapshotBytes)
        file += little(UInt32(bitPattern: link))
        for packet in packets {
            let (seconds, rest) = packet.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
            let count = little(UInt32(packet.bytes.count))
            file += little(UInt32(seconds)) + little(UInt32(rest)) + count + count + packet.bytes
        }
        return file
    }

    /// An IPv4 packet from loopback to loopback with this UDP payload (RFC 791).
    static func ipv4(_ payload: [UInt8]) -> [UInt8] {
        let segment = udp(payload)
        return [0x45, 0] + big(UInt16(20 + segment.count)) + [0, 0, 0, 0, 64, 17, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1]
            + segment
    }

    /// A UDP datagram without a checksum (RFC 768).
    static func udp(_ payload: [UInt8]) -> [UInt8] {
        big(UInt16(5_000)) + big(UInt16(5_002)) + big(UInt16(8 + payload.count)) + [0, 0] + payload
    }

    /// The bytes in network order.
    static func big<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
        stride(from: Value.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    private static func little(_ value: UInt32) -> [UInt8] { big(value).reversed() }
}
