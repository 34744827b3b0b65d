internal import CWebSocket
internal import Synchronization
internal import VoiceRealtime

/// The thread of a client or a server: hands what libwebsockets tells to links, and has it do what they want.
@safe
final class WebLoop: Sendable {
    private struct State {
        var links: [UInt32: WebSocketLink] = [:]
        var isStopping = false
        /// While there is one, other threads may wake it.
        var isRunning = false
    }

    private let state = Mutex(State())
    /// Written by the thread before `isRunning` is set and after it is cleared, which are behind the lock.
    private nonisolated(unsafe) var web: OpaquePointer?
    private let limits: WebSocketLimits
    private let accept: @Sendable (WebSocketLink) -> Void

    /// - Parameter accept: takes a connection that a client made to this server.
    init(limits: WebSocketLimits, accept: @escaping @Sendable (WebSocketLink) -> Void) {
        self.limits = limits
        self.accept = accept
    }

    func makeLink(_ number: UInt32, header: String? = nil) -> WebSocketLink {
        let link = WebSocketLink(limits: limits, header: header) { [weak self] in self?.wake() }
        state.withLock { $0.links[number] = link }
        return link
    }

    func wake() {
        state.withLock { if $0.isRunning, let web = unsafe web { unsafe dv_web_wake(web) } }
    }

    /// Has ``run(_:)`` return soon.
    func stop() {
        state.withLock { $0.isStopping = true }
        wake()
    }

    /// Runs until it is stopped, or its client has no connection any more.
    ///
    /// - Parameters:
    ///   - make: makes the client or the server, which tells this loop.
    ///   - started: called with the port, or nil where the system refuses.
    func run(
        _ make: (@escaping dv_web_handler, UnsafeMutableRawPointer) -> OpaquePointer?,
        started: (UInt16?) -> Void
    ) {
        let made = unsafe make(Self.handler, Unmanaged.passUnretained(self).toOpaque())
        guard let made = unsafe made else { return started(nil) }
        unsafe web = unsafe made
        state.withLock { $0.isRunning = true }
        started(unsafe dv_web_port(made))
        followOrders()
        while !state.withLock({ $0.isStopping }), unsafe dv_web_run(made) {}
        state.withLock { $0.isRunning = false }
        unsafe web = nil
        unsafe dv_web_free(made)
        let links = state.withLock { state in
            defer { state.links = [:] }
            return Array(state.links.values)
        }
        links.forEach { $0.ended(.lost(status: 0)) }
    }

    private static let handler: dv_web_handler = { owner, event in
        guard let owner = unsafe owner, let event = unsafe event else { return 0 }
        let loop = unsafe Unmanaged<WebLoop>.fromOpaque(owner).takeUnretainedValue()
        return unsafe loop.handle(event.pointee)
    }

    private func handle(_ event: dv_web_event) -> Int32 {
        let number = unsafe event.connection
        let link = state.withLock { $0.links[number] }
        switch unsafe event.kind {
        case DV_WEB_OPENED:
            if let link {
                link.opened()
            } else {
                let link = unsafe makeLink(number, header: Self.header(event))
                accept(link)
                link.opened()
            }
            followOrders()
        case DV_WEB_RECEIVED:
            guard let link else { return 1 }
            let bytes = unsafe Span(_unsafeStart: event.bytes, count: event.count)
            let isGood = unsafe link.received(
                bytes, remaining: event.remaining, isFinal: event.is_final, isText: event.is_text)
            guard isGood else { return 1 }
            followOrders()
        case DV_WEB_WRITABLE:
            guard let message = link?.nextOutgoing(), let web = unsafe web else { break }
            let isSent = unsafe message.withUnsafeBufferPointer {
                unsafe dv_web_send(web, number, $0.baseAddress, $0.count)
            }
            guard isSent else { return 1 }
            followOrders()
        case DV_WEB_CLOSED:
            let failure = unsafe event.is_slow ? WebSocketFailure.tooSlow : .lost(status: Int(event.status))
            state.withLock { $0.links[number] = nil }
            link?.ended(failure)
        case DV_WEB_FAILED:
            let words = unsafe event.reason.map { unsafe String(cString: $0) } ?? ""
            state.withLock { $0.links[number] = nil }
            let isUntrusted = unsafe event.is_untrusted
            link?.ended(isUntrusted ? .untrusted(words) : WebSocketFailure(words, status: Int(unsafe event.status)))
        default: followOrders()
        }
        return 0
    }

    private static func header(_ event: dv_web_event) -> String? {
        guard let bytes = unsafe event.bytes else { return nil }
        let value = unsafe UnsafeBufferPointer(start: bytes, count: event.count)
        return unsafe String(decoding: value, as: UTF8.self)
    }

    private func followOrders() {
        guard let web = unsafe web else { return }
        for (number, link) in state.withLock({ $0.links }) {
            let orders = link.orders
            unsafe dv_web_set_reading(web, number, orders.reads)
            if orders.sends { unsafe dv_web_request_writable(web, number) }
            if let end = orders.end { unsafe dv_web_end(web, number, end) }
        }
    }
}

extension WebSocketFailure {
    /// What libwebsockets' words come to.
    init(_ words: String, status: Int) {
        let lower = words.lowercased()
        func says(_ part: String) -> Bool { lower.contains(part) }
        if status >= 300 {
            self = .refused(status: status)
        } else if says("unauthorized") {
            self = .refused(status: 401)
        } else if says("proxy") {
            self = .proxyRefused(words)
        } else if says("cert") {
            self = .untrusted(words)
        } else if says("dns") || says("getaddrinfo") || says("unable to lookup") {
            self = .unknownHost(words)
        } else if lower.hasPrefix("hs:") || says("ssl") || says("tls") {
            self = .noWebSocket(words)
        } else {
            self = .unreachable(words)
        }
    }
}

extension String {
    fileprivate func contains(_ part: String) -> Bool {
        let part = Array(part.utf8)
        let all = Array(utf8)
        return all.count >= part.count
            && (0...(all.count - part.count)).contains { all[$0..<($0 + part.count)].elementsEqual(part) }
    }
}
