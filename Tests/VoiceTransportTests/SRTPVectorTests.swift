import Testing
import VoicePeers

@testable import VoiceTransport

@Suite("SRTP by the vectors of its RFCs")
struct SRTPVectorTests {
    @Test("the key stream of RFC 3711 B.2")
    func keyStream() throws {
        // Given its session key and salt, and any key that authenticates
        let key = try made(SecretBytes(hexadecimal("2B7E151628AED2A6ABF7158809CF4F3C")))
        let salt = try made(SecretBytes(hexadecimal("F0F1F2F3F4F5F6F7F8F9FAFBFCFD")))
        let authentication = try made(SecretBytes(zeros: CounterTransform.authenticationKeyLength))
        let transform = try made(CounterTransform(key: key, authenticationKey: authentication, salt: salt))
        // When zeros are encrypted as the packet of SSRC 0 and index 0
        let count = 0xFF02 * 16
        var packet = [UInt8](repeating: 0, count: count + CounterTransform.tagLength)
        let sealed = unsafe packet.withUnsafeMutableBufferPointer { packet in
            guard let start = packet.baseAddress else { return false }
            return unsafe transform.seal(start, header: 0, count: count, at: SRTPPlace(sound: 0, index: 0))
        }
        // Then the stream is that of the table, block by block
        #expect(sealed)
        for (block, expected) in [
            (0x0000, "E03EAD0935C95E80E166B16DD92B4EB4"), (0x0001, "D23513162B02D0F72A43A2FE4A5F97AB"),
            (0x0002, "41E95B3BB0A2E8DD477901E4FCA894C0"), (0xFEFF, "EC8CDF7398607CB0F2D21675EA9EA1E4"),
            (0xFF00, "362B7C3C6773516318A077D7FC5073AE"), (0xFF01, "6A2CC3787889374FBEB4C81B17BA6C44"),
        ] {
            #expect(Array(packet[(block * 16)...].prefix(16)) == hexadecimal(expected), "block \(block)")
        }
    }

    @Test("the key derivation of RFC 3711 B.3")
    func derivation() throws {
        let master = try made(SecretBytes(hexadecimal("E1F97A0D3E018BE0D64FA32C06DE4139")))
        let salt = try made(SecretBytes(hexadecimal("0EC675AD498AFEEBB6960B3AABE6")))
        let keys = try made(SRTPKeyDerivation(master: master, salt: salt))
        for (purpose, expected) in [
            (SRTPKeyDerivation.Purpose.encryption, "C61E7A93744F39EE10734AFE3FF7A087"),
            (.salting, "30CBBC08863D8C85D49DB34A9AE1"),
            (
                .authentication,
                """
                CEBE321F6FF7716B6FD4AB49AF256A156D38BAA48F0A0ACF3C34E2359E6CDBCEE049646C43D9327AD175578EF7227098
                6371C10C9A369AC2F94A8C5FBCDDDC256D6E919A48B610EF17C2041E474035766B68642C59BBFC2F34DB60DBDFB2
                """
            ),
        ] {
            let bytes = hexadecimal(expected)
            let key = try made(keys.key(purpose, .sound, count: bytes.count))
            #expect(key.bytes == bytes, "\(purpose)")
        }
    }

    // MARK: RFC 7714

    private static let key = "000102030405060708090a0b0c0d0e0f"
    private static let salt = "517569642070726f2071756f"

    private func transform(encrypts: Bool) throws -> SRTPTransform {
        let key = try made(SecretBytes(hexadecimal(Self.key)))
        let salt = try made(SecretBytes(hexadecimal(Self.salt)))
        return .galois(try made(GaloisTransform(key: key, salt: salt, encrypts: encrypts)))
    }

    /// Seals and opens; both in hexadecimal digits.
    private func check(clear: String, header: Int, at place: SRTPPlace, sealed: String) throws {
        let (clear, sealed) = (hexadecimal(clear), hexadecimal(sealed))
        let sealing = try transform(encrypts: true)
        let opening = try transform(encrypts: false)
        var packet = clear + [UInt8](repeating: 0, count: sealed.count - clear.count)
        unsafe packet.withUnsafeMutableBufferPointer { packet in
            guard let start = packet.baseAddress else { return }
            #expect(unsafe sealing.seal(start, header: header, count: clear.count, at: place))
        }
        #expect(packet == sealed)
        unsafe packet.withUnsafeMutableBufferPointer { packet in
            guard let start = packet.baseAddress else { return }
            #expect(unsafe opening.open(start, header: header, count: clear.count, at: place))
        }
        #expect(Array(packet.prefix(clear.count)) == clear)
    }

    @Test("SRTP with AEAD_AES_128_GCM, RFC 7714 section 16.1")
    func sound() throws {
        try check(
            clear:
                "8040f17b8041f8d35501a0b247616c6c696120657374206f6d6e69732064697669736120696e207061727465732074726573",
            header: 12, at: SRTPPlace(sound: 0x5501_a0b2, index: 0xf17b),
            sealed: """
                8040f17b8041f8d35501a0b2f24de3a3fb34de6cacba861c9d7e4bcabe633bd50d294e6f42a5f47a51c7d19b36de3adf8833
                899d7f27beb16a9152cf765ee4390cce
                """)
    }

    @Test("SRTCP with AEAD_AES_128_GCM, RFC 7714 section 17.1")
    func report() throws {
        try check(
            clear: """
                81c8000d4d6172734e5450314e545032525450200000042a0000e9304c756e61deadbeefdeadbeefdeadbeefdeadbeefdeadbeef
                """,
            header: 8, at: SRTPPlace(report: 0x4d61_7273, index: 0x5d4),
            sealed: """
                81c8000d4d61727363e94885dcdab67ca727d7662f6b7e997ff5c0f76c06f32dc676a5f1730d6fda4ce09b4686303ded0bb9275b
                c84aa45896cf4d2fc5abf87245d9eade800005d4
                """)
    }

    @Test("a report that is genuine but not encrypted is refused, RFC 7714 section 17.3")
    func taggedOnly() {
        #expect(SRTPPlace(report: 0x4d61_7273, word: 0x0000_05d4) == nil)
        #expect(SRTPPlace(report: 0x4d61_7273, word: 0x8000_05d4)?.index == 0x5d4)
    }

    @Test("lengths and names of the profiles, RFC 5764 section 4.1.2 and RFC 7714 section 14.2")
    func profiles() {
        #expect(SRTPProfile.allCases.map(\.rawValue) == [0x0007, 0x0001])
        #expect(SRTPProfile.allCases.map(\.keyingMaterialLength) == [56, 60])
        for profile in SRTPProfile.allCases {
            #expect(SRTPProfile(openSSLName: profile.openSSLName) == profile)
            #expect(profile.overhead(.sound) == profile.tagLength)
            #expect(profile.overhead(.report) == profile.tagLength + 4)
            #expect(profile.overhead(.report) <= SRTPProfile.maximumOverhead)
        }
        #expect(SRTPProfile(openSSLName: "SRTP_NULL_SHA1_80") == nil)
    }
}
