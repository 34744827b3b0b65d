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

extension WebSocketFailure: CustomStringConvertible {
    /// What happened, in words that go on from the server's name; what libwebsockets says may hold others' text.
    package var description: String {
        switch self {
        case .cannotStart(let reason): "cannot be connected to: \(reason)"
        case .unknownHost: "is no host that is known"
        case .unreachable(let words): "does not answer: \(words)"
        case .proxyRefused(let words): "is not let through by the proxy: \(words)"
        case .untrusted(let reason): "has a certificate that is not to be trusted: \(reason)"
        case .refused(let status): "refuses (HTTP \(status))"
        case .noWebSocket(let words): "speaks no WebSocket: \(words)"
        case .lost(let status): "broke the connection\(status == 0 ? "" : " (status \(status))")"
        case .tooLarge(let limit): "sent a message of more than \(limit) bytes"
        case .tooSlow: "took too long for a message"
        case .notText: "sent a message that is no text"
        case .overflow: "takes less than is sent"
        }
    }
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
