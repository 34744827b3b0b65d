/// Why a dialog with an agent's server failed, as a name that stays the same from version to version; docs/errors.md is
/// the table of all.
package enum DialogErrorCode: String, Sendable, CaseIterable {
    case noKey = "dialog.noKey"
    case unknownHost = "dialog.unknownHost"
    case unreachable = "dialog.unreachable"
    case proxyRefused = "dialog.proxyRefused"
    case untrusted = "dialog.untrusted"
    case unauthorised = "dialog.unauthorised"
    case notFound = "dialog.notFound"
    case refused = "dialog.refused"
    case rateLimited = "dialog.rateLimited"
    case quotaExhausted = "dialog.quotaExhausted"
    case noAnswer = "dialog.noAnswer"
    case lost = "dialog.lost"
    case sessionExpired = "dialog.sessionExpired"
    case tooLarge = "dialog.tooLarge"
    case malformed = "dialog.malformed"
    case server = "dialog.server"

    /// Who or what stands in the way, as `ErrorOrigin` names it.
    package var origin: String { facts.origin }
    /// Whether the same may succeed later with nothing changed.
    package var isRetryable: Bool { facts.again }
    /// What to do about it.
    package var remedy: String { facts.remedy }

    private var facts: (origin: String, again: Bool, remedy: String) {
        switch self {
        case .noKey: ("configuration", false, "put the key into a file, or into the environment")
        case .unknownHost: ("transport", true, "check the server's name, and the network")
        case .unreachable: ("transport", true, "check that the server runs, its port, and the firewall")
        case .proxyRefused: ("transport", true, "check https_proxy, http_proxy and no_proxy")
        case .untrusted: ("permission", false, "check the URL; or give the file of the authority that signed it")
        case .unauthorised: ("permission", false, "check the key")
        case .notFound: ("configuration", false, "check the URL's path and the model's name")
        case .refused: ("transport", false, "check the URL; the explanation has the server's status")
        case .rateLimited: ("transport", true, "wait, or ask less often")
        case .quotaExhausted: ("permission", false, "check the account of the key")
        case .noAnswer: ("transport", true, "check the URL, and whether the server is overloaded")
        case .lost: ("transport", true, "check the network and the server")
        case .sessionExpired: ("transport", true, "connect again")
        case .tooLarge: ("transport", false, "the server sends more than any answer needs: do not use it")
        case .malformed: ("transport", false, "check the URL: what answers there speaks another protocol")
        case .server: ("transport", false, "see the server's own words in the explanation")
        }
    }
}

/// What failed, and a sentence for people.
package struct DialogError: Error, Equatable, Sendable {
    package var code: DialogErrorCode
    /// What, where, what to do. Holds no secret.
    package var explanation: String

    package init(_ code: DialogErrorCode, _ explanation: String) {
        self.code = code
        self.explanation = explanation
    }

    init(_ fault: ServerFault) {
        code =
            switch fault.code {
            case "invalid_api_key": .unauthorised
            case "rate_limit_exceeded": .rateLimited
            case "insufficient_quota": .quotaExhausted
            case "session_expired": .sessionExpired
            case "model_not_found": .notFound
            default: .server
            }
        let name = fault.code.isEmpty ? fault.type : fault.code
        explanation = "the server says: \(fault.message)\(name.isEmpty ? "" : " (\(name))")"
    }
}
