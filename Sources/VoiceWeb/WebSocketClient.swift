internal import CWebSocket
internal import VoiceRealtime

/// What a client connects to, and how.
package struct WebSocketRequest: Sendable {
    package var address: WebAddress
    /// Header fields beyond the protocol's own, at most 8; values may be secret, and are never printed.
    package var headers: [(name: String, value: String)] = []
    /// A PEM file of the authorities to trust instead of the system's.
    package var authorities: String?
    /// "[user:password@]host:port"; nil for none.
    package var proxy: String?
    package var limits = WebSocketLimits()

    package init(_ address: WebAddress) { self.address = address }
}

/// A client's WebSocket, on a thread of its own. Letting it go closes it, and waits for its thread,
/// unless that looks a name up.
package final class WebSocketClient: Sendable {
    package let link: WebSocketLink
    private let loop: WebLoop
    private let thread: WebThread

    /// Begins to connect; ``WebSocketEvent/opened`` or ``WebSocketEvent/ended(_:)`` tells of that.
    package init(_ request: WebSocketRequest) throws(WebSocketFailure) {
        try WebSocketFailure.requireLibrary()
        let loop = WebLoop(limits: request.limits) { $0.close() }
        let link = loop.makeLink(0)
        self.loop = loop
        self.link = link
        do throws(ThreadError) {
            thread = try WebThread {
                unsafe loop.run { handler, owner in
                    unsafe request.withOptions { unsafe dv_web_connect($0, handler, owner) }
                } started: { port in
                    if port == nil { link.ended(.cannotStart("no thread of libwebsockets, or no such authorities")) }
                }
            }
        } catch {
            throw .cannotStart("no thread: \(error)")
        }
    }

    deinit { loop.stop() }
}

extension WebSocketRequest {
    /// The request as C has it, for as long as `body` runs.
    func withOptions<Outcome>(_ body: (UnsafePointer<dv_web_client>) -> Outcome) -> Outcome {
        var texts: [UnsafeMutablePointer<CChar>] = unsafe []
        defer {
            for index in unsafe texts.indices {
                unsafe texts[index].update(repeating: 0, count: Self.length(texts[index]))
                unsafe texts[index].deallocate()
            }
        }
        func copy(_ text: String) -> UnsafePointer<CChar> {
            let bytes = Array(text.utf8CString)
            let made = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
            for index in bytes.indices { unsafe made[index] = bytes[index] }
            unsafe texts.append(made)
            return unsafe UnsafePointer(made)
        }
        var options = unsafe dv_web_client()
        unsafe options.host = copy(address.host)
        unsafe options.path = copy(address.path)
        unsafe options.origin_host = copy(address.authority)
        unsafe options.port = address.port
        unsafe options.message_seconds = limits.messageSeconds
        unsafe options.is_secure = address.isSecure
        unsafe options.authorities = authorities.map { unsafe copy($0) }
        unsafe options.proxy = proxy.map { unsafe copy($0) }
        let count = min(headers.count, Int(DV_WEB_HEADERS))
        unsafe options.headers = count
        unsafe withUnsafeMutableBytes(of: &options.names) { bytes in
            let names = unsafe bytes.bindMemory(to: UnsafePointer<CChar>?.self)
            for index in 0..<count { unsafe names[index] = copy("\(headers[index].name):") }
        }
        unsafe withUnsafeMutableBytes(of: &options.values) { bytes in
            let values = unsafe bytes.bindMemory(to: UnsafePointer<CChar>?.self)
            for index in 0..<count { unsafe values[index] = copy(headers[index].value) }
        }
        return unsafe withUnsafePointer(to: options) { unsafe body($0) }
    }

    private static func length(_ text: UnsafePointer<CChar>) -> Int {
        var count = 0
        while unsafe text[count] != 0 { count += 1 }
        return count
    }
}
