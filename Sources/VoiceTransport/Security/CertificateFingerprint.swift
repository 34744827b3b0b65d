/// SHA-256 of a server's certificate (its DER form): `sha256:` and 64 hexadecimal digits as text.
///
/// Whoever has it has the server, whatever else its certificate says: who reaches for that server with it needs no
/// authority, no name and no date.
public struct CertificateFingerprint: Hashable, Sendable, CustomStringConvertible, LosslessStringConvertible {
    private static let prefix = "sha256:"
    /// Bytes of a SHA-256.
    static let size = 32

    let bytes: [UInt8]

    /// A fingerprint of 32 bytes; nil of any other number.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    /// Reads `sha256:` and 64 hexadecimal digits of either case; nil where it is anything else.
    public init?(_ description: String) {
        guard description.hasPrefix(Self.prefix) else { return nil }
        let digits = description.utf8.dropFirst(Self.prefix.utf8.count).map(Self.value)
        guard digits.count == 2 * Self.size else { return nil }
        var bytes: [UInt8] = []
        for index in 0..<Self.size {
            guard let high = digits[2 * index], let low = digits[2 * index + 1] else { return nil }
            bytes.append(high << 4 | low)
        }
        self.bytes = bytes
    }

    /// `sha256:` and 64 hexadecimal digits.
    public var description: String {
        Self.prefix + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
