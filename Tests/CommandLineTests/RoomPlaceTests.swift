import Testing

@testable import duplex

@Suite("Where a room server says that it is")
struct RoomPlaceTests {
    private static func own(_ texts: String...) -> [RoomPlace.OwnAddress] {
        texts.map { RoomPlace.OwnAddress(text: $0, isLoopback: $0 == "127.0.0.1" || $0 == "::1") }
    }

    @Test("at an address that others reach: of IPv4, or of IPv6 on a machine that has that alone")
    func reachable() {
        let loopback = Self.own("127.0.0.1", "::1")
        let linkLocal = Self.own("fe80::1%eth0")
        let ipv6 = Self.own("2001:db8::7")
        let both = loopback + linkLocal + ipv6 + Self.own("192.0.2.7")
        #expect(RoomPlace.best(of: both, takesIPv6: true) == "192.0.2.7")
        #expect(RoomPlace.best(of: loopback + linkLocal + ipv6, takesIPv6: true) == "2001:db8::7")
        // But not where the server does not listen to that
        #expect(RoomPlace.best(of: both, takesIPv6: false) == "192.0.2.7")
        #expect(RoomPlace.best(of: loopback + ipv6, takesIPv6: false) == "127.0.0.1")
    }

    @Test("at its own without a network, of the family that it has")
    func alone() {
        #expect(RoomPlace.best(of: Self.own("127.0.0.1", "::1"), takesIPv6: true) == "127.0.0.1")
        #expect(RoomPlace.best(of: Self.own("::1", "fe80::1%eth0"), takesIPv6: true) == "::1")
        #expect(RoomPlace.best(of: [], takesIPv6: true) == "127.0.0.1")
    }

    @Test("an address of IPv6 stands in brackets in the URL to paste", arguments: [true, false])
    func brackets(isProtected: Bool) {
        let place = RoomPlace(listening: "::1", host: nil)
        let url = place.url(port: 7_901, fingerprint: nil, isProtected: isProtected, isSigned: false)
        #expect(url.hasPrefix(isProtected ? "duplex://[::1]:7901" : "udp://[::1]:7901"))
    }
}
