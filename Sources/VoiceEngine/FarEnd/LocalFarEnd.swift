public import VoiceDevices
internal import VoiceRealtime
public import VoiceTurns

/// A far end in this process: an agent, a prompt, whatever else talks to the near end without being in a room.
///
///     let agent = try await engine.openFarEnd()
///     for await frame in agent.nearEnd() { ... }
///     await agent.play(samples, rate: .hertz24000, utterance: 1)
///
/// It is mixed with whoever is in the room, is in the echo canceller's reference, and hears what a room would hear.
/// Methods may be called from any thread; what plays is one producer at a time, what takes one consumer at a time.
/// Letting it go closes it; the engine's stop does too.
public final class LocalFarEnd: Sendable {
    /// Which one it is, in ``EngineStatistics/farEnds``.
    public let id: FarEndID
    private let line: FarEndLine
    /// The line's pointers, since real-time code may not count references.
    package let access: FarEndAccess

    init(_ line: FarEndLine, number: UInt64) {
        id = FarEndID(rawValue: number)
        self.line = line
        access = FarEndAccess(line)
    }

    deinit { close() }

    /// What becomes of the utterances. One listener; the newest 256 are kept for it.
    public var events: AsyncStream<FarEndEvent> { line.events }

    // MARK: What it says

    /// Queues sound of an utterance; suspends while the queue is full. Faster than real time is normal.
    ///
    /// An utterance begins with the first sound of its number, which ends the one before; numbers rise. What comes of
    /// an utterance that has ended, or that was interrupted, is dropped without an error, as a cancellation is none.
    ///
    /// - Parameters:
    ///   - samples: mono, full scale ±1; beyond it is clipped.
    ///   - rate: of the samples.
    ///   - utterance: which utterance they belong to.
    /// - Returns: whether all was queued; false where the utterance was over, the far end is closed, or the task was
    ///   cancelled.
    @discardableResult
    public func play(
        _ samples: [Float], rate: SoundRate = .hertz48000, utterance: UtteranceID
    ) async -> Bool {
        await play(samples, rate: rate, utterance: utterance) { _ in }
    }

    /// The same of 16-bit samples.
    @discardableResult
    public func play(
        _ samples: [Int16], rate: SoundRate = .hertz48000, utterance: UtteranceID
    ) async -> Bool {
        await play(samples, rate: rate, utterance: utterance) { _ in }
    }

    /// Queues a whole sound that is encoded, as a file or a speech service has it; suspends while the queue is full.
    ///
    /// It is decoded piece by piece on a thread of its own, so that a long one needs no more memory than a short one.
    /// Channels are mixed, other rates are resampled. The utterance goes on until ``finish(_:)``, or until the next one
    /// begins: several sounds may be parts of one.
    ///
    /// - Returns: as ``play(_:rate:utterance:)``.
    /// - Throws: what is wrong with the sound; what came before that has been queued.
    @discardableResult
    public func play(encoded sound: EncodedSound, utterance: UtteranceID) async throws(AudioFileError) -> Bool {
        try await play(encoded: sound, utterance: utterance) { _ in }
    }

    func play(
        encoded sound: EncodedSound, utterance: UtteranceID, whenTaken: (Int) -> Void
    ) async throws(AudioFileError) -> Bool {
        let decoder = SoundDecoder(sound)
        while mayGoOn(utterance) {
            let piece = try await decoder.next()
            guard !piece.isEmpty else { return mayGoOn(utterance) }
            guard await play(piece, rate: .hertz48000, utterance: utterance, whenTaken: whenTaken) else { break }
        }
        return false
    }

    /// As the public one; `whenTaken` is told how many samples were taken, each time that some were.
    func play(_ samples: [Float], rate: SoundRate, utterance: UtteranceID, whenTaken: (Int) -> Void) async -> Bool {
        await queue(samples.count, rate, utterance, whenTaken) { first in
            offer(samples.span.extracting(first...), rate: rate, utterance: utterance)
        }
    }

    func play(_ samples: [Int16], rate: SoundRate, utterance: UtteranceID, whenTaken: (Int) -> Void) async -> Bool {
        await queue(samples.count, rate, utterance, whenTaken) { first in
            offer(samples.span.extracting(first...), rate: rate, utterance: utterance)
        }
    }

    /// Offers from the first sample on that was not taken until all were.
    private func queue(
        _ count: Int, _ rate: SoundRate, _ utterance: UtteranceID, _ whenTaken: (Int) -> Void, offerFrom: (Int) -> Int
    ) async -> Bool {
        var done = 0
        while done < count {
            guard mayGoOn(utterance) else { return false }
            let taken = offerFrom(done)
            if taken > 0 { whenTaken(taken) }
            done += taken
            if done < count { await waitForRoom((count - done) * rate.ratio) }
        }
        return mayGoOn(utterance)
    }

    private func mayGoOn(_ utterance: UtteranceID) -> Bool {
        UInt64(utterance.rawValue) >= line.cells.interruptedBound && !line.cells.isClosed && !line.room.isOver
            && !Task.isCancelled
    }

    /// Waits until there is room for `frames` of 48 kHz, or for a quarter of the queue.
    private func waitForRoom(_ frames: Int) async {
        let cells = line.cells
        let limit = access.limit
        await line.room.wait { cells.wantedRoom = limit - min(frames, limit / 4) }
    }

    /// Waits until all that has begun has been played or broken off, for its end or the task's cancellation.
    func waitUntilPlayed() async { await line.waitUntilPlayed() }

    /// Says that nothing more comes of an utterance: what is queued is played to its end.
    /// ``FarEndEvent/utterancePlayed(_:_:)`` tells of that.
    public func finish(_ utterance: UtteranceID) async {
        while !access.finish(utterance.rawValue) { await Task.yield() }
    }

    /// Queues what there is room for, from one real-time thread: wait-free. Returns how many samples were taken: 0 also
    /// where another call is under way.
    ///
    /// What comes too late is taken to no effect, as ``play(_:rate:utterance:)`` has it. With `isLast` the utterance
    /// ends where all was taken.
    @_noLocks @_noAllocation
    public func offer(
        _ samples: Span<Float>, rate: SoundRate = .hertz48000, utterance: UtteranceID, isLast: Bool = false
    ) -> Int {
        access.offer(SoundSamples(samples), rate: rate, utterance: utterance.rawValue, isLast: isLast)
    }

    /// The same of 16-bit samples.
    @_noLocks @_noAllocation
    public func offer(
        _ samples: Span<Int16>, rate: SoundRate = .hertz48000, utterance: UtteranceID, isLast: Bool = false
    ) -> Int {
        access.offer(SoundSamples(samples), rate: rate, utterance: utterance.rawValue, isLast: isLast)
    }

    /// Gives up every utterance that has begun: what waits of them is dropped behind a fade of 5 ms at the media
    /// thread's next block, and nothing of them is heard after it, whatever is still on its way here. An utterance of a
    /// higher number is not touched. From any thread; wait-free.
    @_noLocks @_noAllocation
    public func interrupt() { access.cells.interrupt() }

    /// Gives up every utterance up to this one, also where it has not begun: what still comes of it is dropped. From
    /// any thread; wait-free.
    @_noLocks @_noAllocation
    public func interrupt(through utterance: UtteranceID) { access.cells.interrupt(through: utterance.rawValue) }

    /// Scales what is heard of it: 0 silences, 1 leaves it, up to 4 (+12 dB). Any thread; wait-free.
    ///
    /// - Throws: ``EngineError/invalidConfiguration(_:)``.
    public func setVolume(_ volume: Float) throws(EngineError) {
        guard (0...4).contains(volume) else { throw .invalidConfiguration("the volume is \(volume); use 0...4") }
        line.cells.gain = volume
    }

    // MARK: What it hears

    /// Takes what the microphone heard and a room would get: echo cancelled, noise suppressed, levelled, and silence
    /// while muted; at ``FarEndConfiguration/nearEndRate``, mono. Fills as much of `output` as there is without a gap.
    /// Wait-free; 0 frames also where another call is under way.
    ///
    /// Up to 2 s wait here; then the newest is dropped and counted, since the oldest may be under the reader's hands.
    @_noLocks @_noAllocation
    public func takeNearEnd(into output: inout MutableSpan<Float>) -> SoundTake {
        access.take(into: &output)
    }

    /// The same as frames of 10 or 20 ms, as they come.
    public func nearEnd(_ duration: SoundFrames.FrameDuration = .milliseconds10) -> SoundFrames {
        SoundFrames(line: line.nearEnd, milliseconds: duration.rawValue, sink: line)
    }

    /// Frames of 48 kHz of the near end that were dropped because nobody took them.
    public var droppedNearEndFrames: Int { line.nearEnd.droppedFrames }

    /// Ends it: what it was saying fades out, and ``events`` end behind what was heard. May be called again.
    public func close() {
        line.cells.close()
        line.room.resume()
    }
}

/// The pointers of a far end's line, for real-time code; to be used no longer than the far end lives.
@safe
package struct FarEndAccess: BitwiseCopyable, @unchecked Sendable {
    let cells: FarEndCells
    let limit: Int
    private let gate: TransferGate
    private let feed: UnsafeMutablePointer<SpeechFeed>
    private let sink: SinkAccess

    init(_ line: FarEndLine) {
        cells = line.cells
        limit = unsafe line.feed.pointer.pointee.limit
        gate = line.gate
        unsafe feed = line.feed.pointer
        sink = SinkAccess(line.nearEnd)
    }

    @_noLocks @_noAllocation
    package func offer(_ samples: SoundSamples, rate: SoundRate, utterance: UInt32, isLast: Bool) -> Int {
        guard gate.enter() else { return 0 }
        let taken = unsafe feed.pointee.offer(samples, rate: rate, utterance: utterance, isLast: isLast)
        gate.leave()
        return taken
    }

    @_noLocks @_noAllocation
    package func finish(_ utterance: UInt32) -> Bool {
        guard gate.enter() else { return false }
        unsafe feed.pointee.finish(utterance)
        gate.leave()
        return true
    }

    @_noLocks @_noAllocation
    package func take(into output: inout MutableSpan<Float>) -> SoundTake { sink.take(into: &output) }
}
