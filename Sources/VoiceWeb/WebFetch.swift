internal import CWebSocket
internal import Synchronization
internal import VoiceRealtime

/// What comes of a ``WebFetch``.
package enum WebFetchEvent: Equatable, Sendable {
    /// The answer begins, with its HTTP status.
    case responded(status: Int)
    /// The next piece of its body.
    case bytes([UInt8])
    /// It is over. ``WebSocketFailure/lost(status:)`` where the connection broke, which some servers end an answer by.
    case ended(WebSocketFailure?)
}

/// One HTTP POST and its answer as it comes, on a thread of its own. Letting it go ends it, and waits for its thread,
/// unless that looks a name up.
package final class WebFetch: Sendable {
    /// One consumer's. The last is ``WebFetchEvent/ended(_:)``.
    package let events: AsyncStream<WebFetchEvent>
    private let loop: FetchLoop
    private let thread: WebThread

    /// Begins to connect.
    ///
    /// - Parameters:
    ///   - request: of its limits, `message` is that of the whole answer, and `messageSeconds` how long nothing may
    ///     come.
    ///   - body: at most as large as its limit `outgoing`.
    package init(_ request: WebSocketRequest, body: [UInt8]) throws(WebSocketFailure) {
        guard body.count <= request.limits.outgoing else { throw .overflow }
        try WebSocketFailure.requireLibrary()
        let (events, continuation) = AsyncStream.makeStream(of: WebFetchEvent.self)
        let loop = FetchLoop(limit: request.limits.message, continuation)
        self.events = events
        self.loop = loop
        do throws(ThreadError) {
            thread = try WebThread {
                unsafe loop.run { handler, owner in
                    unsafe request.withOptions { options in
                        unsafe body.withUnsafeBufferPointer {
                            unsafe dv_fetch_start(options, $0.baseAddress, $0.count, handler, owner)
                        }
                    }
                }
            }
        } catch {
            throw .cannotStart("no thread: \(error)")
        }
    }

    deinit { loop.stop() }
}

/// The thread of a ``WebFetch``.
@safe
private final class FetchLoop: Sendable {
    private struct State {
        var isStopping = false
        /// While there is one, other threads may wake it.
        var isRunning = false
    }

    private let state = Mutex(State())
    /// Written by the thread before `isRunning` is set and after it is cleared, which are behind the lock.
    private nonisolated(unsafe) var fetch: OpaquePointer?
    private let limit: Int
    private let received = Mutex(0)
    private let continuation: AsyncStream<WebFetchEvent>.Continuation

    init(limit: Int, _ continuation: AsyncStream<WebFetchEvent>.Continuation) {
        self.limit = limit
        self.continuation = continuation
    }

    func stop() {
        state.withLock { state in
            state.isStopping = true
            if state.isRunning, let fetch = unsafe fetch { unsafe dv_fetch_wake(fetch) }
        }
    }

    func run(_ make: (@escaping dv_fetch_handler, UnsafeMutableRawPointer) -> OpaquePointer?) {
        let made = unsafe make(Self.handler, Unmanaged.passUnretained(self).toOpaque())
        guard let made = unsafe made else {
            return end(.cannotStart("no thread of libwebsockets, or no such authorities"))
        }
        unsafe fetch = unsafe made
        state.withLock { $0.isRunning = true }
        while !state.withLock({ $0.isStopping }), unsafe dv_fetch_run(made) {}
        state.withLock { $0.isRunning = false }
        unsafe fetch = nil
        unsafe dv_fetch_free(made)
        end(.lost(status: 0))
    }

    /// Does nothing where the end was told.
    private func end(_ failure: WebSocketFailure?) {
        continuation.yield(.ended(failure))
        continuation.finish()
    }

    private static let handler: dv_fetch_handler = { owner, event in
        guard let owner = unsafe owner, let event = unsafe event else { return 0 }
        let loop = unsafe Unmanaged<FetchLoop>.fromOpaque(owner).takeUnretainedValue()
        return unsafe loop.handle(event.pointee)
    }

    private func handle(_ event: dv_fetch_event) -> Int32 {
        switch unsafe event.kind {
        case DV_FETCH_RESPONDED: continuation.yield(.responded(status: Int(unsafe event.status)))
        case DV_FETCH_RECEIVED:
            let bytes = unsafe [UInt8](UnsafeBufferPointer(start: event.bytes, count: event.count))
            let all = received.withLock { count in
                count += bytes.count
                return count
            }
            guard all <= limit else {
                end(.tooLarge(limit: limit))
                return 1
            }
            continuation.yield(.bytes(bytes))
        case DV_FETCH_COMPLETED: end(nil)
        case DV_FETCH_CLOSED: end(unsafe event.is_slow ? .tooSlow : .lost(status: 0))
        default:
            let words = unsafe event.reason.map { unsafe String(cString: $0) } ?? ""
            let (isUntrusted, isSlow) = unsafe (event.is_untrusted, event.is_slow)
            end(isUntrusted ? .untrusted(words) : isSlow ? .tooSlow : WebSocketFailure(words, status: 0))
        }
        return 0
    }
}
