/// Why a partner of this process failed, as a name that stays the same from version to version; docs/errors.md is the
/// table of all.
package enum PartnerErrorCode: String, Sendable, CaseIterable {
    case notInstalled = "partner.notInstalled"
    case invalidConfiguration = "partner.invalidConfiguration"
    case recogniserFailed = "partner.recogniserFailed"
    case responderFailed = "partner.responderFailed"
    case synthesiserFailed = "partner.synthesiserFailed"

    /// Who or what stands in the way, as `ErrorOrigin` names it, or which part of the partner.
    package var origin: String { facts.origin }
    /// Whether the same may succeed later with nothing changed.
    package var isRetryable: Bool { facts.again }
    /// What to do about it.
    package var remedy: String { facts.remedy }

    private var facts: (origin: String, again: Bool, remedy: String) {
        switch self {
        case .notInstalled: ("system", false, "install what the explanation names: tools/setup --agent")
        case .invalidConfiguration:
            ("configuration", false, "correct the grammar, the voice or the number that the explanation names")
        case .recogniserFailed:
            (
                "recogniser", true,
                "the turn is lost, say it again; if it comes back, check the model in /usr/share/pocketsphinx"
            )
        case .responderFailed: ("model", true, "ask again; what the explanation says is the responder's own reason")
        case .synthesiserFailed:
            ("synthesiser", true, "check that `espeak-ng --voices` has the voice, and the process's limits")
        }
    }
}

/// Why a partner does not hear, think or speak.
public enum PartnerError: Error, Equatable, Sendable, CustomStringConvertible {
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
        case .notInstalled: PartnerErrorCode.notInstalled.rawValue
        case .invalidConfiguration: PartnerErrorCode.invalidConfiguration.rawValue
        case .recogniserFailed: PartnerErrorCode.recogniserFailed.rawValue
        case .responderFailed: PartnerErrorCode.responderFailed.rawValue
        case .synthesiserFailed: PartnerErrorCode.synthesiserFailed.rawValue
        case .server(let code, _): code
        }
    }

    /// The ``explanation``.
    public var description: String { explanation }

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
