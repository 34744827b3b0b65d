/// Thinks of answers.
public protocol Responder: Sendable {
    /// Makes ready what takes long; to be called once before the first use. Throws what is in the way of every use.
    func prepare() async throws(PartnerError)

    /// Answers the last line of `dialogue`, which is the near talker's.
    ///
    /// - Parameter say: takes the next piece of the answer, of any length; false where no more is wanted. Then, and where the task is cancelled, it returns.
    func respond(
        to dialogue: Dialogue, say: @escaping @Sendable (String) async -> Bool
    ) async throws(PartnerError)
}

extension Responder {
    /// Has nothing to make ready.
    public func prepare() async throws(PartnerError) {}
}
