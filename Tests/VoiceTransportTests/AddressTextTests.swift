import Testing
import VoicePeers

@testable import VoiceTransport

@Suite("An address is written as people write it (RFC 5952)")
struct AddressTextTests {
    @Test(
        "with its port; the longest run of zeros is left out",
        arguments: [
            ("192.0.2.1", "192.0.2.1:7900"), ("127.0.0.1", "127.0.0.1:7900"), ("::1", "[::1]:7900"),
            ("2001:db8::1", "[2001:db8::1]:7900"), ("2001:db8:0:1:1:1:1:1", "[2001:db8:0:1:1:1:1:1]:7900"),
            ("2001:db8:0:0:1:0:0:1", "[2001:db8::1:0:0:1]:7900"), ("2001:0:0:1:0:0:0:1", "[2001:0:0:1::1]:7900"),
            ("fe80::", "[fe80::]:7900"),
        ])
    func text(numeric: String, written: String) throws {
        let address = try #require(EndpointAddress(numeric: numeric, port: 7_900))
        #expect(address.text == written)
    }
}
