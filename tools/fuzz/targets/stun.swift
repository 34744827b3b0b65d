// modules: VoiceQueue VoiceWire VoicePeers
//
// Any bytes as a STUN message, to a reader, a server's end of a path and a client's. Nothing may trap, what was read
// must lie in the datagram, nothing that was not signed may move a peer or count as an answer, and no answer is longer
// than its request.

@testable import VoicePeers

/// Reading and answering one datagram, with the tests' sum in the place of a hash.
private let reading = Budget("a message", limit: 20_000)

private let home = EndpointAddress(high: 0, low: 0xFFFF_0A00_0001, port: 5_000)
private let elsewhere = EndpointAddress(high: 1, low: 2, port: 6_000)
private let password = STUNPassword(high: 3, low: 4)
private let transaction = STUNTransaction(high: 5, low: 6)
private let server = STUNCredentials(fragment: UserFragment(high: 7, low: 8), password: password)

/// Not the real one, which is a library's: 64 bits of a sum that the fuzzer does not guess.
private struct Sum: STUNIntegrity {
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

/// libFuzzer's entry: one input, always answered 0; a precondition that fails is a finding. The first byte says what to
/// do with the others.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes = unsafe bytes, count > 0 else { return 0 }
    let input = unsafe Span(_unsafeStart: bytes, count: count)
    var datagram = (1..<count).map { input[$0] }
    let isOurs = input[0] & 1 == 1
    // So that more than the checksum and the signature is reached, they are made right.
    if isOurs { sign(&datagram, closing: input[0] & 2 == 2) }
    reading.spend {
        readAll(datagram)
        serve(datagram, isSigned: isOurs)
        hear(datagram, isSigned: isOurs)
    }
    return 0
}

/// Puts a signature behind what is there, and a checksum behind that.
private func sign(_ datagram: inout [UInt8], closing: Bool) {
    guard datagram.count >= 20, datagram.count <= 1_460 else { return }
    datagram = Array(datagram.prefix(datagram.count & ~3))
    let start = datagram.count
    func append(_ bytes: [UInt8]) {
        datagram += bytes
        (datagram[2], datagram[3]) = (UInt8((datagram.count - 20) >> 8), UInt8((datagram.count - 20) & 0xFF))
    }
    append([0, 8, 0, 20] + [UInt8](repeating: 0, count: 20))
    let key = password.characters
    guard let signature = STUNSignature.compute(datagram.span.extracting(first: start), key: key.span, by: Sum()) else {
        fatalError("no signature")
    }
    for index in signature.indices { datagram[start + 4 + index] = signature[index] }
    guard closing else { return }
    append([0x80, 0x28, 0, 4, 0, 0, 0, 0])
    let checksum = STUNChecksum.fingerprint(of: datagram.span.extracting(first: datagram.count - 8))
    for index in 0..<4 {
        datagram[datagram.count - 4 + index] = UInt8(truncatingIfNeeded: checksum >> (24 - 8 * UInt32(index)))
    }
}

private func readAll(_ datagram: [UInt8]) {
    guard let message = try? STUNMessage(datagram.span) else { return }
    precondition(datagram.count & 3 == 0 && datagram.count <= STUNMessage.maximumSize)
    let known: [STUNAttribute] = [
        .username, .priority, .useCandidate, .software, .fingerprint, .messageIntegrity,
        STUNAttribute(rawValue: 0x8029),
    ]
    for attribute in known {
        guard let value = message.value(of: attribute) else { continue }
        precondition(value.count <= datagram.count - 24)
        // Neither is told as an attribute's value: they are checked, not read.
        precondition(attribute != .fingerprint && attribute != .messageIntegrity)
    }
    if let username = message.username { _ = UserFragment(serverPartOf: username) }
    if let code = message.errorCode { precondition(300...699 ~= code) }
    if let address = message.mappedAddress { checkAddress(address, message.transaction) }
}

/// An address that was read is written so that it is read the same.
private func checkAddress(_ address: EndpointAddress, _ transaction: STUNTransaction) {
    var bytes = [UInt8](repeating: 0, count: 20)
    var span = bytes.mutableSpan
    address.writeXORMapped(into: &span, at: 0, transaction: transaction)
    let value = span.span.extracting(first: address.xorMappedSize)
    precondition(EndpointAddress(xorMapped: value, transaction: transaction) == address)
}

private func serve(_ datagram: [UInt8], isSigned: Bool) {
    guard let message = try? STUNMessage(datagram.span) else { return }
    var server = ConsentServer(password: password, at: home)
    let cookie = AddressCookie(of: elsewhere, key: CookieKey(high: 1, low: 2), now: .seconds(1))
    let verdict = server.handle(message, from: elsewhere, cookie: cookie, by: Sum())
    precondition(isSigned || !verdict.isAnswered)
    precondition((server.address == elsewhere) == (verdict == .moved(from: home)))
    guard verdict.isAnswered else { return }
    var answer = [UInt8](repeating: 0, count: 1_500)
    var span = answer.mutableSpan
    guard let count = server.answer(message, from: elsewhere, askingFor: cookie, by: Sum(), into: &span) else { return }
    precondition(count <= datagram.count)
    let written = span.span.extracting(first: count)
    guard let reply = try? STUNMessage(written) else { fatalError("what was answered cannot be read") }
    precondition(reply.transaction == message.transaction)
    // The same again is of no effect.
    precondition(
        server.handle(message, from: home, cookie: cookie, by: Sum()) != .moved(from: elsewhere))
}

private func hear(_ datagram: [UInt8], isSigned: Bool) {
    guard let message = try? STUNMessage(datagram.span) else { return }
    var client = ConsentClient(to: server, from: UserFragment(high: 9, low: 10), now: .zero)
    var request = [UInt8](repeating: 0, count: 200)
    var span = request.mutableSpan
    let entropy = ConsentEntropy(transaction: transaction, spread: 0)
    guard client.request(entropy, now: .zero, by: Sum(), into: &span) != nil else { fatalError("no request") }
    let answer = client.handle(message, now: .seconds(1), by: Sum())
    precondition(isSigned || answer == .ignored)
    precondition(answer == .ignored || message.transaction == transaction)
}

func makeSeeds() -> [[UInt8]] {
    func made(_ write: (inout MutableSpan<UInt8>) throws(STUNError) -> Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 1_500)
        var span = bytes.mutableSpan
        guard let count = try? write(&span) else { fatalError("no seed") }
        return Array(bytes.prefix(count))
    }
    // Signed with another password: nothing of the input's own may be genuine.
    let other = STUNCredentials(fragment: server.fragment, password: STUNPassword(high: 11, low: 12))
    let key = other.password.characters
    var whole: [[UInt8]] = []
    whole.append(
        made { message throws(STUNError) in
            try STUNBinding.request(
                transaction, number: 1, to: other, from: UserFragment(high: 9, low: 10),
                cookie: InlineArray(repeating: 7), by: Sum(), into: &message)
        })
    for address in [home, elsewhere] {
        whole.append(
            made { message throws(STUNError) in
                try STUNBinding.success(
                    transaction, seenAt: address, cookie: nil, password: key.span, by: Sum(), into: &message)
            })
    }
    var unknown = UnknownAttributes()
    unknown.insert(STUNAttribute(rawValue: 0x0123))
    whole.append(
        made { message throws(STUNError) in
            try STUNBinding.refusal(of: unknown, transaction, password: key.span, by: Sum(), into: &message)
        })
    whole.append(
        made { message throws(STUNError) in
            try STUNBinding.refusal(.badRequest, transaction, into: &message)
        })
    // Whole, and without what is put behind them.
    return whole.map { [0] + $0 } + whole.flatMap { [[1] + $0.dropLast(32), [3] + $0.dropLast(32)] }
        + [[0, 0, 1, 0, 0, 0x21, 0x12, 0xA4, 0x42] + [UInt8](repeating: 0, count: 12)]
}
