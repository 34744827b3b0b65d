internal import VoiceSignal

/// The memory of a meter, which both the client and the media thread use: the line lives until both have let go of it.
final class MeterLine: Sendable {
    let cells = FarEndCells.make()
    let levels: AsyncStream<SoundLevels>
    private let continuation: AsyncStream<SoundLevels>.Continuation

    init() {
        (levels, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(LevelMeter.capacity))
    }

    deinit { cells.free() }

    func post(_ news: LevelNews, until time: Duration) {
        continuation.yield(
            SoundLevels(
                time: time, interval: .nanoseconds(news.nanoseconds), captured: .init(news.captured),
                near: .init(news.near), far: .init(news.far)))
    }

    /// Says that the media thread has let go of it.
    func end() { continuation.finish() }
}

extension SoundLevels.Level {
    init(_ sum: LevelSum) {
        let power = sum.frames > 0 ? Float(sum.energy / Double(sum.frames)) : 0
        rms = Self.bounded(decibelsFullScale(ofPower: power))
        peak = Self.bounded(decibelsFullScale(ofPower: sum.peak * sum.peak))
        isSpeaking = sum.isSpeaking
    }

    private static func bounded(_ level: Float) -> Float { min(0, max(silenceLevel, level)) }
}
