package import VoiceDialog

/// What answers a request.
package struct HTTPResponse: Equatable, Sendable {
    package var status: Int
    package var headers: [(name: String, value: String)] = []
    package var body: [UInt8] = []

    package init(_ status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    /// A JSON value as the body.
    package init(_ status: Int, _ json: JSON, headers: [(name: String, value: String)] = []) {
        self.init(status, headers: [("content-type", "application/json")] + headers, body: json.encoded)
    }

    package static func == (left: HTTPResponse, right: HTTPResponse) -> Bool {
        left.status == right.status && left.body == right.body
            && left.headers.elementsEqual(right.headers) { $0 == $1 }
    }

    /// The bytes on the wire.
    func encoded(keepsAlive: Bool) -> [UInt8] {
        var text = "HTTP/1.1 \(status) \(Self.reason(status))\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        if status != 204, status != 101 { text += "content-length: \(body.count)\r\n" }
        if status != 101 {
            text += "cache-control: no-store\r\nx-content-type-options: nosniff\r\n"
            if !keepsAlive { text += "connection: close\r\n" }
        }
        return Array(text.utf8) + [0x0D, 0x0A] + body
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 100: "Continue"
        case 101: "Switching Protocols"
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 411: "Length Required"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 417: "Expectation Failed"
        case 422: "Unprocessable Content"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 505: "HTTP Version Not Supported"
        default: "Error"
        }
    }
}
