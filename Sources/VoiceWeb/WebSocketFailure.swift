internal import CWebSocket

/// Why a WebSocket could not be made, or ended.
package enum WebSocketFailure: Error, Equatable, Sendable {
    /// The system, the certificate or the authorities' file refuses, or a library is missing; the words say which.
    case cannotStart(String)
    case unknownHost(String)
    /// Nobody answers there, or not in time.
    case unreachable(String)
    case proxyRefused(String)
    /// The certificate is not signed by an authority that is trusted, is out of date, or is another host's.
    case untrusted(String)
    /// The server answered with an HTTP status.
    case refused(status: Int)
    /// What answered speaks no WebSocket.
    case noWebSocket(String)
    /// The connection broke; the peer's status (RFC 6455, section 7.4), or 0.
    case lost(status: Int)
    /// A message is larger than the limit.
    case tooLarge(limit: Int)
    /// A message took too long to come.
    case tooSlow
    /// A message that is no text.
    case notText
    /// The peer takes less than is sent.
    case overflow
}

extension WebSocketFailure {
    /// Throws where libwebsockets is not installed, which is loaded when something first connects or listens.
    static func requireLibrary() throws(WebSocketFailure) {
        guard dv_web_is_installed() else {
            let version = unsafe String(cString: dv_web_version())
            throw .cannotStart(
                "libwebsockets \(version), which WebSockets and HTTP go through, is not installed: on Debian 12, "
                    + "apt install libwebsockets17")
        }
    }
}
