import Testing

@testable import VoicePeers

@Suite("A server's question for a cookie")
struct HelloVerifyRequestTests {
    /// With a cookie of four bytes, in one record of its own (RFC 6347 sections 4.1, 4.2.1 and 4.2.2).
    private let question: [UInt8] =
        [22, 0xFE, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 19] + [3, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 7]
        + [0xFE, 0xFF, 4, 1, 2, 3, 4]

    private func cookie(in bytes: [UInt8]) -> [UInt8]? {
        HelloVerifyRequest(in: bytes.span).map { Array(bytes[$0.cookie]) }
    }

    @Test("tells its cookie, whatever comes behind it")
    func read() {
        #expect(cookie(in: question) == [1, 2, 3, 4])
        #expect(cookie(in: question + [9, 9, 9]) == [1, 2, 3, 4])
    }

    @Test("is whole, in the clear, and nothing else is one")
    func refused() {
        for count in question.indices { #expect(cookie(in: Array(question[..<count])) == nil) }
        let changes: [(name: String, index: Int, value: UInt8)] = [
            ("an alert", 0, 21), ("a protected record", 4, 1), ("another message", 13, 2), ("a longer message", 16, 8),
            ("a later fragment", 21, 1), ("a first fragment", 24, 6), ("a longer cookie", 27, 5),
            ("a shorter cookie", 27, 3), ("no cookie", 27, 0),
        ]
        for change in changes {
            var bytes = question
            bytes[change.index] = change.value
            #expect(cookie(in: bytes) == nil, "\(change.name)")
        }
    }

    @Test("no byte of it leads out of the datagram")
    func hostile() {
        var read = 0
        for index in question.indices {
            for value in UInt8.min...UInt8.max {
                var bytes = question
                bytes[index] = value
                guard let cookie = cookie(in: bytes) else { continue }
                read += 1
                #expect(cookie.count == 4)
            }
        }
        // Each byte has its own value among them
        #expect(read >= question.count)
    }
}
