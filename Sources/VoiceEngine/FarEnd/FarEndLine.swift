internal import Synchronization
internal import VoiceRealtime
internal import VoiceSignal

/// The memory of a local far end, which both the client and the media thread use: the line lives until both have let go
/// of it.
final class FarEndLine: @unchecked Sendable {
    let nearEnd: SinkLine
    let cells: FarEndCells
    let room = Waiters()
    /// One more than the last utterance that has been played or broken off, and who waits for that.
    private let playedBound = Atomic<UInt64>(0)
    private let played = Waiters()
    let gate: TransferGate
    /// Touched by the media thread alone.
    let queue: OwnedMemory<SpeechQueue>
    /// Where what it says goes: to the room, as a stream; nil: to the mix. Touched by the media thread alone.
    let stream: StreamMemory?
    let encoding: StreamEncoding?
    /// Touched inside the gate alone.
    let feed: OwnedMemory<SpeechFeed>
    let events: AsyncStream<FarEndEvent>
    private let continuation: AsyncStream<FarEndEvent>.Continuation
    /// Whoever else is to know what the media thread tells, on the thread that forwards it; it tells of the end by
    /// `closed`.
    let observer = Mutex<(@Sendable (FarEndNews) -> Void)?>(nil)

    /// A ring holds somewhat more than may wait: what the end of a resampled utterance adds.
    private static let reserve = 512
    /// How many events wait for a slow listener before the oldest are dropped.
    private static let eventCapacity = 256

    init(_ configuration: FarEndConfiguration, encoding: StreamEncoding? = nil) throws(EngineError) {
        try configuration.validate()
        self.encoding = encoding
        if let encoding { stream = try StreamMemory(encoding) } else { stream = nil }
        let frames = configuration.queueFrames
        let samples = try FrameRing.made(frames: frames + Self.reserve)
        let marks = ValueRing<SpeechMark>(minimumCapacity: SpeechFeed.markCapacity)
        let nearEnd = try SinkLine(rate: configuration.nearEndRate)
        let made: SpeechFeed
        do throws(RateConverterError) {
            made = try SpeechFeed(
                samples: samples.producer, marks: marks.producer, limit: frames, cells: nearEnd.cells)
        } catch {
            throw .resourcesExhausted("\(error)")
        }
        self.nearEnd = nearEnd
        cells = nearEnd.cells
        gate = TransferGate.make()
        (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.eventCapacity))
        feed = OwnedMemory(made)
        queue = OwnedMemory(SpeechQueue(samples: samples.consumer, marks: marks.consumer, cells: nearEnd.cells))
        gate.open()
    }

    deinit { gate.free() }

    func post(_ event: FarEndEvent) {
        if case .utterancePlayed(let utterance, _) = event {
            playedBound.store(UInt64(utterance.rawValue) + 1, ordering: .releasing)
            played.resume()
        }
        continuation.yield(event)
    }

    /// Waits until all that has begun has been played or broken off, for the line's end or the task's cancellation.
    func waitUntilPlayed() async {
        let bound = cells.latestBound
        var isWaiting: Bool { playedBound.load(ordering: .acquiring) < bound }
        while isWaiting, !played.isOver, !Task.isCancelled {
            // It may have come to pass before this task was among those who wait.
            await played.wait { if !isWaiting { played.resume() } }
        }
    }

    /// Says that the media thread has let go of it: whatever is offered from now on is taken and dropped.
    func end() {
        cells.interrupt(through: .max)
        observer.withLock { $0.take() }?(FarEndNews(kind: .closed, line: 0))
        continuation.finish()
        room.end()
        played.end()
        nearEnd.waiters.end()
    }
}
