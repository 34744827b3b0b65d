internal import Synchronization

/// Cuts the near end into chunks while it comes; see ``VoiceEngine/openChunker(_:at:)``.
///
///     let chunker = try await engine.openChunker(.atSilence(minimum: .seconds(1), maximum: .seconds(15)))
///     for await chunk in chunker.chunks where !chunk.isSilent { await recogniser.recognise(chunk.waveFile) }
///
/// A recogniser may take its time: five minutes of chunks wait for it, four chunks at least. Then the newest are
/// dropped and counted, and the chunk behind them says so. Letting it go closes it; the engine's stop does too. What
/// was not complete then comes as a last chunk.
public final class SpeechChunker: Sendable {
    /// The chunks as they are complete, for one reader.
    public let chunks: AsyncStream<SpeechChunk>
    private let tap: SoundPointTap
    private let dropped = Mutex(0)

    /// How much sound waits for a slow reader.
    private static let backlog = Duration.seconds(300)
    private static let leastChunks = 4

    init(_ tap: SoundPointTap, _ cut: ChunkCut) {
        let capacity = max(Int(Self.backlog / cut.longest), Self.leastChunks)
        let (chunks, continuation) = AsyncStream.makeStream(
            of: SpeechChunk.self, bufferingPolicy: .bufferingOldest(capacity))
        self.chunks = chunks
        self.tap = tap
        let frames = tap.frames()
        Task { [weak self] in
            var cutter = ChunkCutter(cut)
            func give(_ chunk: SpeechChunk) {
                guard case .dropped = continuation.yield(chunk) else { return }
                self?.dropped.withLock { $0 += 1 }
                cutter.expectGap()
            }
            for await frame in frames { cutter.insert(frame).forEach(give) }
            if let rest = cutter.finish() { give(rest) }
            continuation.finish()
        }
    }

    deinit { close() }

    /// How many chunks were dropped because nobody took them.
    public var droppedChunks: Int { dropped.withLock { $0 } }

    /// Ends it, behind what was heard. May be called again.
    public func close() { tap.close() }
}

extension VoiceEngine {
    /// Cuts what a room gets of the microphone into chunks of 16 kHz, for recognisers that take speech piece by piece;
    /// one of the 16 taps.
    ///
    /// - Parameters:
    ///   - cut: where.
    ///   - point: of what; ``SoundPoint/processed`` hears the near talker while muted too.
    /// - Throws: ``EngineError/notStarted``, ``EngineError/invalidConfiguration(_:)``,
    ///   ``EngineError/resourcesExhausted(_:)``, ``EngineError/overloaded``.
    public func openChunker(
        _ cut: ChunkCut = .atSilence(minimum: .seconds(1), maximum: .seconds(15)), at point: SoundPoint = .sent
    ) throws(EngineError) -> SpeechChunker {
        try cut.validate()
        return SpeechChunker(try openTap(at: point, rate: .hertz16000), cut)
    }
}
