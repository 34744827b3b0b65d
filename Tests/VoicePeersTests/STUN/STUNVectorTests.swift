import Testing

@testable import VoicePeers

/// What nobody here reads, and others send (RFC 8445 section 16.1).
extension STUNAttribute {
    static let iceControlled = STUNAttribute(rawValue: 0x8029)
    static let iceControlling = STUNAttribute(rawValue: 0x802A)
}

/// The sample messages of RFC 5769, whose credentials are `evtj:h6vY` and the password below.
enum SampleMessages {
    static let password = Array("VOkJxbRl1RmTxUk/WvJxBt".utf8)
    static let transaction = STUNTransaction(high: 0xB7E7_A701_BC34_D686, low: 0xFA87_DFAE)

    /// Section 2.1: SOFTWARE, PRIORITY, ICE-CONTROLLED, USERNAME padded with spaces.
    static let request = [UInt8](
        hex: """
            00010058 2112a442 b7e7a701bc34d686fa87dfae 80220010 5354554e207465737420636c69656e74 00240004 6e0001ff
            80290008 932ff9b151263b36 00060009 6576746a3a68367659202020 00080014 9aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a2
            80280004 e57a3bcf
            """)
    /// Section 2.2: 192.0.2.1, port 32853.
    static let responseIPv4 = [UInt8](
        hex: """
            0101003c 2112a442 b7e7a701bc34d686fa87dfae 8022000b 7465737420766563746f7220 00200008 0001a147e112a643
            00080014 2b91f599fd9e90c38c7489f92af9ba53f06be7d7 80280004 c07d4c96
            """)
    /// Section 2.3: 2001:db8:1234:5678:11:2233:4455:6677, port 32853.
    static let responseIPv6 = [UInt8](
        hex: """
            01010048 2112a442 b7e7a701bc34d686fa87dfae 8022000b 7465737420766563746f7220
            00200014 0002a1470113a9faa5d3f179bc25f4b5bed2b9d9
            00080014 a382954e4be67bf11784c97c8292c275bfe3ed41 80280004 c8fb0b4c
            """)
}

@Suite("STUN reads the samples of RFC 5769")
struct STUNVectorTests {
    @Test("the request: user, signature, checksum")
    func request() throws {
        let reading = try Reading(SampleMessages.request, password: SampleMessages.password)
        #expect(reading.messageClass == .request && reading.transaction == SampleMessages.transaction)
        #expect(reading.username == Array("evtj:h6vY".utf8))
        #expect(reading.isSigned && reading.hasFingerprint && reading.unknown.isEmpty)
        #expect(reading.number == nil && reading.mapped == nil && reading.code == nil)
        func value(_ attribute: STUNAttribute) throws -> [UInt8]? {
            try VoicePeersTests.value(of: attribute, in: SampleMessages.request)
        }
        #expect(try value(.priority) == [0x6E, 0, 1, 0xFF])
        #expect(try value(.iceControlled)?.count == 8)
        #expect(try value(.iceControlling) == nil)
    }

    @Test("the responses: the address, by either family")
    func responses() throws {
        let four = try Reading(SampleMessages.responseIPv4, password: SampleMessages.password)
        #expect(four.mapped == EndpointAddress(high: 0, low: 0xFFFF_C000_0201, port: 32_853))
        let six = try Reading(SampleMessages.responseIPv6, password: SampleMessages.password)
        #expect(six.mapped == EndpointAddress(high: 0x2001_0DB8_1234_5678, low: 0x0011_2233_4455_6677, port: 32_853))
        for reading in [four, six] {
            #expect(reading.messageClass == .success && reading.isSigned && reading.hasFingerprint)
            #expect(reading.transaction == SampleMessages.transaction && reading.unknown.isEmpty)
        }
    }

    @Test("the writer writes the response of section 2.2 but for its padding, which is a space there")
    func writes() throws {
        let bytes = try written { message throws(STUNError) in
            var writer = try STUNWriter(.success, SampleMessages.transaction, into: &message)
            // Without the space, which would be counted as one of the padding's.
            try writer.append(.software, Array("test vector".utf8), to: &message)
            try writer.append(
                mappedAddress: EndpointAddress(high: 0, low: 0xFFFF_C000_0201, port: 32_853), to: &message)
            try writer.sign(with: SampleMessages.password, in: &message)
            try writer.close(&message)
            return writer.byteCount
        }
        // 20 of the header, 4 and 11 of SOFTWARE, then its padding.
        #expect(bytes.prefix(35) == SampleMessages.responseIPv4.prefix(35))
        #expect(bytes[36..<48] == SampleMessages.responseIPv4[36..<48])
        #expect(bytes.count == SampleMessages.responseIPv4.count)
        #expect(try Reading(bytes, password: SampleMessages.password).isSigned)
    }

    @Test("another password, a changed byte, a shorter signature: not signed, or no message")
    func changed() throws {
        for sample in [SampleMessages.request, SampleMessages.responseIPv4, SampleMessages.responseIPv6] {
            #expect(try !Reading(sample, password: Array("VOkJxbRl1RmTxUk/WvJxBu".utf8)).isSigned)
            for offset in sample.indices {
                var bytes = sample
                bytes[offset] ^= 1 << UInt8(offset % 8)
                // The checksum notices it, unless it is no longer one; without one, the signature does.
                if 0..<2 ~= offset - (sample.count - 8) {
                    #expect(try !Reading(bytes, password: SampleMessages.password).hasFingerprint)
                } else {
                    #expect(throws: STUNError.self) { try Reading(bytes, password: SampleMessages.password) }
                }
                // The length is not signed: it is another one without the checksum.
                guard offset < sample.count - 8, offset != 2, offset != 3 else { continue }
                bytes = Array(bytes.dropLast(8)).withLength()
                if let reading = try? Reading(bytes, password: SampleMessages.password) {
                    #expect(!reading.isSigned, "byte \(offset)")
                }
            }
        }
    }

    @Test("the tests' own HMAC-SHA1 is right (RFC 2202 cases 1, 2, 6)")
    func reference() {
        func hmac(_ key: [UInt8], _ data: [UInt8]) -> [UInt8] {
            let half = data.count / 2
            let mac = PlainHMAC().hmacSHA1(
                key: key.span, data.span.extracting(first: half), data.span.extracting(half...))
            return (0..<20).compactMap { mac?[$0] }
        }
        #expect(
            hmac([UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8))
                == [UInt8](hex: "b617318655057264e28bc0b6fb378c8ef146be00"))
        #expect(
            hmac(Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
                == [UInt8](hex: "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"))
        #expect(
            hmac(
                [UInt8](repeating: 0xAA, count: 80),
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8))
                == [UInt8](hex: "aa4ae5e15272d00e95705637ce8a3b55ed402112"))
    }
}
