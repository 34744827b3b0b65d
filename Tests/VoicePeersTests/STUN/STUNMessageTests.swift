import TestCases
import Testing

@testable import VoicePeers

@Suite("A STUN message")
struct STUNMessageTests {
    private static let password = STUNPassword(high: 1, low: 2)
    private static var key: [UInt8] { Array(password.characters) }
    private static let credentials = STUNCredentials(
        fragment: UserFragment(peer: PeerID(slot: 7, generation: 9), salt: 0xFFFF_FFFF), password: password)

    private static func request(_ random: inout SeededNumbers, number: UInt32 = 1) throws -> [UInt8] {
        let (transaction, client) = (random.transaction(), UserFragment(high: random.next(), low: 5))
        return try written { message throws(STUNError) in
            try STUNBinding.request(
                transaction, number: number, to: credentials, from: client, cookie: InlineArray(repeating: 7),
                by: PlainHMAC(), into: &message)
        }
    }

    @Test("is read as it was written", arguments: UInt64(1)...4)
    func roundTrip(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        for _ in 0..<100 {
            let (transaction, address) = (random.transaction(), random.address())
            let number = UInt32(truncatingIfNeeded: random.next())
            let server = STUNCredentials(
                fragment: UserFragment(high: random.next(), low: number),
                password: STUNPassword(high: random.next(), low: random.next()))
            let client = UserFragment(high: random.next(), low: 3)
            let key = [UInt8](server.password.characters)
            let request = try Reading(
                written { message throws(STUNError) in
                    try STUNBinding.request(
                        transaction, number: number, to: server, from: client, cookie: InlineArray(repeating: 7),
                        by: PlainHMAC(), into: &message)
                }, password: key)
            #expect(request.messageClass == .request && request.transaction == transaction)
            #expect(request.number == number && request.isSigned && request.hasFingerprint, "seed \(seed)")
            let username = [UInt8](server.fragment.characters) + [UInt8(ascii: ":")] + [UInt8](client.characters)
            #expect(request.username == username)
            #expect(UserFragment(serverPartOf: username.span) == server.fragment)

            let success = try Reading(
                written { message throws(STUNError) in
                    try STUNBinding.success(
                        transaction, seenAt: address, cookie: nil, password: key.span, by: PlainHMAC(), into: &message)
                }, password: key)
            #expect(success.messageClass == .success && success.transaction == transaction && success.isSigned)
            #expect(success.mapped == address, "seed \(seed)")
        }
    }

    @Test("of any attributes is read as it was written", arguments: UInt64(1)...4)
    func anyAttributes(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        for _ in 0..<100 {
            var attributes: [(type: STUNAttribute, value: [UInt8])] = []
            for number in 0..<Int.random(in: 0...20, using: &random) {
                // Each type once, so that each is the first of its kind; some of them unknown and required.
                let type = UInt16(number) + (Bool.random(using: &random) ? 0x0100 : 0x9000)
                attributes.append((STUNAttribute(rawValue: type), random.bytes(Int.random(in: 0...40, using: &random))))
            }
            let transaction = random.transaction()
            let bytes = try written { message throws(STUNError) in
                var writer = try STUNWriter(.indication, transaction, into: &message)
                for attribute in attributes { try writer.append(attribute.type, attribute.value, to: &message) }
                try writer.sign(with: Self.key, in: &message)
                try writer.close(&message)
                return writer.byteCount
            }
            let reading = try Reading(bytes, password: Self.key)
            #expect(reading.messageClass == .indication && reading.isSigned, "seed \(seed)")
            for attribute in attributes {
                #expect(try value(of: attribute.type, in: bytes) == attribute.value, "seed \(seed)")
            }
            let required = attributes.filter(\.type.isComprehensionRequired).map(\.type.rawValue)
            #expect(reading.unknown == Array(required.prefix(4)), "seed \(seed)")
        }
    }

    @Test("that refuses says why", arguments: [STUNRefusal.badRequest, .unauthenticated])
    func refusals(refusal: STUNRefusal) throws {
        let bytes = try written { message throws(STUNError) in
            try STUNBinding.refusal(refusal, SampleMessages.transaction, into: &message)
        }
        let reading = try Reading(bytes, password: Self.key)
        #expect(reading.messageClass == .failure && reading.code == refusal.rawValue && !reading.isSigned)
        #expect(reading.transaction == SampleMessages.transaction && bytes.count == 36)
    }

    @Test("has a method beside its class")
    func methods() throws {
        // The bits of 0xFFF go around the class's two (RFC 8489 figure 3); shared secrets were method 2.
        for (type, method) in [(0x3EEF, 0xFFF), (0x0002, 2), (0x2000, 0x800), (0x0020, 0x010)] as [(Int, UInt16)] {
            for (bits, messageClass) in [
                (0, .request), (0x10, .indication), (0x100, .success), (0x110, .failure),
            ] as [(Int, STUNMessage.Class)] {
                var bytes = SampleMessages.request.prefix(20) + []
                (bytes[0], bytes[1]) = (UInt8((type | bits) >> 8), UInt8((type | bits) & 0xFF))
                let whole = Array(bytes).withLength()
                let message = try STUNMessage(whole.span)
                let (readMethod, readClass) = (message.method, message.messageClass)
                #expect(readMethod == method && readClass == messageClass)
            }
        }
    }

    @Test("hears nothing behind its signature but the checksum")
    func behindSignature() throws {
        let signed = try written { message throws(STUNError) in
            var writer = try STUNWriter(.request, SampleMessages.transaction, into: &message)
            try writer.append(.priority, [1, 2, 3, 4], to: &message)
            try writer.sign(with: Self.key, in: &message)
            return writer.byteCount
        }
        // USERNAME, USE-CANDIDATE, an unknown one that is required, a second signature, none of it signed.
        let more = [UInt8](hex: "00060004 61626364 00250000 01230000 00080003 00000000")
        let reading = try Reading((signed + more).withLength(), password: Self.key)
        #expect(reading.isSigned && reading.username == nil && reading.unknown.isEmpty && !reading.hasFingerprint)
        let message = (signed + more).withLength()
        #expect(try value(of: .useCandidate, in: message) == nil)
        #expect(try value(of: .priority, in: message) == [1, 2, 3, 4])
        // Nor behind the longer signature, which nobody here can check; so such a message is not signed.
        let other = (Array(signed.prefix(28)) + [UInt8](hex: "001c0004 00000000") + signed[28...]).withLength()
        #expect(try !Reading(other, password: Self.key).isSigned)
    }

    @Test("takes the first of two attributes of one type")
    func twice() throws {
        let bytes = try written { message throws(STUNError) in
            var writer = try STUNWriter(.request, SampleMessages.transaction, into: &message)
            try writer.append(.username, [1], to: &message)
            try writer.append(.username, [2], to: &message)
            return writer.byteCount
        }
        #expect(try Reading(bytes, password: []).username == [1])
    }

    @Test("of the wrong shape is refused, each with its reason")
    func shapes() {
        let good = SampleMessages.request
        func with(_ change: (inout [UInt8]) -> Void) -> [UInt8] {
            var bytes = good
            change(&bytes)
            return bytes
        }
        func header(_ attributes: String) -> [UInt8] {
            (Array(good.prefix(20)) + [UInt8](hex: attributes)).withLength()
        }
        let many = String(repeating: "80000000", count: STUNMessage.maximumAttributes)
        let cases: [([UInt8], STUNError)] = [
            ([], .truncated), (Array(good.prefix(19)), .truncated),
            ([UInt8](repeating: 0, count: 1_501), .tooLong),
            (with { $0[0] = 0x40 }, .otherProtocol), (with { $0[0] = 0x80 }, .otherProtocol),
            (with { $0[4] ^= 1 }, .otherProtocol), (with { $0[7] ^= 0x80 }, .otherProtocol),
            (with { $0[3] = 0x5A }, .lengthMismatch), (with { $0[3] = 0x54 }, .lengthMismatch),
            (good + [0], .lengthMismatch), (good + [0, 0, 0, 0], .lengthMismatch),
            (Array(good.dropLast(4)), .lengthMismatch),
            (header("80000001"), .truncated), (header("8000ffff"), .truncated),
            (header("80000005 00000000"), .truncated),
            (header("00080013 0000000000000000000000000000000000000000"), .malformed(.messageIntegrity)),
            (header("00080000"), .malformed(.messageIntegrity)),
            (header("80280003 00000000"), .malformed(.fingerprint)),
            (header("80280004 00000000"), .wrongFingerprint),
            (header("80280004 00000000 80000000"), .wrongFingerprint),
            (header(many + "80000000"), .tooLong),
        ]
        for (bytes, error) in cases {
            #expect(throws: error, "\(bytes.prefix(40))") { try Reading(bytes, password: []) }
        }
        #expect(throws: Never.self) { try Reading(header(many), password: []) }
        #expect(throws: Never.self) { try Reading(header(""), password: []) }
    }

    @Test("with an attribute behind a right checksum is refused")
    func behindFingerprint() throws {
        var bytes = try written { message throws(STUNError) in
            var writer = try STUNWriter(.request, SampleMessages.transaction, into: &message)
            // Counted by the checksum as if there were 4 bytes more.
            try writer.append(.priority, [1, 2, 3, 4], to: &message)
            return writer.byteCount
        }
        bytes = (bytes + [UInt8](hex: "80280004 00000000 80000000")).withLength()
        let checksum = STUNChecksum.fingerprint(of: bytes.span.extracting(first: 28))
        for index in 0..<4 { bytes[32 + index] = UInt8(truncatingIfNeeded: checksum >> (24 - 8 * UInt32(index))) }
        #expect(throws: STUNError.malformed(.fingerprint)) { try Reading(bytes, password: []) }
    }

    @Test("with a value of the wrong size has none")
    func values() throws {
        let code = "00090004 0000"
        let cases: [(String, Bool)] = [
            ("00200008 0001000000000000", true), ("00200008 0002000000000000", false),
            ("00200014 0001000000000000000000000000000000000000", false), ("00200003 00010000", false),
            ("00200000", false), (code + "0400", true), (code + "0663", true), (code + "0664", false),
            (code + "0200", false), (code + "0700", false), ("00090003 00000400", false),
            ("c7a00004 00000000", true), ("c7a00003 00000000", false),
        ]
        for (attribute, isThere) in cases {
            let bytes = (Array(SampleMessages.request.prefix(20)) + [UInt8](hex: attribute)).withLength()
            let reading = try Reading(bytes, password: [])
            #expect((reading.mapped != nil || reading.code != nil || reading.number != nil) == isThere, "\(attribute)")
        }
    }

    @Test(
        "random bytes, cut and changed messages are read or refused, and nothing is signed",
        arguments: cases(UInt64(1)...4))
    func hostile(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let samples = [try Self.request(&random), SampleMessages.request, SampleMessages.responseIPv6]
        let password = SampleMessages.password
        var accepted = 0
        for _ in 0..<25_000 {
            var bytes: [UInt8]
            if Bool.random(using: &random) {
                bytes = random.bytes(4 * Int.random(in: 5...40, using: &random))
                bytes[0] &= 0x3F
                bytes.replaceSubrange(4..<8, with: [0x21, 0x12, 0xA4, 0x42])
                // Short lengths, so that more than the first attribute is reached.
                for offset in stride(from: 20, to: bytes.count, by: 4) where offset + 2 < bytes.count {
                    (bytes[offset + 2], bytes[offset + 3]) = (0, bytes[offset + 3] & 0x1F)
                }
                bytes = bytes.withLength()
            } else {
                bytes = samples[Int.random(in: 0..<3, using: &random)]
                for _ in 0...Int.random(in: 0...3, using: &random) {
                    bytes[Int.random(in: bytes.indices, using: &random)] = UInt8(truncatingIfNeeded: random.next())
                }
                bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random) | 0x60))
                if samples.contains(bytes) { continue }
                if Bool.random(using: &random), bytes.count > 24 {
                    bytes = Array(bytes.prefix(bytes.count & ~3)).withLength()
                }
            }
            guard let message = try? STUNMessage(bytes.span) else { continue }
            accepted += 1
            // What is read lies in the datagram; a signature that is checked is never right.
            let length = message.username?.count ?? 0
            #expect(length <= bytes.count, "seed \(seed)")
            _ = (message.mappedAddress, message.errorCode, message.requestNumber)
            if accepted % 500 == 0 {
                // But one whose signed part is unchanged: its checksum may be gone.
                let isSigned = message.isSigned(with: password.span, by: PlainHMAC())
                let signed = bytes.prefix((message.integrityOffset ?? 0) + 24).dropFirst(4)
                let isGenuine = samples.contains { $0.dropFirst(4).starts(with: signed) }
                #expect(!isSigned || isGenuine, "seed \(seed)")
            }
        }
        // Then the property was not proved by refusing everything.
        #expect(accepted > 1_000, "seed \(seed): \(accepted)")
    }
}

@Suite("A STUN writer")
struct STUNWriterTests {
    @Test("takes no buffer that is too small, and says how much it needs")
    func space() throws {
        for size in 0..<100 {
            var bytes = [UInt8](repeating: 0, count: size)
            var span = bytes.mutableSpan
            let server = STUNCredentials(
                fragment: UserFragment(high: 1, low: 2), password: STUNPassword(high: 3, low: 4))
            do throws(STUNError) {
                _ = try STUNBinding.request(
                    SampleMessages.transaction, number: 1, to: server, from: UserFragment(high: 5, low: 6),
                    cookie: InlineArray(repeating: 7), by: PlainHMAC(), into: &span)
                Issue.record("\(size) bytes are not enough")
            } catch {
                guard case .insufficientSpace(let needed) = error else {
                    Issue.record("\(error)")
                    continue
                }
                #expect(size < needed && needed <= 120)
            }
        }
    }

    @Test("adds nothing behind signature and checksum, nor what is too long")
    func order() throws {
        var bytes = [UInt8](repeating: 0, count: 70_000)
        var span = bytes.mutableSpan
        var writer = try STUNWriter(.request, SampleMessages.transaction, into: &span)
        func failure(
            _ writer: inout STUNWriter, _ message: inout MutableSpan<UInt8>,
            _ step: (inout STUNWriter, inout MutableSpan<UInt8>) throws(STUNError) -> Void
        ) -> STUNError? {
            do throws(STUNError) { try step(&writer, &message) } catch { return error }
            return nil
        }
        let long = [UInt8](repeating: 0, count: 65_536)
        for count in [1_477, 65_536] {
            let tooLong = failure(&writer, &span) { (writer, message) throws(STUNError) in
                try writer.append(.software, Array(long.prefix(count)), to: &message)
            }
            #expect(tooLong == .unrepresentable(.software))
        }
        let byHand = failure(&writer, &span) { (writer, message) throws(STUNError) in
            try writer.append(.messageIntegrity, Array(long.prefix(20)), to: &message)
        }
        #expect(byHand == .unrepresentable(.messageIntegrity))
        let unsigned = failure(&writer, &span) { (writer, message) throws(STUNError) in
            try writer.sign(with: [1].span, by: NoHMAC(), in: &message)
        }
        #expect(unsigned == .integrityUnavailable && writer.byteCount == 20)

        try writer.sign(with: [1], in: &span)
        let behind = failure(&writer, &span) { (writer, message) throws(STUNError) in
            try writer.append(.priority, [1], to: &message)
        }
        #expect(behind == .unrepresentable(.priority))
        let again = failure(&writer, &span) { (writer, message) throws(STUNError) in
            try writer.sign(with: [1], in: &message)
        }
        #expect(again == .unrepresentable(.messageIntegrity))
        try writer.close(&span)
        let closedAgain = failure(&writer, &span) { (writer, message) throws(STUNError) in try writer.close(&message) }
        #expect(closedAgain == .unrepresentable(.fingerprint))
        #expect(writer.byteCount == 52)
    }
}
