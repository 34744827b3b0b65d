import Testing

@testable import VoiceTransport

@Suite("A room's URL")
struct RoomURLTests {
    private static let digits = String(repeating: "0123456789abcdef", count: 4)
    private static let pin = "fingerprint=sha256:\(digits)"
    private static let fingerprint = CertificateFingerprint("sha256:\(digits)")

    @Test(
        "tells where and whom to trust, and is printed so that it says the same",
        arguments: [
            ("udp://127.0.0.1:7000", "127.0.0.1", 7000, .plaintext), ("udp://[::1]:65535", "::1", 65535, .plaintext),
            ("udp://voice.example:1", "voice.example", 1, .plaintext),
            ("duplex://voice.example", "voice.example", 7900, .protected(.authorities(host: "voice.example"))),
            ("duplex://voice.example.:8", "voice.example.", 8, .protected(.authorities(host: "voice.example"))),
            ("duplex://voice.example:80/", "voice.example", 80, .protected(.authorities(host: "voice.example"))),
            ("duplex://[2001:db8::1]", "2001:db8::1", 7900, .protected(.authorities(host: "2001:db8::1"))),
        ] as [(String, String, UInt16, RoomSecurity)])
    func read(url: String, host: String, port: UInt16, security: RoomSecurity) throws {
        let endpoint = try RoomEndpoint(url: url, token: "")
        #expect(endpoint.host == host && endpoint.port == port && endpoint.security == security)
        let again = try RoomEndpoint(url: endpoint.description, token: "")
        #expect(again.host == host && again.port == port && again.security == security)
        #expect(endpoint.debugDescription == endpoint.description)
    }

    @Test("with a fingerprint names one certificate")
    func pinned() throws {
        let fingerprint = try #require(Self.fingerprint)
        for (url, host, port) in [
            ("duplex://host:7900/?\(Self.pin)", "host", 7900), ("duplex://host?\(Self.pin)", "host", 7900),
            ("duplex://host/?\(Self.pin)", "host", 7900), ("duplex://[::1]:4?\(Self.pin)", "::1", 4),
            ("duplex://host:9/?\(Self.pin.replacing("abcdef", with: "ABCDEF"))", "host", 9),
        ] {
            let endpoint = try RoomEndpoint(url: url, token: "")
            #expect(endpoint.security == .protected(.fingerprint(fingerprint)), "\(url)")
            #expect(endpoint.host == host && Int(endpoint.port) == port)
        }
        let pasted = RoomEndpoint.url(host: "::1", fingerprint: fingerprint)
        #expect(pasted == "duplex://[::1]:7900/?\(Self.pin)")
        #expect(try RoomEndpoint(url: pasted, token: "").description == pasted)
        #expect(RoomEndpoint.url(host: "a.example", port: 1, fingerprint: nil) == "duplex://a.example:1")
    }

    @Test(
        "that is none says which part is not",
        arguments: [
            ("", .scheme), ("host", .scheme), ("tcp://host:7000", .scheme), ("DUPLEX:/host", .scheme),
            ("udp://", .host), ("udp://:7000", .host), ("udp://::1:7000", .host), ("udp://me@host:7000", .host),
            ("udp://ho st:7000", .host), ("udp://host:7000/room", .port), ("duplex://", .host),
            ("duplex:///?x", .host), ("duplex://a:b@host", .port), ("duplex://me@host", .host),
            ("duplex://[::1", .host), ("duplex://::1", .host),
            ("duplex://[host]", .host), ("duplex://a\0b", .host), ("duplex://a%20b", .host), ("duplex://a#b", .host),
            ("duplex://\(String(repeating: "a", count: 254))", .host), ("udp://host", .port), ("udp://host:", .port),
            ("udp://host:0", .port), ("udp://host:65536", .port), ("udp://host:+70", .port), ("duplex://host:", .port),
            ("duplex://host:x", .port), ("duplex://host/room", .surplus), ("duplex://host/?", .surplus),
            ("duplex://host/?token=x", .surplus), ("duplex://host//?\(pin)", .surplus),
            ("duplex://host/?\(pin)&\(pin)", .surplus), ("duplex://host/?\(pin)#x", .surplus),
            ("duplex://host/?fingerprint=", .fingerprint), ("duplex://host/?fingerprint=\(digits)", .fingerprint),
            ("duplex://host/?\(pin)0", .fingerprint), ("duplex://host/?\(pin.dropLast())", .fingerprint),
            ("duplex://host/?\(pin.dropLast())g", .fingerprint),
            ("duplex://host/?fingerprint=sha1:\(digits)", .fingerprint),
        ] as [(String, RoomURLFault)])
    func refused(url: String, fault: RoomURLFault) {
        #expect(throws: RoomEndpointError.malformedURL(url, fault)) { try RoomEndpoint(url: url, token: "") }
        // And the error, as an app prints it, says what to write.
        #expect("\(RoomEndpointError.malformedURL(url, fault))".hasSuffix("'\(url)'; \(fault)"))
        #expect(!fault.description.isEmpty)
    }
}

@Suite("A certificate's fingerprint")
struct CertificateFingerprintTests {
    @Test("is read as it is printed")
    func text() throws {
        let bytes = (0..<32).map { UInt8($0 * 8) }
        let fingerprint = try #require(CertificateFingerprint(bytes: bytes))
        let text = fingerprint.description
        #expect(text.hasPrefix("sha256:0008101820") && text.utf8.count == 7 + 64)
        #expect(CertificateFingerprint(text) == fingerprint)
        #expect(CertificateFingerprint(text.uppercased()) == nil)
        #expect(CertificateFingerprint("sha256:" + text.dropFirst(7).uppercased()) == fingerprint)
        #expect(CertificateFingerprint(bytes: Array(bytes.dropLast())) == nil)
        for other in ["", "sha256:", " " + text, text + " ", text.replacing("sha256", with: "sha512")] {
            #expect(CertificateFingerprint(other) == nil)
        }
    }
}
