internal import CWebSocket
internal import Synchronization
internal import VoiceRealtime

/// A WebSocket server on a thread of its own, for up to 16 clients at any path. Letting it go closes all, and waits for
/// its thread.
package final class WebSocketServer: Sendable {
    /// Where it listens.
    package let port: UInt16
    private let loop: WebLoop
    private let thread: RealtimeThread

    /// - Parameters:
    ///   - interface: the address, such as 127.0.0.1.
    ///   - port: 0 for any that is free.
    ///   - certificate: a PEM file, for wss, with `privateKey`.
    ///   - key: what clients must bring, visible ASCII of less than 4 KiB; nil for nothing, and then browsers are
    ///     served pages of this machine alone.
    ///   - header: the name of a request's header, in lower case, whose value ``WebSocketLink/header`` tells.
    ///   - accept: takes a connection; called on the server's thread.
    package init(
        interface: String, port: UInt16, certificate: String? = nil, privateKey: String? = nil, key: String? = nil,
        header: String? = nil, limits: WebSocketLimits = WebSocketLimits(),
        accept: @escaping @Sendable (WebSocketLink) -> Void
    ) throws(WebSocketFailure) {
        let loop = WebLoop(limits: limits, accept: accept)
        let port = port
        let told = header.map { "\($0):" }
        let start: ServerStart
        do throws(ThreadError) {
            let answer = try ServerStart()
            start = answer
            thread = try RealtimeThread(name: "dv-web", priority: 0) { _ in
                unsafe loop.run { handler, owner in
                    unsafe interface.withCString { interface in
                        unsafe withOptionalCString(certificate) { certificate in
                            unsafe withOptionalCString(privateKey) { privateKey in
                                unsafe withOptionalCString(key) { key in
                                    unsafe withOptionalCString(told) { told in
                                        var options = unsafe dv_web_server()
                                        unsafe options.interface = interface
                                        unsafe options.port = port
                                        unsafe options.message_seconds = limits.messageSeconds
                                        unsafe options.certificate = certificate
                                        unsafe options.private_key = privateKey
                                        unsafe options.key = key
                                        unsafe options.told_header = told
                                        return unsafe dv_web_listen(&options, handler, owner)
                                    }
                                }
                            }
                        }
                    }
                } started: {
                    port in
                    answer.give(port)
                }
            }
        } catch {
            throw .cannotStart("no thread: \(error)")
        }
        self.loop = loop
        guard let port = start.wait() else {
            throw .cannotStart("the port is in use, or the certificate or its key is none")
        }
        self.port = port
    }

    deinit { loop.stop() }
}

/// Whether and where a server listens, which its thread knows.
final class ServerStart: Sendable {
    private let port = Mutex<UInt16?>(nil)
    private let wake: WakeSignal

    init() throws(ThreadError) { wake = try WakeSignal() }

    func give(_ answer: UInt16?) {
        port.withLock { $0 = answer }
        wake.signal()
    }

    func wait() -> UInt16? {
        wake.wait(timeout: .seconds(30))
        return port.withLock { $0 }
    }
}

func withOptionalCString<Outcome>(
    _ text: String?, _ body: (UnsafePointer<CChar>?) -> Outcome
) -> Outcome {
    guard let text else { return body(nil) }
    return unsafe text.withCString { unsafe body($0) }
}
