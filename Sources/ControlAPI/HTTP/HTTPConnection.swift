internal import VoiceQueue

/// What a server says to a request's head, before its body is read.
package enum HTTPAdmission: Sendable {
    /// The body may have so many bytes. `place` is what one of whom we know takes up meanwhile: it is let go of when the
    /// request has been answered, or the connection is over.
    case accept(bodyLimit: Int, place: (any AnyObject & Sendable)? = nil)
    /// It is answered at once, and the body is not read.
    case refuse(HTTPResponse)
}

/// One connection of a client (RFC 9112), which may become a WebSocket (RFC 6455): bytes and time in, bytes and whole
/// requests out.
///
///     bytes ─► head ─► admission ─► body ─► request ─► respond ─► bytes      the next request waits until this answer has been sent
///                                              └─► upgrade ─► text messages
///
/// Pure. Memory is bounded by a head, an admitted body, an answer and a message; what comes meanwhile is not to be read
/// (``wantsInput``).
package struct HTTPConnection: Sendable {
    package enum Output: Equatable, Sendable {
        case send([UInt8])
        case request(HTTPRequest)
        /// A text message of a WebSocket.
        case message([UInt8])
        /// End the connection, when what was sent has been.
        case end
    }

    /// From the first byte of a request to the last of its head.
    package static let headTime = Duration.seconds(10)
    /// From the head to the last byte of the body.
    package static let bodyTime = Duration.seconds(30)
    /// Between two requests.
    package static let idleTime = Duration.seconds(60)
    /// Between two looks whether a WebSocket's client is there; it has as long to answer.
    package static let pingTime = Duration.seconds(20)
    /// What came before it was asked for, bytes: the rest of what the socket gave at once.
    package static let pendingLimit = 64 << 10

    private enum State: Sendable {
        case head
        case body(HTTPHead)
        /// A request is out; what answers it comes.
        case answering(keepsAlive: Bool)
        /// An answer is on its way: who takes none is not answered again.
        case sending(keepsAlive: Bool)
        case webSocket
        case over
    }

    private let admit: @Sendable (HTTPHead) -> HTTPAdmission
    private let fault: @Sendable (HTTPFault) -> HTTPResponse
    private var state = State.head
    private var parser = HTTPHeadParser()
    private var body: [UInt8] = []
    private var pending: ArraySlice<UInt8> = []
    private var frames = WebSocketReader()
    private var isPinged = false
    private var place: (any AnyObject & Sendable)?
    /// Whether one of whom we know has asked here.
    package private(set) var isKnown = false
    private var outputs = FIFOQueue<Output>()
    /// When something is to be done if nothing happens.
    package private(set) var nextTimeout: Duration?

    /// - Parameters:
    ///   - admit: judges each request's head.
    ///   - fault: words a request that is none.
    package init(
        now: Duration, admit: @escaping @Sendable (HTTPHead) -> HTTPAdmission,
        fault: @escaping @Sendable (HTTPFault) -> HTTPResponse
    ) {
        (self.admit, self.fault) = (admit, fault)
        nextTimeout = now + Self.headTime
    }

    package mutating func pollOutput() -> Output? { outputs.popFirst() }

    /// Whether more should be read.
    package var wantsInput: Bool {
        switch state {
        case .answering, .sending: false
        default: true
        }
    }

    /// Whether something that one of whom we know has asked for is under way.
    package var isBusy: Bool { place != nil }

    /// Takes what came. False where it is more than was asked for.
    package mutating func receive(_ bytes: [UInt8], now: Duration) -> Bool {
        guard pending.count + bytes.count <= Self.pendingLimit else {
            finish()
            return false
        }
        pending += bytes
        advance(now: now)
        return true
    }

    /// Answers the request that is out.
    package mutating func respond(_ response: HTTPResponse) {
        guard case .answering(let keepsAlive) = state else { return }
        send(response, keepsAlive: keepsAlive)
    }

    /// To be called when all that was sent has left.
    package mutating func handleSent(now: Duration) {
        guard case .sending(let keepsAlive) = state else { return }
        guard keepsAlive else { return finish() }
        place = nil
        state = .head
        nextTimeout = now + Self.idleTime
        advance(now: now)
    }

    private mutating func send(_ response: HTTPResponse, keepsAlive: Bool) {
        outputs.append(.send(response.encoded(keepsAlive: keepsAlive)))
        state = .sending(keepsAlive: keepsAlive)
        nextTimeout = nil
    }

    /// Makes it a WebSocket.
    ///
    /// - Parameter accept: the answer to the client's key, in base64.
    package mutating func upgrade(accept: String, now: Duration) {
        guard case .answering = state else { return }
        let headers = [("upgrade", "websocket"), ("connection", "Upgrade"), ("sec-websocket-accept", accept)]
        outputs.append(.send(HTTPResponse(101, headers: headers).encoded(keepsAlive: true)))
        state = .webSocket
        nextTimeout = now + Self.pingTime
        advance(now: now)
    }

    /// Sends a text message.
    package mutating func send(_ message: [UInt8]) {
        guard case .webSocket = state else { return }
        outputs.append(.send(WebSocketFrame.encoded(.text, message)))
    }

    /// Closes a WebSocket.
    package mutating func close(status: UInt16) {
        guard case .webSocket = state else { return }
        outputs.append(.send(WebSocketFrame.encodedClose(status)))
        finish()
    }

    /// To be called at ``nextTimeout``, or later.
    package mutating func handleTimeout(now: Duration) {
        guard let due = nextTimeout, now >= due else { return }
        switch state {
        case .webSocket where !isPinged:
            isPinged = true
            outputs.append(.send(WebSocketFrame.encoded(.ping, [])))
            nextTimeout = now + Self.pingTime
        case .head where !parser.hasBegun: finish()
        case .head, .body: refuse(HTTPFault(status: 408, message: "the request took too long"))
        default: finish()
        }
    }

    private mutating func finish() {
        guard case .over = state else {
            state = .over
            (pending, body, place, nextTimeout) = ([], [], nil, nil)
            outputs.append(.end)
            return
        }
    }

    private mutating func refuse(_ fault: HTTPFault) { refuse(self.fault(fault)) }

    private mutating func refuse(_ response: HTTPResponse) {
        outputs.append(.send(response.encoded(keepsAlive: false)))
        finish()
    }

    private mutating func advance(now: Duration) {
        while true {
            switch state {
            case .head:
                guard !pending.isEmpty else { return }
                let hadBegun = parser.hasBegun
                do throws(HTTPFault) {
                    guard let head = try parser.take(&pending) else {
                        if !hadBegun, parser.hasBegun { nextTimeout = now + Self.headTime }
                        return
                    }
                    begin(head, now: now)
                } catch {
                    return refuse(error)
                }
            case .body(let head):
                let part = pending.prefix(head.contentLength - body.count)
                body += part
                pending = pending.dropFirst(part.count)
                guard body.count == head.contentLength else { return }
                let request = HTTPRequest(head: head, body: body)
                body = []
                nextTimeout = nil
                state = .answering(keepsAlive: head.keepsAlive)
                outputs.append(.request(request))
            case .webSocket: return read(now: now)
            case .answering, .sending: return
            case .over:
                pending = []
                return
            }
        }
    }

    private mutating func begin(_ head: HTTPHead, now: Duration) {
        switch admit(head) {
        case .accept(let limit, let place):
            self.place = place
            isKnown = isKnown || place != nil
            guard head.contentLength <= limit else {
                return refuse(HTTPFault(status: 413, message: "the body is longer than \(limit) bytes"))
            }
            if head.expectsContinue, head.contentLength > 0 {
                outputs.append(.send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)))
            }
            state = .body(head)
            nextTimeout = now + Self.bodyTime
        case .refuse(var response):
            // The answer to HEAD has no body (RFC 9110, section 9.3.2): the client would take it for the next answer.
            if head.method == "HEAD" { response.body = [] }
            // What has no body leaves the connection as it was.
            guard head.contentLength == 0, head.keepsAlive else { return refuse(response) }
            send(response, keepsAlive: true)
        }
    }

    private mutating func read(now: Duration) {
        guard !pending.isEmpty else { return }
        let bytes = pending
        pending = []
        isPinged = false
        nextTimeout = now + Self.pingTime
        do throws(WebSocketFault) {
            for frame in try frames.take(bytes) {
                switch frame {
                case .text(let message): outputs.append(.message(message))
                case .ping(let payload): outputs.append(.send(WebSocketFrame.encoded(.pong, payload)))
                case .pong: break
                case .close: return close(status: 1_000)
                }
            }
        } catch {
            close(status: error.status)
        }
    }
}
