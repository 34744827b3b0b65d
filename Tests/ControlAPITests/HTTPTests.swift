import Foundation
import Testing
import VoiceDialog

@testable import ControlAPI

/// A connection that takes every request, and what comes out of it.
struct Exchange {
    var connection = HTTPConnection(now: .zero, admit: { _ in .accept(bodyLimit: 1_000) }) {
        ControlError($0).response
    }
    var requests: [HTTPRequest] = []
    var sent = ""
    var messages: [String] = []
    var isOver = false

    init() {}

    mutating func take(_ text: String, now: Duration = .zero, answers: Bool = true) {
        take(Array(text.utf8), now: now, answers: answers)
    }

    mutating func take(_ bytes: [UInt8], now: Duration = .zero, answers: Bool = true) {
        _ = connection.receive(bytes, now: now)
        poll(now: now, answers: answers)
    }

    /// - Parameter takes: what is sent leaves at once.
    mutating func poll(now: Duration = .zero, answers: Bool = true, takes: Bool = true) {
        while let output = connection.pollOutput() {
            switch output {
            case .send(let bytes):
                sent += String(decoding: bytes, as: UTF8.self)
                if takes { connection.handleSent(now: now) }
            case .request(let request):
                requests.append(request)
                if answers { connection.respond(HTTPResponse(200, ["ok": true])) }
            case .message(let bytes): messages.append(String(decoding: bytes, as: UTF8.self))
            case .end: isOver = true
            }
        }
    }
}

@Suite("HTTP, from bytes to requests")
struct HTTPTests {
    private static let get = "GET /a/b?x=1&y HTTP/1.1\r\nHost: localhost:1\r\nX-Two: a\r\nx-two:  b \r\n\r\n"

    @Test("Given a request in pieces of any length, then it is the same request")
    func pieces() {
        let post =
            "POST /p HTTP/1.1\r\nHost: h\r\nContent-Type: Application/JSON; charset=utf-8\r\nContent-Length: 5\r\n\r\nhello"
        let bytes = Array((Self.get + post + Self.get).utf8)
        for length in [1, 2, 3, 7, 50, 1_000] {
            var exchange = Exchange()
            for start in stride(from: 0, to: bytes.count, by: length) {
                exchange.take(Array(bytes[start..<min(start + length, bytes.count)]))
            }
            #expect(exchange.requests.map(\.head.method) == ["GET", "POST", "GET"], "pieces of \(length)")
            #expect(exchange.requests.first?.head.query == ["x": "1", "y": ""])
            #expect(exchange.requests.first?.head.headers["x-two"] == "a, b")
            #expect(exchange.requests[1].body == Array("hello".utf8))
            #expect(exchange.requests[1].head.mediaType == "application/json")
            #expect(!exchange.isOver)
        }
    }

    @Test("Given requests behind each other, then the second waits for the answer to the first")
    func pipelined() {
        var exchange = Exchange()
        exchange.take(Self.get + Self.get, answers: false)
        #expect(exchange.requests.count == 1 && !exchange.connection.wantsInput)
        exchange.connection.respond(HTTPResponse(204))
        exchange.poll(answers: false, takes: false)
        #expect(exchange.requests.count == 1 && !exchange.connection.wantsInput, "the answer has not left")
        exchange.connection.handleSent(now: .zero)
        exchange.poll(answers: false)
        #expect(exchange.requests.count == 2)
    }

    @Test("Given requests without a key behind each other, then who takes no refusal has one and no more")
    func refusals() {
        var exchange = Exchange()
        exchange.connection = HTTPConnection(now: .zero, admit: { _ in .refuse(ControlError.unauthorised.response) }) {
            ControlError($0).response
        }
        _ = exchange.connection.receive(Array(String(repeating: Self.get, count: 300).utf8), now: .zero)
        exchange.poll(takes: false)
        #expect(exchange.sent.components(separatedBy: "HTTP/1.1 401 ").count == 2 && !exchange.connection.wantsInput)
        exchange.connection.handleSent(now: .zero)
        exchange.poll()
        #expect(exchange.sent.components(separatedBy: "HTTP/1.1 401 ").count == 301 && !exchange.isOver)
    }

    @Test(
        "Given what is no request of ours, then it is answered by its status, and the connection ends",
        arguments: [
            ("nonsense\r\n\r\n", 400), ("GET / HTTP/1.1\r\n\r\n", 400), ("GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
            ("GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505), ("GET http://h/ HTTP/1.1\r\nHost: h\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost : h\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: h\r\n folded\r\n\r\n", 400), ("GET / HTTP/1.1\nHost: h\r\n\r\n", 400),
            ("GET /\0 HTTP/1.1\r\nHost: h\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: h\r\nA: b\u{1}\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 1\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9999999999999\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n", 413),
            ("GET / HTTP/1.1\r\nHost: h\r\nExpect: tea\r\n\r\n", 417), ("GET /?a&a HTTP/1.1\r\nHost: h\r\n\r\n", 400),
            ("GET /" + String(repeating: "a", count: 2_048) + " HTTP/1.1\r\nHost: h\r\n\r\n", 414),
            ("GET / HTTP/1.1\r\nHost: h\r\nA: " + String(repeating: "a", count: 20_000), 431),
            ("GET / HTTP/1.1\r\nHost: h\r\n" + String(repeating: "A: b\r\n", count: 64) + "\r\n", 431),
        ])
    func faults(text: String, status: Int) {
        var exchange = Exchange()
        exchange.take(text)
        #expect(exchange.sent.hasPrefix("HTTP/1.1 \(status) "), "\(exchange.sent.prefix(60))")
        #expect(exchange.sent.contains("\"error\"") && exchange.isOver && exchange.requests.isEmpty)
        let code = [413, 414, 431].contains(status) ? "control.tooLarge" : "control.malformed"
        #expect(exchange.sent.contains("\"\(code)\""), "\(exchange.sent)")
    }

    @Test("Given random bytes and requests that were changed, then nothing traps, and memory is bounded")
    func random() {
        var understood = 0
        for seed in 0..<2_000 as Range<UInt64> {
            var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
            func next(_ limit: Int) -> Int {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                return Int(state % UInt64(limit))
            }
            var bytes = Array(
                "POST /p?a=b HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\nHost: h\r\n\r\n"
                    .utf8)
            for _ in 0..<next(6) { bytes[next(bytes.count)] = UInt8(next(256)) }
            var exchange = Exchange()
            var start = 0
            while start < bytes.count {
                let end = min(bytes.count, start + 1 + next(40))
                exchange.take(Array(bytes[start..<end]))
                start = end
            }
            for request in exchange.requests { #expect(request.body.count <= 1_000, "seed \(seed)") }
            understood += exchange.requests.count
        }
        // Enough of them are still requests for the bound to be asked
        #expect(understood > 1_000, "\(understood)")
    }

    @Test("Given a slow client, then each part of a request has its time")
    func slow() {
        var silent = Exchange()
        silent.connection.handleTimeout(now: HTTPConnection.headTime)
        silent.poll()
        #expect(silent.isOver && silent.sent.isEmpty)
        var dripping = Exchange()
        for second in 0..<10 { dripping.take("G", now: .seconds(second)) }
        dripping.connection.handleTimeout(now: .seconds(10))
        dripping.poll()
        #expect(dripping.isOver && dripping.sent.hasPrefix("HTTP/1.1 408 "))
        #expect(dripping.sent.contains("\"control.timeout\""))
        var idle = Exchange()
        idle.take(Self.get)
        idle.connection.handleTimeout(now: HTTPConnection.idleTime - .seconds(1))
        #expect(!idle.isOver)
        idle.connection.handleTimeout(now: HTTPConnection.idleTime)
        idle.poll()
        #expect(idle.isOver)
    }

    @Test("Given a body that is awaited, then 100-continue is answered, and what nobody admits is refused before it")
    func admission() {
        var exchange = Exchange()
        let head = "POST /p HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
        exchange.take(head)
        #expect(exchange.sent == "HTTP/1.1 100 Continue\r\n\r\n")
        exchange.take("ok")
        #expect(exchange.requests.count == 1)
        var refused = Exchange()
        refused.connection = HTTPConnection(now: .zero, admit: { _ in .refuse(ControlError.unauthorised.response) }) {
            ControlError($0).response
        }
        refused.take(head)
        #expect(refused.sent.hasPrefix("HTTP/1.1 401 ") && refused.isOver && refused.requests.isEmpty)
    }

    @Test("Given HEAD, which no path takes, then the answer has no body, and the connection goes on")
    func head() {
        var exchange = Exchange()
        exchange.connection = HTTPConnection(now: .zero) { head in
            head.method == "GET" ? .accept(bodyLimit: 0) : .refuse(ControlError.notFound.response)
        } fault: {
            ControlError($0).response
        }
        exchange.take("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(exchange.sent.hasPrefix("HTTP/1.1 404 ") && exchange.sent.hasSuffix("\r\n\r\n"), "\(exchange.sent)")
        #expect(!exchange.isOver)
        exchange.take(Self.get)
        #expect(exchange.requests.count == 1)
    }
}

@Suite("WebSockets, of a server")
struct WebSocketFrameTests {
    /// A frame as clients send it.
    private static func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let mask: [UInt8] = [1, 2, 3, 4]
        let length: [UInt8] =
            payload.count < 126
            ? [0x80 | UInt8(payload.count)]
            : [0x80 | 127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
        return [first] + length + mask + payload.indices.map { payload[$0] ^ mask[$0 & 3] }
    }

    private static func opened() -> Exchange {
        var exchange = Exchange()
        exchange.take(
            "GET /e HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", answers: false)
        #expect(exchange.requests.first?.head.webSocketKey == "dGhlIHNhbXBsZSBub25jZQ==")
        exchange.connection.upgrade(accept: "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", now: .zero)
        exchange.poll()
        #expect(exchange.sent.hasPrefix("HTTP/1.1 101 "))
        exchange.sent = ""
        return exchange
    }

    @Test("Given messages in fragments and pieces with control frames between, then they come whole and in order")
    func messages() {
        let long = [UInt8](repeating: 65, count: 60_000)
        let bytes =
            Self.frame(0x81, Array("one".utf8)) + Self.frame(0x01, Array("tw".utf8)) + Self.frame(0x89, [7])
            + Self.frame(0x80, Array("o".utf8)) + Self.frame(0x81, long)
        for length in [1, 5, 30_000] {
            var exchange = Self.opened()
            for start in stride(from: 0, to: bytes.count, by: length) {
                exchange.take(Array(bytes[start..<min(bytes.count, start + length)]))
            }
            #expect(exchange.messages == ["one", "two", String(decoding: long, as: UTF8.self)])
            #expect(exchange.sent == "\u{8A}".utf8Text([0x8A, 1, 7]))
        }
    }

    @Test(
        "Given what no client may send, then the connection is closed by its status",
        arguments: [
            ([0x81, 0x01, 0x41], 1_002), (frame(0xC1, [65]), 1_002), (frame(0x83, []), 1_002),
            (frame(0x09, []), 1_002), (frame(0x80, []), 1_002), (frame(0x82, [1]), 1_003),
            (frame(0x81, [0xFF]), 1_007), ([0x81, 0xFF, 0, 0, 0, 0, 1, 0, 0, 0], 1_009),
            (frame(0x01, []) + frame(0x81, []), 1_002), (frame(0x88, []), 1_000),
        ] as [([UInt8], Int)])
    func faults(bytes: [UInt8], status: Int) {
        var exchange = Self.opened()
        _ = exchange.connection.receive(bytes, now: .zero)
        let close = WebSocketFrame.encodedClose(UInt16(status))
        #expect(exchange.connection.pollOutput() == .send(close) && exchange.connection.pollOutput() == .end)
    }

    @Test("Given a client that does not answer, then it is asked once, and then given up")
    func silent() {
        var exchange = Self.opened()
        exchange.connection.handleTimeout(now: .seconds(20))
        #expect(exchange.connection.pollOutput() == .send([0x89, 0]))
        exchange.connection.handleTimeout(now: .seconds(39))
        #expect(exchange.connection.pollOutput() == nil)
        exchange.connection.handleTimeout(now: .seconds(40))
        #expect(exchange.connection.pollOutput() == .end)
    }
}

extension String {
    /// These bytes, as an exchange notes them.
    fileprivate func utf8Text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
