internal import Synchronization

/// What an app asks of a partner while that converses: to say something, to answer a question that nobody spoke, or to
/// know the app's parameters.
///
///     let requests = PartnerRequests()
///     let partner = CascadePartner(recogniser: …, responder: …, synthesiser: …, requests: requests)
///     await requests.say("One moment, please.")
///     await requests.ask("What is on the agenda?")
///     await requests.update(["user": "Ada", "page": "calendar"])
///
/// From any thread. One partner takes them, while it converses.
public final class PartnerRequests: Sendable {
    /// Parameters, at most.
    public static let parameterLimit = 32
    /// Bytes of UTF-8 of all parameters, at most.
    public static let parameterByteLimit = 4_096

    package enum Request: Sendable {
        case say(String)
        case ask(String)
        case update([String: String])
    }

    private let taker = Mutex<(@Sendable (Request) async -> Bool)?>(nil)

    /// Nobody takes them yet.
    public init() {}

    /// Has the partner say this, as an answer that nobody asked for: it may be spoken into, is in the history, and is
    /// told by events. What is under way of an answer is cancelled.
    ///
    /// The near talker comes first. Whose speech was detected has the turn, and this is refused. Whose speech is
    /// detected afterwards interrupts it, also before its first sound: then nothing of it is heard, and
    /// ``PartnerEvent/answered(_:_:)`` tells so. It is not said later by itself.
    ///
    /// - Returns: false where nobody converses, or while the near talker has the turn.
    @discardableResult
    public func say(_ text: String) async -> Bool { await take(.say(text)) }

    /// Has the partner answer this, as if the near talker had said it. What is under way of an answer is cancelled.
    ///
    /// - Returns: as ``say(_:)``.
    @discardableResult
    public func ask(_ text: String) async -> Bool { await take(.ask(text)) }

    /// Has the responder know these parameters of the app with each question from now on (``Dialogue/parameters``);
    /// those of the same name are replaced, an empty value removes one.
    ///
    /// - Returns: false where nobody converses, and where they would be more than ``parameterLimit`` or
    ///   ``parameterByteLimit``.
    @discardableResult
    public func update(_ parameters: [String: String]) async -> Bool { await take(.update(parameters)) }

    private func take(_ request: Request) async -> Bool {
        guard let taker = taker.withLock({ $0 }) else { return false }
        return await taker(request)
    }

    /// Takes what is asked from now on; nil: nobody does.
    package func serve(_ body: (@Sendable (Request) async -> Bool)?) { taker.withLock { $0 = body } }
}
