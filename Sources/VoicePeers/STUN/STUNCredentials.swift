/// The short-term credentials of one peer (RFC 8489 section 9.1): the server makes them and tells them to the peer
/// alone, inside a protected path.
package struct STUNCredentials: Equatable, Sendable, BitwiseCopyable {
    /// Whom a request is for.
    package let fragment: UserFragment
    /// What it is signed with.
    package let password: STUNPassword

    /// Puts the two together.
    package init(fragment: UserFragment, password: STUNPassword) {
        self.fragment = fragment
        self.password = password
    }
}

/// One end's part of a USERNAME: 96 bits, 16 characters of those that ICE allows (RFC 8839 section 5.4).
///
/// A server's names the peer, so that a request from an unknown address is found a peer for without a table of
/// addresses. It is no secret.
package struct UserFragment: Hashable, Sendable, BitwiseCopyable {
    /// Characters on the wire.
    package static let size = 16

    /// The upper 64 bits.
    package let high: UInt64
    /// The lower 32 bits.
    package let low: UInt32

    /// A fragment of any bits: a client's, from a random source, or one that was told.
    package init(high: UInt64, low: UInt32) {
        self.high = high
        self.low = low
    }

    /// A server's fragment for a peer; `salt` may be any number.
    package init(peer: PeerID, salt: UInt32) {
        self.init(high: UInt64(peer.slot) << 32 | UInt64(peer.generation), low: salt)
    }

    /// The peer that a server's fragment names. Whoever sent it may have made it up.
    package var peer: PeerID {
        PeerID(slot: UInt32(truncatingIfNeeded: high >> 32), generation: UInt32(truncatingIfNeeded: high))
    }

    /// Reads the characters; nil where there are more or fewer, or others.
    package init?(_ text: Span<UInt8>) {
        guard text.count == Self.size else { return nil }
        var bits: UInt128 = 0
        for index in text.indices {
            guard let value = ICECharacter.value(of: text[index]) else { return nil }
            bits = bits << 6 | UInt128(value)
        }
        self.init(high: UInt64(truncatingIfNeeded: bits >> 32), low: UInt32(truncatingIfNeeded: bits))
    }

    /// The characters.
    package var characters: InlineArray<16, UInt8> {
        let bits = UInt128(high) << 32 | UInt128(low)
        return InlineArray { ICECharacter.of(bits >> UInt128(90 - 6 * $0)) }
    }

    /// The fragment of the server in a USERNAME, before the colon; nil when it has none of this form.
    package init?(serverPartOf username: Span<UInt8>) {
        guard username.count > Self.size, username[Self.size] == UInt8(ascii: ":") else { return nil }
        self.init(username.extracting(first: Self.size))
    }
}

/// The key of one peer's binding requests: 128 bits that only the server and the peer know; 22 characters of those that
/// ICE allows.
package struct STUNPassword: Equatable, Sendable, BitwiseCopyable, CustomStringConvertible, CustomDebugStringConvertible
{
    /// Characters on the wire, as many as ICE asks for at least (RFC 8839 section 5.4).
    package static let size = 22

    /// The upper 64 bits.
    package let high: UInt64
    /// The lower 64 bits.
    package let low: UInt64

    /// A password of 128 bits, which must come from a cryptographic source.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The characters, which are the key of the HMAC.
    package var characters: InlineArray<22, UInt8> {
        let bits = UInt128(high) << 64 | UInt128(low)
        // The last one has two bits of the number.
        return InlineArray { ICECharacter.of($0 < 21 ? bits >> UInt128(122 - 6 * $0) : bits << 4) }
    }

    /// A placeholder; the password is not shown.
    package var description: String { "STUNPassword(hidden)" }
    /// A placeholder; the password is not shown.
    package var debugDescription: String { description }
}

/// The 64 characters of user fragments and passwords: `ice-char` of RFC 8839 section 5.4, in base64's order.
private enum ICECharacter {
    /// The character of the low six bits.
    static func of(_ bits: UInt128) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: bits) & 63
        return switch value {
        case 0..<26: UInt8(ascii: "A") + value
        case 26..<52: UInt8(ascii: "a") + value - 26
        case 52..<62: UInt8(ascii: "0") + value - 52
        case 62: UInt8(ascii: "+")
        default: UInt8(ascii: "/")
        }
    }

    static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
