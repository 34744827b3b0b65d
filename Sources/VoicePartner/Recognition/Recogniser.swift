/// Turns speech into text.
///
/// It is called in tasks of Swift's cooperative pool, several at once where several talks share it. What blocks belongs
/// on a thread of its own.
public protocol Recogniser: Sendable {
    /// Makes ready what takes long; to be called once before the first use. Throws what is in the way of every use.
    func prepare() async throws(PartnerError)

    /// Recognises what is said in one turn.
    ///
    /// - Parameters:
    ///   - sound: mono at 16 kHz, full scale ±1, as it comes; ends with the turn.
    ///   - partial: to be called with what is believed so far, where the recogniser knows it.
    /// - Returns: the words; empty where there are none. Where the task is cancelled, nobody wants them any more.
    func recognise(
        _ sound: AsyncStream<[Float]>, partial: @escaping @Sendable (String) async -> Void
    ) async throws(PartnerError) -> String
}

extension Recogniser {
    /// Has nothing to make ready.
    public func prepare() async throws(PartnerError) {}
}
