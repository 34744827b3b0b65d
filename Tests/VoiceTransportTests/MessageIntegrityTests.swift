import Testing
import VoicePeers

@testable import VoiceTransport

@Suite("The HMAC of STUN's messages, by OpenSSL")
struct MessageIntegrityTests {
    /// Bytes in hexadecimal.
    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private static func hmac(
        _ integrity: borrowing MessageIntegrity, _ key: [UInt8], _ message: [UInt8], cut: Int = 0
    ) -> [UInt8]? {
        let (first, second) = (Array(message.prefix(cut)), Array(message.dropFirst(cut)))
        guard let mac = integrity.hmacSHA1(key: key.span, first.span, second.span) else { return nil }
        return mac.indices.map { mac[$0] }
    }

    private static func integrity() throws -> MessageIntegrity {
        guard let integrity = MessageIntegrity() else { throw Missing() }
        return integrity
    }

    /// OpenSSL has no HMAC-SHA1 here.
    private struct Missing: Error {}

    @Test("the vectors of RFC 2202 section 3, cut anywhere, with one context")
    func vectors() throws {
        let integrity = try Self.integrity()
        func repeated(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }
        let vectors: [(key: [UInt8], message: [UInt8], mac: String)] = [
            (repeated(0x0B, 20), Array("Hi There".utf8), "b617318655057264e28bc0b6fb378c8ef146be00"),
            (
                Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
                "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"
            ),
            (repeated(0xAA, 20), repeated(0xDD, 50), "125d7342b9ac11cd91a39af48aa17b4f63f175d3"),
            (Array(1...25), repeated(0xCD, 50), "4c9007f4026250c6bc8414f9bf50c86c2d7235da"),
            (repeated(0x0C, 20), Array("Test With Truncation".utf8), "4c1a03424b55e07fe7f27be1d58bb9324a9a5a04"),
            (
                repeated(0xAA, 80), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                "aa4ae5e15272d00e95705637ce8a3b55ed402112"
            ),
            (
                repeated(0xAA, 80),
                Array("Test Using Larger Than Block-Size Key and Larger Than One Block-Size Data".utf8),
                "e8e99d0f45237d786d6bbaa7965c7808bbff1a91"
            ),
        ]
        for (key, message, mac) in vectors {
            for cut in 0...message.count {
                let computed = Self.hmac(integrity, key, message, cut: cut)
                #expect(computed == Self.bytes(mac))
            }
        }
    }

    @Test("without a key there is none, and not the one of the key before")
    func noKey() throws {
        let integrity = try Self.integrity()
        let (one, none) = (Self.hmac(integrity, [1], [2]), Self.hmac(integrity, [], [2]))
        #expect(one != nil && none == nil)
    }
}
