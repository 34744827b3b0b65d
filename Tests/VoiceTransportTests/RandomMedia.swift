import TestCases
import VoicePeers

@testable import VoiceTransport

/// Packets of every shape that RTP and RTCP have, the same for the same seed.
struct RandomMedia {
    var random: SeededNumbers

    init(seed: UInt64) { random = SeededNumbers(seed: seed) }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(random.below(256)) } }

    /// A packet with up to 15 CSRCs, an extension or none, and a payload that may be empty.
    mutating func sound(_ source: UInt32, _ sequenceNumber: UInt16) -> [UInt8] {
        let sources = random.below(3) == 0 ? random.below(16) : 0
        let hasExtension = random.below(2) == 0
        let hasPadding = random.below(4) == 0
        var packet = [UInt8(0x80 | sources | (hasExtension ? 0x10 : 0) | (hasPadding ? 0x20 : 0)), 111]
        packet += [UInt8(sequenceNumber >> 8), UInt8(truncatingIfNeeded: sequenceNumber)] + bytes(4)
        packet += Self.word(source) + bytes(4 * sources)
        if hasExtension {
            let words = random.below(5)
            packet += [0xBE, 0xDE, 0, UInt8(words)] + bytes(4 * words)
        }
        packet += bytes(random.below(180))
        return hasPadding ? packet + [0, 0, 3] : packet
    }

    /// A compound: a report with up to 3 blocks, and a description behind.
    mutating func report(_ source: UInt32) -> [UInt8] {
        let blocks = random.below(4)
        let report = [UInt8(0x80 | blocks), 201, 0, UInt8(1 + 6 * blocks)] + Self.word(source) + bytes(24 * blocks)
        return report + [0x81, 202, 0, 3] + Self.word(source) + [1, 4] + bytes(4) + [0, 0]
    }

    mutating func packet(_ kind: MediaKind, _ source: UInt32, _ sequenceNumber: UInt16) -> [UInt8] {
        switch kind {
        case .sound: sound(source, sequenceNumber)
        case .report: report(source)
        }
    }

    /// What an exporter would give.
    mutating func keyingMaterial(_ profile: SRTPProfile) -> [UInt8] { bytes(profile.keyingMaterialLength) }

    static func word(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
}

extension SRTPSession {
    /// Protects a copy; nil where it is refused.
    mutating func protected(_ packet: [UInt8], _ kind: MediaKind) -> [UInt8]? {
        var buffer = packet + [UInt8](repeating: 0, count: SRTPProfile.maximumOverhead)
        var span = buffer.mutableSpan
        guard let count = protect(&span, count: packet.count, kind) else { return nil }
        return Array(buffer.prefix(count))
    }

    /// Takes the protection off a copy; nil where it is refused.
    mutating func unprotected(_ packet: [UInt8], _ kind: MediaKind) -> [UInt8]? {
        var buffer = packet
        var span = buffer.mutableSpan
        guard let count = unprotect(&span, count: packet.count, kind) else { return nil }
        return Array(buffer.prefix(count))
    }
}

/// Bytes that are written as hexadecimal digits.
func hexadecimal(_ digits: String) -> [UInt8] {
    let values = digits.compactMap(\.hexDigitValue)
    return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
}

extension SecretBytes {
    init?(_ bytes: [UInt8]) {
        self.init(zeros: bytes.count)
        for (place, byte) in bytes.enumerated() { unsafe start[place] = byte }
    }

    var bytes: [UInt8] { (0..<count).map { unsafe start[$0] } }
}

/// What was to be made could not be.
struct NothingMade: Error {}

/// `#require` for what cannot be copied.
func made<Value: ~Copyable>(_ value: consuming Value?) throws -> Value {
    guard let value else { throw NothingMade() }
    return value
}
