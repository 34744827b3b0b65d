/// What the control API answers with of its own, as a name that stays the same from version to version; docs/errors.md
/// is the table of all. Errors of the engine, a partner or a dialog keep their own codes.
package enum ControlErrorCode: String, Sendable, CaseIterable {
    case unauthorised = "control.unauthorised"
    case forbidden = "control.forbidden"
    case notFound = "control.notFound"
    case methodNotAllowed = "control.methodNotAllowed"
    case invalid = "control.invalid"
    case malformed = "control.malformed"
    case timeout = "control.timeout"
    case tooLarge = "control.tooLarge"
    case unsupportedMediaType = "control.unsupportedMediaType"
    case tooManySessions = "control.tooManySessions"
    case busy = "control.busy"
    case noRoomKey = "control.noRoomKey"
    case partnerAnswers = "control.partnerAnswers"

    /// Who or what stands in the way, as `ErrorOrigin` names it.
    package var origin: String { facts.origin }
    /// Whether the same may succeed later with nothing changed.
    package var isRetryable: Bool { facts.again }
    /// What to do about it.
    package var remedy: String { facts.remedy }
    /// The HTTP statuses that it comes with.
    package var statuses: [Int] { facts.statuses }

    private var facts: (statuses: [Int], origin: String, again: Bool, remedy: String) {
        switch self {
        case .unauthorised: ([401], "permission", false, "bring the key: `Authorization: Bearer KEY`")
        case .forbidden:
            (
                [403], "permission", false,
                "ask the server by its own address or as localhost, and not from a page in a browser"
            )
        case .notFound:
            (
                [404], "usage", false,
                "check the path; a session of another client, or one that has ended, is not there"
            )
        case .methodNotAllowed: ([405], "usage", false, "use a method of the header `Allow`")
        case .invalid: ([400], "configuration", false, "correct the member or the parameter that `field` names")
        case .malformed: ([400, 411, 417, 505], "usage", false, "send HTTP/1.1 with a content-length")
        case .timeout: ([408], "transport", true, "send the request faster")
        case .tooLarge: ([413, 414, 431], "configuration", false, "send less")
        case .unsupportedMediaType: ([415], "usage", false, "send the content-type that the message names")
        case .tooManySessions: ([429], "usage", true, "end a session")
        case .busy: ([429], "system", true, "ask again later")
        case .noRoomKey:
            ([409], "configuration", false, "start the server with `--room-secret-file` or `--room-key-file`")
        case .partnerAnswers: ([409], "usage", false, "make the session with `\"answers\": \"bot\"`")
        }
    }
}
