/// Has one recogniser serve several, one turn after the other, in the order in which they come: many serve only one at a
/// time, and the next one's beginning ends the one before.
package actor SerialRecogniser: Recogniser {
    private let recogniser: any Recogniser
    private var last: Task<Void, Never>?

    package init(_ recogniser: any Recogniser) { self.recogniser = recogniser }

    package func prepare() async throws(PartnerError) { try await recogniser.prepare() }

    package func recognise(
        _ sound: AsyncStream<[Float]>, partial: @escaping @Sendable (String) async -> Void
    ) async throws(PartnerError) -> String {
        let task = Task { [recogniser, last] () -> Result<String, PartnerError> in
            await last?.value
            guard !Task.isCancelled else { return .success("") }
            do throws(PartnerError) {
                return .success(try await recogniser.recognise(sound, partial: partial))
            } catch {
                return .failure(error)
            }
        }
        last = Task { _ = await task.value }
        return try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }.get()
    }
}
