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

    /// The same in libpcap's newer format (pcapng), with times in whole seconds, all of whose bits are free.
    static func wholeSeconds(_ packets: [(seconds: UInt64, bytes: [UInt8])]) -> [UInt8] {
        func block(_ type: UInt32, _ body: [UInt8]) -> [UInt8] {
            let padded = body + [UInt8](repeating: 0, count: -body.count & 3)
            let length = little(UInt32(padded.count + 12))
            return little(type) + length + padded + length
        }
        let section = little(0x1A2B_3C4D) + [1, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 8)
        // The option if_tsresol, of 1 byte: the exponent of 10, then the end of the options
        let interface = [UInt8(rawIP), 0, 0, 0] + little(snapshotBytes) + [9, 0, 1, 0, 0, 0, 0, 0] + little(0)
        return packets.reduce(block(0x0A0D_0D0A, section) + block(1, interface)) { file, packet in
            let count = little(UInt32(packet.bytes.count))
            let time = little(UInt32(packet.seconds >> 32)) + little(UInt32(truncatingIfNeeded: packet.seconds))
            return file + block(6, little(0) + time + count + count + packet.bytes)
        }
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
