internal import CLinuxRealtime
internal import VoicePeers
internal import VoiceRooms

extension EndpointAddress {
    /// The address as the system has it. Allocates nothing.
    init(_ address: dv_address, local: UInt16 = 0) {
        let bytes = address.bytes
        self.init(
            high: Self.join(
                bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5, bytes.6, bytes.7),
            low: Self.join(
                bytes.8, bytes.9, bytes.10, bytes.11, bytes.12, bytes.13, bytes.14, bytes.15),
            scope: address.scope, port: address.port, local: local)
    }

    /// The address as the system wants it. Allocates nothing.
    var system: dv_address {
        var address = dv_address()
        address.bytes = (
            Self.byte(high, 0), Self.byte(high, 1), Self.byte(high, 2), Self.byte(high, 3), Self.byte(high, 4),
            Self.byte(high, 5), Self.byte(high, 6), Self.byte(high, 7), Self.byte(low, 0), Self.byte(low, 1),
            Self.byte(low, 2), Self.byte(low, 3), Self.byte(low, 4), Self.byte(low, 5), Self.byte(low, 6),
            Self.byte(low, 7)
        )
        address.scope = scope
        address.port = port
        return address
    }

    /// A numeric IPv4 or IPv6 address, or `localhost`, which is this machine whatever a name server says (RFC 6761,
    /// section 6.3); nil for a name.
    init?(numeric host: String, port: UInt16) {
        var address = dv_address()
        let host = host.lowercased() == "localhost" ? "127.0.0.1" : host
        guard unsafe dv_address_parse(&address, host, port) == 0 else { return nil }
        self.init(address)
    }

    /// As it is written: `192.0.2.1:7900`, `[2001:db8::1]:7900` (RFC 5952).
    var text: String {
        if high == 0, low >> 32 == 0xFFFF {
            return "\((4..<8).map { String(Self.byte(low, $0)) }.joined(separator: ".")):\(port)"
        }
        let words = [high, low].flatMap { half in [48, 32, 16, 0].map { UInt16(truncatingIfNeeded: half >> $0) } }
        // The longest run of zeros, the first of them, of two words at least.
        var run = 0..<0
        var start = 0
        for (index, word) in words.enumerated() {
            if word != 0 {
                start = index + 1
            } else if index + 1 - start > max(run.count, 1) {
                run = start..<index + 1
            }
        }
        func written(_ range: Range<Int>) -> String {
            words[range].map { String($0, radix: 16) }.joined(separator: ":")
        }
        let host = run.isEmpty ? written(0..<8) : "\(written(0..<run.lowerBound))::\(written(run.upperBound..<8))"
        return "[\(host)]:\(port)"
    }

    /// Whether datagrams to it stay on this machine.
    var isLoopback: Bool {
        var address = system
        return unsafe dv_address_is_loopback(&address) != 0
    }

    private static func byte(_ word: UInt64, _ index: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * index))
    }

    private static func join(
        _ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8, _ e: UInt8, _ f: UInt8, _ g: UInt8, _ h: UInt8
    ) -> UInt64 {
        let upper = UInt64(a) << 56 | UInt64(b) << 48 | UInt64(c) << 40 | UInt64(d) << 32
        return upper | UInt64(e) << 24 | UInt64(f) << 16 | UInt64(g) << 8 | UInt64(h)
    }
}

/// Random numbers from the system's cryptographic source.
func randomNumber() -> UInt64 {
    var number: UInt64 = 0
    unsafe dv_random(&number, MemoryLayout<UInt64>.size)
    return number
}
