internal import VoicePartner

/// Has one recogniser serve all, one turn after the other, in the order in which they come.
///
/// Where nobody else needs it, it hears a turn while that is spoken, and has its words soon after its end. That one
/// must make room for whoever comes with a whole turn: nobody has the others wait by talking on and on.
actor Recognition {
    /// Hz.
    static let rate = 16_000

    private var queue: RecogniserQueue
    /// The turns that the recogniser hears, or that wait for it.
    private var turns: Set<QueuedTurn> = []
    /// The one that is still spoken.
    private var live: QueuedTurn?

    init(_ recogniser: any Recogniser) { queue = RecogniserQueue(recogniser) }

    /// The words of a turn, mono at ``rate``. Cancelled: nobody wants them any more.
    func recognise(_ samples: [Float]) async throws(PartnerError) -> String {
        live.take()?.cancel()
        let (sound, continuation) = AsyncStream.makeStream(of: [Float].self)
        continuation.yield(samples)
        continuation.finish()
        return try await append(sound) { _ in }.text
    }

    /// Has the recogniser hear a turn that is still spoken; nil where somebody else has it.
    func begin(
        _ sound: AsyncStream<[Float]>, partial: @escaping @Sendable (String) async -> Void
    ) -> QueuedTurn? {
        guard turns.allSatisfy(\.isCancelled) else { return nil }
        let turn = append(sound, partial: partial)
        live = turn
        return turn
    }

    /// That turn has been spoken. False where it had to make room meanwhile, so that nothing comes of it.
    func end(_ turn: QueuedTurn) -> Bool {
        guard live == turn else { return false }
        live = nil
        return true
    }

    private func append(
        _ sound: AsyncStream<[Float]>, partial: @escaping @Sendable (String) async -> Void
    ) -> QueuedTurn {
        let turn = queue.append(sound, partial: partial)
        turns.insert(turn)
        Task {
            await turn.finish()
            turns.remove(turn)
        }
        return turn
    }
}

/// The recogniser of one conversation among several that have only one.
struct SharedRecogniser: Recogniser {
    /// As much of a turn as is kept in case that it has to make room, frames.
    private static let longestTurn = 60 * Recognition.rate
    /// Pieces of 20 ms that wait for a slow recogniser: a minute.
    private static let longestBacklog = 3_000

    let recognition: Recognition

    func recognise(
        _ sound: AsyncStream<[Float]>, partial: @escaping @Sendable (String) async -> Void
    ) async throws(PartnerError) -> String {
        let (copy, continuation) = AsyncStream.makeStream(
            of: [Float].self, bufferingPolicy: .bufferingOldest(Self.longestBacklog))
        let live = await recognition.begin(copy, partial: partial)
        let heard = await withTaskCancellationHandler {
            var heard: [Float] = []
            for await samples in sound {
                heard += samples.prefix(Self.longestTurn - heard.count)
                continuation.yield(samples)
            }
            return heard
        } onCancel: {
            // At once: the next turn can then be heard while it is spoken.
            live?.cancel()
        }
        continuation.finish()
        let isWanted = !Task.isCancelled
        if let live, await recognition.end(live) { return isWanted ? try await live.text : "" }
        return isWanted ? try await recognition.recognise(heard) : ""
    }
}
