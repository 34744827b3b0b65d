/// Has one recogniser serve several, one turn after the other, in the order in which they come: many serve only one at a
/// time, and the next one's beginning ends the one before.
package actor SerialRecogniser: Recogniser {
    private var queue: RecogniserQueue

    package init(_ recogniser: any Recogniser) { queue = RecogniserQueue(recogniser) }

    package func prepare() async throws(PartnerError) { try await queue.recogniser.prepare() }

    package func recognise(
        _ sound: AsyncStream<[Float]>, partial: @escaping @Sendable (String) async -> Void
    ) async throws(PartnerError) -> String {
        try await queue.append(sound, partial: partial).text
    }
}

/// The turns that wait for one recogniser: a turn begins when the one before is done. One owner.
package struct RecogniserQueue {
    let recogniser: any Recogniser
    private var last: QueuedTurn?

    package init(_ recogniser: any Recogniser) { self.recogniser = recogniser }

    /// Has the recogniser hear a turn once all before it are done.
    package mutating func append(
        _ sound: AsyncStream<[Float]>, partial: @escaping @Sendable (String) async -> Void
    ) -> QueuedTurn {
        let task = Task { [recogniser, last] () -> Result<String, PartnerError> in
            await last?.finish()
            guard !Task.isCancelled else { return .success("") }
            do throws(PartnerError) {
                return .success(try await recogniser.recognise(sound, partial: partial))
            } catch {
                return .failure(error)
            }
        }
        let turn = QueuedTurn(task: task)
        last = turn
        return turn
    }
}

/// A turn that a recogniser hears, or will.
package struct QueuedTurn: Hashable, Sendable {
    fileprivate let task: Task<Result<String, PartnerError>, Never>

    /// Its words, empty where it was cancelled before it began. Whoever is cancelled while it waits cancels the turn:
    /// nobody wants it any more.
    package var text: String {
        get async throws(PartnerError) {
            try await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }.get()
        }
    }

    package var isCancelled: Bool { task.isCancelled }

    package func cancel() { task.cancel() }

    /// Waits for its end, whatever comes of it; whoever waits may be cancelled and does not cancel it.
    package func finish() async { _ = await task.value }
}
