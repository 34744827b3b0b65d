import TestCases
import VoicePeers

/// HMAC-SHA1 by its definitions (RFC 2104, RFC 3174), slow and of one file, for tests alone.
struct PlainHMAC: STUNIntegrity {
    func hmacSHA1(key: Span<UInt8>, _ first: Span<UInt8>, _ second: Span<UInt8>) -> InlineArray<20, UInt8>? {
        var block = [UInt8](span: key)
        if block.count > 64 { block = Self.sha1(block) }
        block += [UInt8](repeating: 0, count: 64 - block.count)
        let inner = Self.sha1(block.map { $0 ^ 0x36 } + [UInt8](span: first) + [UInt8](span: second))
        let outer = Self.sha1(block.map { $0 ^ 0x5C } + inner)
        return InlineArray { outer[$0] }
    }

    static func sha1(_ message: [UInt8]) -> [UInt8] {
        func turn(_ value: UInt32, _ bits: UInt32) -> UInt32 { value << bits | value >> (32 - bits) }
        var hash: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        var padded = message + [0x80]
        padded += [UInt8](repeating: 0, count: (120 - padded.count % 64) % 64)
        padded += (0..<8).map { UInt8(truncatingIfNeeded: (message.count * 8) >> (56 - 8 * $0)) }
        for start in stride(from: 0, to: padded.count, by: 64) {
            var words = (0..<16).map { word in
                (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(padded[start + 4 * word + $1]) }
            }
            for index in 16..<80 {
                words.append(turn(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1))
            }
            var (a, b, c, d, e) = (hash[0], hash[1], hash[2], hash[3], hash[4])
            for index in 0..<80 {
                let (mixed, constant): (UInt32, UInt32) =
                    switch index / 20 {
                    case 0: (b & c | ~b & d, 0x5A82_7999)
                    case 1: (b ^ c ^ d, 0x6ED9_EBA1)
                    case 2: (b & c | b & d | c & d, 0x8F1B_BCDC)
                    default: (b ^ c ^ d, 0xCA62_C1D6)
                    }
                (a, b, c, d, e) = (turn(a, 5) &+ mixed &+ e &+ constant &+ words[index], a, turn(b, 30), c, d)
            }
            for (index, value) in [a, b, c, d, e].enumerated() { hash[index] &+= value }
        }
        return hash.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
    }
}

/// A sum in the place of a hash (FNV-1a): quick, for what is about addresses and times.
struct ToyHMAC: STUNIntegrity {
    func hmacSHA1(key: Span<UInt8>, _ first: Span<UInt8>, _ second: Span<UInt8>) -> InlineArray<20, UInt8>? {
        var sum: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ piece: Span<UInt8>) {
            for index in piece.indices { sum = (sum ^ UInt64(piece[index])) &* 0x100_0000_01B3 }
        }
        add(key)
        add(first)
        add(second)
        return InlineArray { UInt8(truncatingIfNeeded: sum >> UInt64($0 % 8 * 8)) }
    }
}

/// One that cannot compute anything.
struct NoHMAC: STUNIntegrity {
    func hmacSHA1(key: Span<UInt8>, _ first: Span<UInt8>, _ second: Span<UInt8>) -> InlineArray<20, UInt8>? { nil }
}

extension [UInt8] {
    init(span: Span<UInt8>) { self = span.indices.map { span[$0] } }

    /// Bytes in hexadecimal, with any white space between.
    init(hex: String) {
        let digits = hex.compactMap(\.hexDigitValue)
        self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    /// Its header's length made right.
    func withLength() -> [UInt8] {
        var bytes = self
        (bytes[2], bytes[3]) = (UInt8((count - 20) >> 8), UInt8((count - 20) & 0xFF))
        return bytes
    }
}

/// What `write` writes into a buffer of 1500 bytes.
func written<Failure: Error>(
    _ write: (inout MutableSpan<UInt8>) throws(Failure) -> Int
) throws(Failure) -> [UInt8] {
    var bytes = [UInt8](repeating: 0xEE, count: 1_500)
    var span = bytes.mutableSpan
    let count = try write(&span)
    return Array(bytes.prefix(count))
}

extension SeededNumbers {
    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }

    mutating func transaction() -> STUNTransaction {
        STUNTransaction(high: next(), low: UInt32(truncatingIfNeeded: next()))
    }

    mutating func address() -> EndpointAddress {
        let port = UInt16(truncatingIfNeeded: next())
        return Bool.random(using: &self)
            ? EndpointAddress(high: 0, low: 0xFFFF_0000_0000 | next() >> 32, port: port)
            : EndpointAddress(high: next() | 1, low: next(), port: port)
    }
}

extension STUNWriter {
    /// Adds an attribute of an array.
    mutating func append(
        _ attribute: STUNAttribute, _ value: [UInt8], to message: inout MutableSpan<UInt8>
    ) throws(STUNError) {
        try append(attribute, value.span, to: &message)
    }

    /// Signs with an array.
    mutating func sign(
        with password: [UInt8], by integrity: some STUNIntegrity = PlainHMAC(), in message: inout MutableSpan<UInt8>
    ) throws(STUNError) {
        try sign(with: password.span, by: integrity, in: &message)
    }
}

/// A copy of a span where there is one.
func copied(_ span: Span<UInt8>?) -> [UInt8]? {
    guard let span else { return nil }
    return [UInt8](span: span)
}

/// A copy of the value of an attribute of a message.
func value(of attribute: STUNAttribute, in bytes: [UInt8]) throws(STUNError) -> [UInt8]? {
    copied(try STUNMessage(bytes.span).value(of: attribute))
}

/// What a message says, copied out of it.
struct Reading: Equatable {
    var messageClass: STUNMessage.Class
    var transaction: STUNTransaction
    var username: [UInt8]?
    var number: UInt32?
    var mapped: EndpointAddress?
    var code: Int?
    var unknown: [UInt16]
    var hasFingerprint: Bool
    var isSigned: Bool

    init(_ bytes: [UInt8], password: [UInt8], by integrity: some STUNIntegrity = PlainHMAC()) throws(STUNError) {
        let message = try STUNMessage(bytes.span)
        messageClass = message.messageClass
        transaction = message.transaction
        username = copied(message.username)
        (number, mapped, code) = (message.requestNumber, message.mappedAddress, message.errorCode)
        unknown = (0..<message.unknownAttributes.count).map { message.unknownAttributes[$0].rawValue }
        hasFingerprint = message.hasFingerprint
        isSigned = message.isSigned(with: password.span, by: integrity)
    }
}
