// modules: VoiceQueue VoiceWire VoicePeers
//
// Any bytes as the first datagram of a DTLS client, as a server's question for a cookie, and as records. Nothing may
// trap, what was read must lie in the datagram, only the cookie of the address admits, and the question for it is
// shorter than what was asked.

@testable import VoicePeers

/// Reading a datagram as records and as a hello, and answering it.
private let reading = Budget("a hello", limit: 5_000)

private let cookie = AddressCookie(
    of: EndpointAddress(high: 1, low: 2, port: 3), key: CookieKey(high: 4, low: 5), now: .zero)

private var cookieBytes: [UInt8] {
    let bytes = cookie.bytes
    return bytes.indices.map { bytes[$0] }
}

/// libFuzzer's entry: one input, always answered 0; a precondition that fails is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes = unsafe bytes, count > 0 else { return 0 }
    let datagram = unsafe Span(_unsafeStart: bytes, count: count)
    reading.spend {
        walk(datagram)
        greet(datagram)
        if let question = HelloVerifyRequest(in: datagram) {
            precondition(!question.cookie.isEmpty && question.cookie.upperBound <= datagram.count)
        }
    }
    return 0
}

private func walk(_ datagram: Span<UInt8>) {
    var offset = 0
    while let record = DTLSRecord(in: datagram, at: offset) {
        precondition(record.payload.lowerBound == offset + DTLSRecord.headerSize && !record.payload.isEmpty)
        precondition(record.payload.upperBound <= datagram.count && record.sequenceNumber < 1 << 48)
        offset = record.payload.upperBound
    }
}

private func greet(_ datagram: Span<UInt8>) {
    guard let hello = ClientHello(in: datagram) else { return }
    precondition(hello.random.count == 32 && hello.random.upperBound <= hello.cookie.lowerBound)
    precondition(hello.cookie.upperBound < datagram.count && hello.messageNumber <= 1)
    if hello.isAdmitted(in: datagram, by: cookie) {
        let given = datagram.extracting(hello.cookie)
        precondition(given.indices.allSatisfy { given[$0] == cookieBytes[$0] } && given.count == AddressCookie.size)
    }
    var answer = [UInt8](repeating: 0, count: 128)
    var room = answer.mutableSpan
    guard let count = hello.ask(for: cookie, into: &room) else { fatalError("no question") }
    precondition(count == ClientHello.questionSize && count < datagram.count)
    precondition(answer[3...10].elementsEqual((3...10).map { datagram[$0] }))
}

func makeSeeds() -> [[UInt8]] {
    func hello(_ number: UInt8, session: [UInt8], cookie: [UInt8], extensions: [UInt8]) -> [UInt8] {
        let body =
            [0xFE, 0xFD] + [UInt8](repeating: 7, count: 32) + [UInt8(session.count)] + session + [UInt8(cookie.count)]
            + cookie + [0, 4, 0xC0, 0x2B, 0xC0, 0x2F, 1, 0] + extensions
        let count = [0, 0, UInt8(body.count)]
        let message = [1] + count + [0, number, 0, 0, 0] + count + body
        return [22, 0xFE, 0xFF, 0, 0, 0, 0, 0, 0, 0, number, 0, UInt8(message.count)] + message
    }
    let extensions: [UInt8] = [0, 9, 0, 14, 0, 5, 0, 2, 0, 7, 0]
    let alert: [UInt8] = [21, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 2, 40]
    let header: [UInt8] = [22, 0xFE, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 31, 3, 0, 0, 19, 0, 0, 0, 0, 0, 0, 0, 19]
    let question = header + [0xFE, 0xFF, 16] + cookieBytes
    return [
        question, hello(0, session: [], cookie: [], extensions: extensions),
        hello(0, session: [1, 2], cookie: [], extensions: []),
        hello(1, session: [], cookie: cookieBytes, extensions: extensions),
        hello(1, session: [], cookie: [UInt8](repeating: 1, count: 20), extensions: extensions) + alert, alert + alert,
    ]
}
