import Testing
import VoiceWire

@Suite("Demultiplexing")
struct DatagramKindTests {
    @Test("RFC 7983 7: the first byte decides", arguments: UInt8.min ... .max)
    func firstByte(byte: UInt8) {
        let expected: DatagramKind =
            switch byte {
            case 0, 1, 2, 3: .stun
            case 16, 17, 18, 19: .zrtp
            case 20..<64: .dtls
            case 64..<80: .turnChannel
            case 128..<192: .rtp
            default: .unknown
            }
        let datagram: [UInt8] = [byte, 111]
        #expect(DatagramKind(of: datagram.span) == expected)
    }

    @Test("RFC 5761 4: RTCP packet types are 192 to 223", arguments: UInt8.min ... .max)
    func secondByte(byte: UInt8) {
        let datagram: [UInt8] = [0x80, byte]
        #expect(DatagramKind(of: datagram.span) == (byte >= 192 && byte <= 223 ? .rtcp : .rtp))
    }

    @Test(
        "too short to tell",
        arguments: [([], .unknown), ([0x80], .unknown), ([22], .dtls)] as [([UInt8], DatagramKind)])
    func short(datagram: [UInt8], expected: DatagramKind) {
        #expect(DatagramKind(of: datagram.span) == expected)
    }
}
