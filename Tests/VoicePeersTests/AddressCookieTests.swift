import Testing

@testable import VoicePeers

@Suite("An address cookie")
struct AddressCookieTests {
    private let key = CookieKey(high: 0x0F0E_0D0C_0B0A_0908, low: 0x0706_0504_0302_0100)
    private let address = EndpointAddress(high: 1, low: 2, port: 3)

    private func bytes(_ address: EndpointAddress, _ key: CookieKey, at time: Duration) -> [UInt8] {
        let bytes = AddressCookie(of: address, key: key, now: time).bytes
        return bytes.indices.map { bytes[$0] }
    }

    @Test("the hash is SipHash-2-4")
    func reference() {
        // The vectors of its authors for 8 and 16 bytes that count up from 0, under this key.
        #expect(key.hash([0x0706_0504_0302_0100]) == 0x93F5_F579_9A93_2462)
        #expect(key.hash([0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908]) == 0x3F2A_CC7F_57C2_9BDB)
        let bytes = (0..<15).map { UInt8($0) }
        let (word, all) = (key.hash(bytes: bytes.span.extracting(..<8)), key.hash(bytes: bytes.span))
        #expect(word == 0x93F5_F579_9A93_2462)
        #expect(all == 0xA129_CA61_49BE_45E5)
    }

    @Test("it is taken back for one to two periods, and by nobody else")
    func validity() {
        let asked = bytes(address, key, at: .seconds(100))
        func accepts(_ address: EndpointAddress, _ key: CookieKey, _ time: Duration, _ bytes: [UInt8]) -> Bool {
            AddressCookie(of: address, key: key, now: time).accepts(bytes.span)
        }
        #expect(accepts(address, key, .seconds(100), asked))
        #expect(accepts(address, key, .seconds(130), asked))
        #expect(!accepts(address, key, .seconds(160), asked))
        #expect(!accepts(address, CookieKey(high: 1, low: 2), .seconds(100), asked))
        for other in [
            EndpointAddress(high: 0, low: 2, port: 3), EndpointAddress(high: 1, low: 3, port: 3),
            EndpointAddress(high: 1, low: 2, port: 4), EndpointAddress(high: 1, low: 2, scope: 1, port: 3),
        ] {
            #expect(!accepts(other, key, .seconds(100), asked))
        }
        for bit in 0..<128 {
            var changed = asked
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!accepts(address, key, .seconds(100), changed))
        }
        #expect(!accepts(address, key, .seconds(100), Array(asked.dropLast())))
        #expect(!accepts(address, key, .seconds(100), asked + [0]))
    }
}
