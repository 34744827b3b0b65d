/// Thinks of answers.
///
/// It is called in tasks of Swift's cooperative pool, several at once where several talks share it. What blocks belongs
/// on a thread of its own.
public protocol Responder: Sendable {
    /// Makes ready what takes long; to be called once before the first use. Throws what is in the way of every use.
    func prepare() async throws(PartnerError)

    /// Answers the last line of `dialogue`, which is the near talker's.
    ///
    /// - Parameters:
    ///   - dialogue: what was said so far, as far as it was heard.
    ///   - say: takes the next piece of the answer, of any length; false where no more is wanted. Then, and where the
    ///     task is cancelled, it returns.
    func respond(
        to dialogue: Dialogue, say: @escaping @Sendable (String) async -> Bool
    ) async throws(PartnerError)

    /// Answers, and may have functions called; each is a line of the next dialogue with its outcome
    /// (``Dialogue/Line/call(_:outcome:)``), which is to be answered then.
    ///
    /// - Parameters:
    ///   - dialogue: what was said so far, as far as it was heard.
    ///   - tools: the functions that there are.
    ///   - say: takes the next piece of the answer, as in ``respond(to:say:)``.
    ///   - call: has a function called; false where no more is wanted.
    func respond(
        to dialogue: Dialogue, tools: [ResponderTool], say: @escaping @Sendable (String) async -> Bool,
        call: @escaping @Sendable (ResponderCall) async -> Bool
    ) async throws(PartnerError)
}

extension Responder {
    /// Has nothing to make ready.
    public func prepare() async throws(PartnerError) {}

    /// Answers without functions.
    public func respond(
        to dialogue: Dialogue, tools: [ResponderTool], say: @escaping @Sendable (String) async -> Bool,
        call: @escaping @Sendable (ResponderCall) async -> Bool
    ) async throws(PartnerError) {
        try await respond(to: dialogue, say: say)
    }
}
