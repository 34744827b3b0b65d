import Testing
import VoicePeers

@testable import VoiceTransport

@Suite("The addresses of this machine that a server was asked at")
struct LocalAddressesTests {
    @Test("each has a number; of those beyond the limit the system chooses")
    func manyAddresses() throws {
        // Given as many addresses as are kept
        var locals = LocalAddresses()
        let addresses = try (0..<LocalAddresses.limit + 10).map {
            try #require(EndpointAddress(numeric: "10.0.0.\($0)", port: 0))
        }
        // When more are seen, each twice
        let numbers = addresses.map { locals.number(of: $0) }
        #expect(addresses.map { locals.number(of: $0) } == numbers)
        // Then those that are kept are found by their numbers, and the others have none
        for (address, number) in zip(addresses, numbers).prefix(LocalAddresses.limit) {
            #expect(locals[number] == address)
        }
        #expect(numbers.suffix(10).allSatisfy { $0 == 0 })
        #expect(locals[0] == nil)
    }

    @Test("those of the loopback, of which there are many, leave places to the others")
    func loopback() throws {
        // Given a server that was asked at more addresses of the loopback than are kept
        var locals = LocalAddresses()
        let numbers = try (1...LocalAddresses.limit).map {
            locals.number(of: try #require(EndpointAddress(numeric: "127.0.0.\($0)", port: 0)))
        }
        #expect(numbers.count { $0 != 0 } == LocalAddresses.loopbackLimit)
        // When it is asked at another
        for text in ["192.0.2.2", "2001:db8::1"] {
            let address = try #require(EndpointAddress(numeric: text, port: 0))
            let number = locals.number(of: address)
            // Then that is kept
            #expect(locals[number] == address)
        }
    }
}
