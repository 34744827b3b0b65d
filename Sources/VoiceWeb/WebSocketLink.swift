internal import Synchronization
internal import VoiceQueue

/// What happens to a WebSocket.
package enum WebSocketEvent: Equatable, Sendable {
    case opened
    /// A whole text message.
    case message([UInt8])
    /// It is over; nil where this side closed it.
    case ended(WebSocketFailure?)
}

/// How much a WebSocket holds.
package struct WebSocketLimits: Sendable {
    /// Of a message that is received.
    package var message = 1 << 20
    /// Of messages that were received and not taken; behind it the socket is not read.
    package var incoming = 2 << 20
    /// Of messages that wait to be sent; behind it the connection is given up.
    package var outgoing = 4 << 20

    /// Within so many seconds from its first bytes a message is to be whole.
    package var messageSeconds: UInt16 = 15

    package init() {}
}

/// One end of a WebSocket: whole text messages, in bounded queues. Methods may be called from any thread; events are
/// one consumer's.
package final class WebSocketLink: Sendable {
    private struct State {
        var events = FIFOQueue<WebSocketEvent>()
        var incomingBytes = 0
        var partial: [UInt8] = []
        var outgoing = FIFOQueue<[UInt8]>()
        var outgoingBytes = 0
        var isClosing = false
        var failure: WebSocketFailure?
        var isOver = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    private let limits: WebSocketLimits
    private let wake: @Sendable () -> Void
    /// Of a server's client: the value of the request's header that the server asked for; nil where there was none.
    package let header: String?

    /// - Parameter wake: has the socket's thread look at what is to be done.
    init(limits: WebSocketLimits, header: String? = nil, wake: @escaping @Sendable () -> Void) {
        self.limits = limits
        self.header = header
        self.wake = wake
    }

    // MARK: The app's side

    /// The next event; nil behind the end, or where the task is cancelled.
    package func next() async -> WebSocketEvent? {
        while !Task.isCancelled {
            let (event, isOver, isResumed) = state.withLock { state -> (WebSocketEvent?, Bool, Bool) in
                let wasFull = state.incomingBytes >= limits.incoming
                guard let event = state.events.popFirst() else { return (nil, state.isOver, false) }
                if case .message(let bytes) = event { state.incomingBytes -= Self.cost(bytes) }
                return (event, false, wasFull && state.incomingBytes < limits.incoming)
            }
            if isResumed { wake() }
            if let event { return event }
            if isOver { return nil }
            await wait()
        }
        return nil
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    guard state.events.isEmpty, !state.isOver, !Task.isCancelled else { return true }
                    precondition(state.waiter == nil, "a WebSocket's events are one consumer's")
                    state.waiter = continuation
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiter.take() }?.resume()
        }
    }

    /// Queues a text message. False where the link is over, or is given up because too much waits.
    @discardableResult
    package func send(_ message: [UInt8]) -> Bool {
        let isTaken = state.withLock { state in
            guard !state.isOver, !state.isClosing, state.failure == nil else { return false }
            guard state.outgoingBytes + Self.cost(message) <= limits.outgoing else {
                state.failure = .overflow
                return false
            }
            state.outgoing.append(message)
            state.outgoingBytes += Self.cost(message)
            return true
        }
        wake()
        return isTaken
    }

    /// Closes it, when what was queued has been sent. May be called again.
    package func close() {
        state.withLock { $0.isClosing = true }
        wake()
    }

    /// Gives the connection up: its peer takes less than is sent.
    package func giveUp() {
        state.withLock { if $0.failure == nil { $0.failure = .overflow } }
        wake()
    }

    /// What of the limit for messages that wait to be sent is used.
    package var outgoingBytes: Int { state.withLock { $0.outgoingBytes } }

    /// Whether nothing more is taken to be sent.
    package var isOver: Bool { state.withLock { $0.isOver || $0.isClosing || $0.failure != nil } }

    /// What a message counts against a limit: its bytes, and what it takes to keep the shortest.
    private static func cost(_ message: [UInt8]) -> Int { message.count + 256 }

    /// What of the limit for messages that were received and not taken is used.
    var waitingBytes: Int { state.withLock { $0.incomingBytes + $0.partial.count } }

    // MARK: The socket's side

    /// What the socket's thread is to do.
    struct Orders {
        var sends: Bool
        var reads: Bool
        /// Ends the connection, with this status.
        var end: UInt16?
    }

    var orders: Orders {
        state.withLock { state in
            let isDrained = state.outgoing.isEmpty
            let end: UInt16? = state.failure != nil ? 1_008 : state.isClosing && isDrained ? 1_000 : nil
            return Orders(sends: !isDrained, reads: state.incomingBytes < limits.incoming, end: end)
        }
    }

    func opened() { tell(.opened) }

    private func tell(_ event: WebSocketEvent) {
        let waiter = state.withLock { state in
            guard !state.isOver else { return nil as CheckedContinuation<Void, Never>? }
            if case .ended = event { state.isOver = true }
            state.events.append(event)
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Takes a piece of a message. False where the connection is to end.
    func received(_ bytes: Span<UInt8>, remaining: UInt64, isFinal: Bool, isText: Bool) -> Bool {
        let (whole, isGood) = state.withLock { state -> ([UInt8]?, Bool) in
            guard isText else {
                state.failure = .notText
                return (nil, false)
            }
            let limit = UInt64(limits.message)
            guard remaining <= limit, UInt64(state.partial.count + bytes.count) + remaining <= limit else {
                state.failure = .tooLarge(limit: limits.message)
                state.partial = []
                return (nil, false)
            }
            for index in bytes.indices { state.partial.append(bytes[index]) }
            guard isFinal else { return (nil, true) }
            let whole = state.partial
            state.partial = []
            state.incomingBytes += Self.cost(whole)
            return (whole, true)
        }
        if let whole { tell(.message(whole)) }
        return isGood
    }

    func nextOutgoing() -> [UInt8]? {
        state.withLock { state in
            guard let message = state.outgoing.popFirst() else { return nil }
            state.outgoingBytes -= Self.cost(message)
            return message
        }
    }

    /// It is gone; what this side found wrong, or wanted, comes before what the peer says.
    func ended(_ failure: WebSocketFailure?) {
        let (found, isClosing) = state.withLock { ($0.failure, $0.isClosing) }
        tell(.ended(found ?? (isClosing ? nil : failure)))
    }
}
