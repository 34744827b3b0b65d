/// The first part of a request (RFC 9112, section 3): everything before the body.
package struct HTTPHead: Equatable, Sendable {
    package var method: String
    /// Before the `?`, as it came: no escape is undone, since no route of ours needs one.
    package var path: String
    /// Behind the `?`, by name; values as they came.
    package var query: [String: String] = [:]
    /// By name in lower case. Of a name that comes twice, the values with a comma between them.
    package var headers: [String: String] = [:]
    package var contentLength = 0
    /// The client keeps the connection for another request.
    package var keepsAlive = true
    package var expectsContinue = false

    /// The media type of the body, without parameters, in lower case.
    package var mediaType: String? {
        headers["content-type"].map { value in
            Self.trimmed(value.prefix { $0 != ";" }).lowercased()
        }
    }

    /// The key of a WebSocket's opening (RFC 6455, section 4.2.1); nil where this opens none, or not as it should.
    package var webSocketKey: String? {
        guard headers["upgrade"]?.lowercased() == "websocket", headers["sec-websocket-version"] == "13",
            headers["connection"]?.lowercased().split(separator: ",").contains(where: { Self.trimmed($0) == "upgrade" })
                == true,
            let key = headers["sec-websocket-key"], key.utf8.count == 24
        else { return nil }
        return key
    }

    static func trimmed(_ text: some StringProtocol) -> String {
        var part = Substring(text)
        while let first = part.first, first == " " || first == "\t" { part.removeFirst() }
        while let last = part.last, last == " " || last == "\t" { part.removeLast() }
        return String(part)
    }
}

/// A whole request.
package struct HTTPRequest: Equatable, Sendable {
    package var head: HTTPHead
    package var body: [UInt8] = []
}
