/// Why a partner does not hear, think or speak.
public enum PartnerError: Error, Equatable, Sendable {
    /// A program or library is not there; `package` is what to install.
    case notInstalled(String, package: String)
    /// A grammar, a voice or another setting is of no use.
    case invalidConfiguration(String)
    /// The recogniser failed.
    case recogniserFailed(String)
    /// Whoever thinks of the answers failed.
    case responderFailed(String)
    /// The synthesiser failed.
    case synthesiserFailed(String)
    /// A server refused or was lost: a code of docs/errors.md, and a sentence for people.
    case server(code: String, explanation: String)

    /// What went wrong, as a name for programs; see docs/errors.md.
    public var code: String {
        switch self {
        case .notInstalled: "partner.notInstalled"
        case .invalidConfiguration: "partner.invalidConfiguration"
        case .recogniserFailed: "partner.recogniserFailed"
        case .responderFailed: "partner.responderFailed"
        case .synthesiserFailed: "partner.synthesiserFailed"
        case .server(let code, _): code
        }
    }

    /// What is wrong and what to do, in one sentence for people.
    public var explanation: String {
        switch self {
        case .notInstalled(let name, let package):
            "\(name) is not installed: apt install \(package), or tools/setup --agent"
        case .invalidConfiguration(let text): text
        case .recogniserFailed(let text): "the recogniser failed: \(text)"
        case .responderFailed(let text): "no answer could be had: \(text)"
        case .synthesiserFailed(let text): "the synthesiser failed: \(text)"
        case .server(_, let explanation): explanation
        }
    }
}
