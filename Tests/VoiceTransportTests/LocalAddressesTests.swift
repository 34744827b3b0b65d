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
}
