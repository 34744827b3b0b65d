import Testing

@testable import VoicePeers

/// A hello as a client writes it, each field of which a test may spoil.
private struct Hello {
    var content: UInt8 = 22
    var recordVersion: [UInt8] = [0xFE, 0xFF]
    var epoch: [UInt8] = [0, 0]
    var recordNumber: [UInt8] = [1, 2, 3, 4, 5, 6]
    var message: UInt8 = 1
    var messageNumber: [UInt8] = [0, 0]
    var fragmentOffset: [UInt8] = [0, 0, 0]
    var fragmentLength: Int?
    var messageLength: Int?
    var recordLength: Int?
    var version: [UInt8] = [0xFE, 0xFD]
    var session: [UInt8] = []
    var cookie: [UInt8] = []
    var suites: [UInt8] = [0xC0, 0x2B]
    var compressions: [UInt8] = [0]
    var extensions: [UInt8]? = [0, 5, 0, 14, 0, 1, 9]
    var rest: [UInt8] = []

    var bytes: [UInt8] {
        var body = version + [UInt8](repeating: 0xAB, count: 32)
        body += [UInt8(session.count)] + session + [UInt8(cookie.count)] + cookie
        body += [UInt8(suites.count >> 8), UInt8(suites.count & 255)] + suites
        body += [UInt8(compressions.count)] + compressions + (extensions ?? [])
        func length(_ count: Int) -> [UInt8] {
            [UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255)]
        }
        let handshake =
            [message] + length(messageLength ?? body.count) + messageNumber + fragmentOffset
            + length(fragmentLength ?? body.count) + body
        return [content] + recordVersion + epoch + recordNumber + length(recordLength ?? handshake.count)[1...]
            + handshake + rest
    }
}

@Suite("A client's hello")
struct ClientHelloTests {
    private let cookie = AddressCookie(
        of: EndpointAddress(high: 1, low: 2, port: 3), key: CookieKey(high: 4, low: 5), now: .zero)

    private var cookieBytes: [UInt8] { cookie.bytes.indices.map { cookie.bytes[$0] } }

    private func hello(_ bytes: [UInt8]) -> ClientHello? { ClientHello(in: bytes.span) }

    private func answer(to bytes: [UInt8]) -> [UInt8]? {
        guard let hello = hello(bytes) else { return nil }
        var answer = [UInt8](repeating: 0xEE, count: 128)
        var room = answer.mutableSpan
        return hello.ask(for: cookie, into: &room).map { Array(answer[..<$0]) }
    }

    @Test("without a cookie it is asked for one, by less than it has sent")
    func question() throws {
        // HelloVerifyRequest: RFC 6347 sections 4.1 and 4.2.1; the number of the record is that of the hello's.
        let expected: [UInt8] =
            [22, 0xFE, 0xFF, 0, 0, 1, 2, 3, 4, 5, 6, 0, 31] + [3, 0, 0, 19, 0, 0, 0, 0, 0, 0, 0, 19]
            + [0xFE, 0xFF, 16] + cookieBytes
        var shortest = Hello()
        shortest.extensions = nil
        for hello in [Hello(), shortest] {
            #expect(answer(to: hello.bytes) == expected)
            #expect(expected.count < hello.bytes.count)
        }
        var small = [UInt8](repeating: 0, count: ClientHello.questionSize - 1)
        var room = small.mutableSpan
        #expect(hello(Hello().bytes)?.ask(for: cookie, into: &room) == nil)
    }

    @Test("with the cookie of its address it is admitted, and with no other")
    func admission() throws {
        func isAdmitted(_ hello: Hello) throws -> Bool {
            let read = try #require(self.hello(hello.bytes))
            return read.isAdmitted(in: hello.bytes.span, by: cookie)
        }
        var hello = Hello()
        hello.messageNumber = [0, 1]
        hello.session = [1, 2, 3]
        #expect(try !isAdmitted(hello))
        hello.cookie = cookieBytes
        #expect(try isAdmitted(hello))
        hello.cookie[7] ^= 1
        #expect(try !isAdmitted(hello))
        hello.cookie = cookieBytes + [0]
        #expect(try !isAdmitted(hello))
        // OpenSSL goes on only with the second message of a client.
        hello.cookie = cookieBytes
        hello.messageNumber = [0, 0]
        #expect(try !isAdmitted(hello))
    }

    @Test("what OpenSSL would not go on with is none")
    func refused() {
        let changes: [(String, (inout Hello) -> Void)] = [
            ("another content", { $0.content = 23 }), ("an alert", { $0.content = 21 }),
            ("TLS", { $0.recordVersion = [3, 3] }), ("a protected record", { $0.epoch = [0, 1] }),
            ("another message", { $0.message = 2 }), ("a third hello", { $0.messageNumber = [0, 2] }),
            ("a later fragment", { $0.fragmentOffset = [0, 0, 1] }), ("a first fragment", { $0.messageLength = 4000 }),
            ("a longer fragment", { $0.fragmentLength = 1000 }), ("an empty fragment", { $0.fragmentLength = 0 }),
            ("a longer record", { $0.recordLength = 2000 }), ("a shorter record", { $0.recordLength = 40 }),
            ("an empty record", { $0.recordLength = 0 }), ("DTLS 1.0", { $0.version = [0xFE, 0xFF] }),
            ("TLS 1.2", { $0.version = [3, 3] }), ("a long session", { $0.session = [UInt8](repeating: 1, count: 33) }),
            ("no suites", { $0.suites = [] }), ("half a suite", { $0.suites = [1, 2, 3] }),
            ("no compression", { $0.compressions = [] }), ("a byte behind", { $0.extensions = [0] }),
            ("long extensions", { $0.extensions = [0, 9, 1, 2] }),
            ("short extensions", { $0.extensions = [0, 1, 1, 2] }),
        ]
        for (name, change) in changes {
            var hello = Hello()
            change(&hello)
            #expect(self.hello(hello.bytes) == nil, "\(name)")
        }
        // A second record in the datagram is nobody's business yet.
        var two = Hello()
        two.rest = [1, 2, 3]
        #expect(hello(two.bytes) != nil)
    }

    @Test("no prefix of it is one, and no length leads out of it")
    func hostile() {
        var hello = Hello()
        hello.session = [UInt8](repeating: 7, count: 32)
        hello.cookie = cookieBytes
        hello.messageNumber = [0, 1]
        let bytes = hello.bytes
        for count in bytes.indices { #expect(self.hello(Array(bytes[..<count])) == nil) }
        // Every byte with every value: nothing traps, and every answer is shorter than its question.
        var readable = 0
        for index in bytes.indices {
            for value in UInt8.min...UInt8.max {
                var changed = bytes
                changed[index] = value
                guard let answer = answer(to: changed) else { continue }
                readable += 1
                #expect(answer.count < changed.count)
            }
        }
        #expect(readable > 10_000)
    }
}

@Suite("A DTLS record's header")
struct DTLSRecordTests {
    @Test("tells what is in a datagram, one behind the other")
    func walk() throws {
        func record(_ bytes: [UInt8], at offset: Int = 0) -> DTLSRecord? { DTLSRecord(in: bytes.span, at: offset) }
        let first: [UInt8] = [20, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 5, 0, 1, 1]
        let second: [UInt8] = [23, 0xFE, 0xFD, 0, 1, 1, 0, 0, 0, 0, 0, 0, 2, 8, 9]
        let datagram = first + second
        let one = try #require(record(datagram))
        #expect(one.content == .changeCipherSpec && one.epoch == 0 && one.sequenceNumber == 5 && one.payload == 13..<14)
        let two = try #require(record(datagram, at: one.payload.upperBound))
        #expect(two.content == .applicationData && two.epoch == 1 && two.sequenceNumber == 1 << 40)
        #expect(two.payload == 27..<29)
        #expect(record(datagram, at: 29) == nil)
        #expect(record(datagram, at: 1000) == nil)
        for count in 0..<14 { #expect(record(Array(first[..<count])) == nil) }
    }
}
