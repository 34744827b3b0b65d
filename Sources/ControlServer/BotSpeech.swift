internal import ControlAPI
internal import Synchronization
internal import VoiceEngine
internal import VoicePartner

/// What a bot says in one turn, in one piece or as it comes.
///
/// Overflow: ``pieceLimit`` pieces wait; one more is refused, and the client brings it again. So a sound of any length
/// goes through a memory of a few pieces.
final class BotSpeech: Sendable {
    /// One request's share.
    enum Piece: Sendable {
        /// Sentences may go on in the next.
        case text(String)
        /// A sound file.
        case sound([UInt8])
    }

    /// Pieces that wait behind the one that is spoken.
    static let pieceLimit = 2

    private struct State {
        var isOpen = true
        var waiting = 0
        var task: Task<Void, Never>?
    }

    let turn: TurnID
    private let pieces: AsyncStream<Piece>.Continuation
    private let state = Mutex(State())

    /// - Parameters:
    ///   - patience: how long the next piece may take; then the speech is over as it is.
    ///   - failed: called where it cannot be spoken.
    init(
        _ answer: SpokenAnswer, _ synthesiser: any Synthesiser, patience: Duration,
        failed: @escaping @Sendable (PartnerError) -> Void
    ) {
        turn = answer.turn
        let (stream, continuation) = AsyncStream.makeStream(of: Piece.self)
        pieces = continuation
        let task = Task {
            if let error = await self.speak(stream, answer, synthesiser, patience) { failed(error) }
            self.close()
            await answer.finish()
        }
        state.withLock { $0.task = task }
    }

    /// Whether more may come.
    var isOpen: Bool { state.withLock { $0.isOpen } }

    func cancel() {
        let task = state.withLock { state in
            state.isOpen = false
            return state.task
        }
        task?.cancel()
    }

    /// Takes a piece. Returns how many wait.
    func append(_ piece: Piece, isLast: Bool) throws(ControlError) -> Int {
        let waiting: Int? = try state.withLock { state throws(ControlError) in
            guard state.isOpen else { throw ControlError(409, "turn.over", "what was said in that turn is over") }
            guard state.waiting < Self.pieceLimit else { return nil }
            state.waiting += 1
            if isLast { state.isOpen = false }
            // Within the lock, so that they are in the order in which they are counted.
            pieces.yield(piece)
            return state.waiting
        }
        guard let waiting else {
            throw ControlError(
                .busy, "\(Self.pieceLimit) pieces wait to be spoken; bring this one again a little later")
        }
        if isLast { pieces.finish() }
        return waiting
    }

    private func close() {
        state.withLock { $0.isOpen = false }
        pieces.finish()
    }

    /// Ends it where nothing has come meanwhile.
    private func closeUnlessWaiting() {
        let closes = state.withLock { state in
            guard state.waiting == 0 else { return false }
            state.isOpen = false
            return true
        }
        if closes { pieces.finish() }
    }

    private func speak(
        _ stream: AsyncStream<Piece>, _ answer: SpokenAnswer, _ synthesiser: any Synthesiser, _ patience: Duration
    ) async -> PartnerError? {
        var splitter = SentenceSplitter()
        var iterator = stream.makeAsyncIterator()
        while true {
            let alarm = Task {
                guard (try? await Task.sleep(for: patience)) != nil else { return }
                self.closeUnlessWaiting()
            }
            let next = await iterator.next()
            alarm.cancel()
            guard let next else { break }
            state.withLock { $0.waiting -= 1 }
            switch next {
            case .text(let text):
                if let error = await Self.say(splitter.append(text), answer, synthesiser) { return error }
            case .sound(let sound):
                // A sentence does not go on behind a sound.
                if let rest = splitter.finish(), let error = await Self.say([rest], answer, synthesiser) {
                    return error
                }
                splitter = SentenceSplitter()
                _ = try? await answer.play(encoded: .bytes(sound))
            }
        }
        guard let rest = splitter.finish() else { return nil }
        return await Self.say([rest], answer, synthesiser)
    }

    private static func say(
        _ sentences: [String], _ answer: SpokenAnswer, _ synthesiser: any Synthesiser
    ) async -> PartnerError? {
        for sentence in sentences where !Task.isCancelled {
            do throws(PartnerError) { try await answer.speak(sentence, by: synthesiser) } catch { return error }
        }
        return nil
    }
}
