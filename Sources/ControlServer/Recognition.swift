internal import VoicePartner

/// Has one recogniser serve all, one turn after the other, in the order in which they come.
///
/// Where nobody else needs it, it hears a turn while that is spoken, and has its words soon after its end. That one
/// must make room for whoever comes with a whole turn: nobody has the others wait by talking on and on.
actor Recognition {
    /// Hz.
    static let rate = 16_000

    typealias Outcome = Result<String, PartnerError>

    private let recogniser: any Recogniser
    /// The last of those that have the recogniser or wait for it.
    private var last: Task<Void, Never>?
    /// All of those.
    private var users: Set<Task<Outcome, Never>> = []
    /// The one whose turn is still spoken.
    private var live: Task<Outcome, Never>?

    init(_ recogniser: any Recogniser) { self.recogniser = recogniser }

    /// The words of a turn, mono at ``rate``. Cancelled: nobody wants them any more.
    func recognise(_ samples: [Float]) async throws(PartnerError) -> String {
        live.take()?.cancel()
        let (sound, continuation) = AsyncStream.makeStream(of: [Float].self)
        continuation.yield(samples)
        continuation.finish()
        return try await outcome(of: start(sound) { _ in })
    }

    /// Has the recogniser hear a turn that is still spoken; nil where somebody else has it.
    func begin(
        _ sound: AsyncStream<[Float]>, partial: @escaping @Sendable (String) async -> Void
    ) -> Task<Outcome, Never>? {
        guard users.allSatisfy(\.isCancelled) else { return nil }
        let task = start(sound, partial: partial)
        live = task
        return task
    }

    /// That turn has been spoken. False where it had to make room meanwhile, so that nothing comes of it.
    func end(_ task: Task<Outcome, Never>) -> Bool {
        guard live == task else { return false }
        live = nil
        return true
    }

    /// What has come of a turn. Cancelled: nobody wants it any more.
    func outcome(of task: Task<Outcome, Never>) async throws(PartnerError) -> String {
        try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }.get()
    }

    private func start(
        _ sound: AsyncStream<[Float]>, partial: @escaping @Sendable (String) async -> Void
    ) -> Task<Outcome, Never> {
        let task = Task { [recogniser, last] () -> Outcome in
            await last?.value
            guard !Task.isCancelled else { return .success("") }
            do throws(PartnerError) {
                return .success(try await recogniser.recognise(sound, partial: partial))
            } catch {
                return .failure(error)
            }
        }
        users.insert(task)
        last = Task {
            _ = await task.value
            users.remove(task)
        }
        return task
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
        if let live, await recognition.end(live) { return isWanted ? try await recognition.outcome(of: live) : "" }
        return isWanted ? try await recognition.recognise(heard) : ""
    }
}
