internal import CDuplexVoice
internal import Synchronization
internal import VoiceEngine
internal import VoiceRealtime

/// The object behind a `dv_engine`.
///
/// Control functions hold it by ``HandledObject/held(_:)``, so that any number of them may run, also while it is
/// destroyed: the engine's actor puts them in order. The sound sides go past the actor, by the pointers of a
/// ``ClientDevice``.
final class EngineObject: HandledObject {
    static var handleKind: UInt8 { HandleKind.engine }

    let engine: VoiceEngine
    let events: EventQueue
    let tokens = TokenSlot()
    /// The words of the utterance that is said at present.
    private let captions = Mutex<CaptionTrack?>(nil)
    /// Nil where the engine has sound cards.
    private let client: ClientDevice?
    private let transfers: ClientTransfers?

    init(_ configuration: EngineConfiguration) throws(Failure) {
        if case .custom(let device) = configuration.device { client = device as? ClientDevice } else { client = nil }
        transfers = client?.transfers
        engine = VoiceEngine(configuration)
        events = try EventQueue()
        events.follow(engine.events)
    }

    // MARK: Control

    /// Does `body` on the engine's control thread.
    func perform<Outcome: Sendable>(
        _ body: @escaping @Sendable (isolated VoiceEngine) throws(EngineError) -> Outcome
    ) throws(Failure) -> Outcome {
        do throws(EngineError) {
            return try engine.wait { engine in Result { () throws(EngineError) in try body(engine) } }.get()
        } catch {
            throw Failure(error)
        }
    }

    /// The same of what suspends.
    func complete<Outcome: Sendable>(
        _ body: @escaping @Sendable (isolated VoiceEngine) async -> Result<Outcome, EngineError>
    ) throws(Failure) -> Outcome {
        do throws(EngineError) { return try engine.wait(untilDone: body).get() } catch { throw Failure(error) }
    }

    /// Adds words to the captions of an utterance, the present one or the next, and has the room know.
    func addCaption(
        _ words: String, from start: Duration, to end: Duration?, of utterance: UInt32, isWhole: Bool
    ) throws(Failure) {
        try captions.withLock { kept throws(Failure) in
            var track = CaptionTrack(utterance: utterance)
            if let present = kept, present.utterance == utterance { track = present }
            guard track.append(words, from: start, to: end) else {
                throw .argument(
                    "start_ms lies before the last piece's, end_ms before start_ms, or there are 2048 pieces; give words in their order"
                )
            }
            let changed = track
            try perform { engine throws(EngineError) in try engine.setCaptions(changed, isWhole: isWhole) }
            kept = changed
        }
    }

    // MARK: Sound

    /// As ``ClientDevice/sendAudioData(_:time:)``; the samples are only read.
    @_noLocks @_noAllocation
    func send(
        _ samples: UnsafePointer<Float>?, _ frames: Int, _ time: Int64, _ taken: UnsafeMutablePointer<Int>?
    ) -> dv_status {
        guard let transfers else { return DV_WRONG_STATE }
        guard let samples = unsafe samples, SoundCall.takes(frames), SoundCall.isTime(time) else {
            return DV_INVALID_ARGUMENT
        }
        let span = unsafe MutableSpan(_unsafeStart: UnsafeMutablePointer(mutating: samples), count: frames)
        let count = transfers.send(span, time: monotonic(time))
        if let taken = unsafe taken { unsafe taken.pointee = count }
        return DV_OK
    }

    /// As ``ClientDevice/sendReferenceData(_:time:)``.
    @_noLocks @_noAllocation
    func sendReference(
        _ samples: UnsafePointer<Float>?, _ frames: Int, _ time: Int64, _ taken: UnsafeMutablePointer<Int>?
    ) -> dv_status {
        guard let transfers else { return DV_WRONG_STATE }
        guard let samples = unsafe samples, SoundCall.takes(frames), SoundCall.isTime(time) else {
            return DV_INVALID_ARGUMENT
        }
        let span = unsafe MutableSpan(_unsafeStart: UnsafeMutablePointer(mutating: samples), count: frames)
        let count = transfers.sendReference(span, time: monotonic(time))
        if let taken = unsafe taken { unsafe taken.pointee = count }
        return DV_OK
    }

    /// As ``ClientDevice/pullPlayback(into:time:)``.
    @_noLocks @_noAllocation
    func pull(
        _ samples: UnsafeMutablePointer<Float>, _ frames: Int, _ time: Int64, _ given: UnsafeMutablePointer<Int>?
    ) -> dv_status {
        guard let transfers else { return DV_WRONG_STATE }
        guard SoundCall.isTime(time) else { return DV_INVALID_ARGUMENT }
        var span = unsafe MutableSpan(_unsafeStart: samples, count: frames)
        let count = transfers.pull(into: &span, time: monotonic(time))
        if let given = unsafe given { unsafe given.pointee = count }
        return DV_OK
    }
}

/// Nil for 0: not known.
@_noLocks @_noAllocation
private func monotonic(_ nanoseconds: Int64) -> MonotonicTime? {
    nanoseconds == 0 ? nil : MonotonicTime(nanoseconds: nanoseconds)
}
