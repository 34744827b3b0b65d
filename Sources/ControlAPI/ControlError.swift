package import VoiceDialog

/// Why the control API does not do what it is asked for: one shape for all, by codes of docs/errors.md.
package struct ControlError: Error, Equatable, Sendable {
    package var status: Int
    package var code: String
    package var message: String
    /// Which part of the request it concerns, such as `text`; nil where none.
    package var field: String?

    package init(_ status: Int, _ code: String, _ message: String, field: String? = nil) {
        (self.status, self.code, self.message, self.field) = (status, code, message, field)
    }

    /// The API's own, by the code's only status.
    package init(_ code: ControlErrorCode, _ message: String, field: String? = nil) {
        self.init(code.statuses[0], code.rawValue, message, field: field)
    }

    /// The part of an answer, or of an event, that tells it.
    package var json: JSON {
        var members: [String: JSON] = ["code": .string(code), "message": .string(message)]
        if let field { members["field"] = .string(field) }
        return .object(members)
    }

    package var response: HTTPResponse {
        var headers: [(name: String, value: String)] = []
        if status == 401 { headers.append(("www-authenticate", "Bearer")) }
        return HTTPResponse(status, .object(["error": json]), headers: headers)
    }

    /// A request that is none.
    package init(_ fault: HTTPFault) {
        let code: ControlErrorCode =
            switch fault.status {
            case 408: .timeout
            case 413, 414, 431: .tooLarge
            default: .malformed
            }
        self.init(fault.status, code.rawValue, fault.message)
    }

    package static let unauthorised = ControlError(.unauthorised, "give the key as 'Authorization: Bearer KEY'")
    package static let notFound = ControlError(.notFound, "there is nothing at this path, or not any more")
    package static let busy = ControlError(.busy, "the partner has enough to do; ask again later")

    package static func invalid(_ field: String?, _ message: String) -> ControlError {
        ControlError(.invalid, field.map { "'\($0)' \(message)" } ?? message, field: field)
    }
}
