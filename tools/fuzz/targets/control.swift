// modules: VoiceQueue VoiceDialog ControlAPI
// length: 6000
//
// Any bytes as what a client of the control API sends, in pieces of any length, and requests with some bytes replaced;
// behind a WebSocket's opening, as frames. Nothing may trap; what comes of it is bounded, and a whole request is one
// that its head admits, or is refused by a status of the document.

import ControlAPI

// Ten times the most that was seen in 335,000 inputs.
private let taking = Budget("what a client sends", limit: 700_000)

private let key = "Authorization: Bearer 0123456789abcdef\r\nHost: localhost\r\n"
private let genuine = [
    "POST /v1/sessions/0123456789abcdef0123456789abcdef/say HTTP/1.1\r\n\(key)Content-Type: application/json\r\nContent-Length: 24\r\n\r\n{\"text\":\"hello\",\"turn\":3}GET /v1/status HTTP/1.1\r\n\(key)\r\n",
    "GET /v1/sessions/0123456789abcdef0123456789abcdef/events?after=3&wait=1 HTTP/1.1\r\n\(key)Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
].map { Array($0.utf8) }

private let gate = Gatekeeper([.init(name: "a", key: Array("0123456789abcdef".utf8))])

private func admit(_ head: HTTPHead) -> HTTPAdmission {
    do throws(ControlError) {
        try gate.checkOrigin(head)
        return .accept(bodyLimit: try ControlRequest.operation(head).0.bodyLimit)
    } catch {
        return .refuse(error.response)
    }
}

/// libFuzzer's entry: one input, always answered 0; a precondition that fails is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes = unsafe bytes, count > 1 else { return 0 }
    let input = unsafe Span(_unsafeStart: bytes, count: count)
    var text = (2..<count).map { input[$0] }
    let kind = Int(input[0]) % 4
    if kind == 3 { text = genuine[1] + text }
    if kind == 1 || kind == 2 {
        var changed = genuine[kind - 1]
        for triple in 0..<text.count / 3 {
            changed[(Int(text[triple * 3]) << 8 | Int(text[triple * 3 + 1])) % changed.count] = text[triple * 3 + 2]
        }
        text = changed
    }
    taking.spend { exchange(text, pieces: 1 + Int(input[1]) * 8) }
    return 0
}

private func exchange(_ bytes: [UInt8], pieces: Int) {
    var connection = HTTPConnection(now: .zero, admit: admit) { ControlError($0).response }
    var start = 0
    while start < bytes.count {
        let end = min(bytes.count, start + pieces)
        _ = connection.receive(Array(bytes[start..<end]), now: .zero)
        start = end
        while let output = connection.pollOutput() {
            switch output {
            case .send(let bytes):
                precondition(bytes.count < 100_000)
                connection.handleSent(now: .zero)
            case .message(let bytes): precondition(bytes.count <= WebSocketReader.limit)
            case .end: precondition(connection.nextTimeout == nil)
            case .request(let request): answer(request, &connection)
            }
        }
    }
}

private func answer(_ request: HTTPRequest, _ connection: inout HTTPConnection) {
    do throws(ControlError) {
        let asked = try ControlRequest(request)
        precondition(request.body.count <= asked.operation.bodyLimit)
        guard request.head.webSocketKey == nil else { return connection.upgrade(accept: "x", now: .zero) }
        connection.respond(HTTPResponse(asked.operation.success.status))
    } catch {
        precondition((400...431).contains(error.status))
        connection.respond(error.response)
    }
}

func makeSeeds() -> [[UInt8]] {
    [
        [0, 9] + genuine[0], [0, 1] + genuine[1], [1, 9, 0, 20, 34], [2, 9, 0, 20, 34],
        [3, 9, 0x81, 0x81, 1, 2, 3, 4, 0x40], [3, 0, 0x89, 0x80, 0, 0, 0, 0],
    ]
}
