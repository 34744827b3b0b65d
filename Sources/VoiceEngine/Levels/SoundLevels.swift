/// How loud both ends were during an interval, and whether somebody spoke.
public struct SoundLevels: Equatable, Sendable {
    /// The level of one end.
    public struct Level: Equatable, Sendable {
        /// RMS over the interval, dBFS; a full-scale square wave has 0, digital silence -127.
        public var rms: Float
        /// The highest sample, dBFS; -127 for silence.
        public var peak: Float
        /// Whether somebody spoke in any of it; nil where nobody can tell.
        public var isSpeaking: Bool?
    }

    /// When the interval ended, on the monotonic clock since its epoch.
    public var time: Duration
    /// How long it was: what was asked for, to a period of the device; longer where a report before it was lost.
    public var interval: Duration
    /// The microphone as it was captured. Nobody looks for speech here.
    public var captured: Level
    /// The near talker, behind echo canceller, noise suppressor and gain control; also while muted, so that an app can
    /// say so to who speaks then. Speech is what the engine's detector finds (``ProcessingSettings``); nil where that
    /// is off.
    public var near: Level
    /// All that is played, before the output volume. "Speaking" is whether 10 ms of it were above -50 dBFS: of what is
    /// played the engine knows the level alone.
    public var far: Level
}

/// Reports of how loud both ends are; see ``VoiceEngine/openMeter(every:)``. Letting it go closes it; the engine's stop
/// does too.
public final class LevelMeter: Sendable {
    /// The shortest and the longest interval.
    public static let intervals: ClosedRange<Duration> = .milliseconds(10) ... .seconds(10)
    /// How many meters can be open at once.
    public static let maximumMeters = 4
    /// How many reports wait for a slow reader before the oldest are dropped.
    static let capacity = 64

    /// The reports as they come, for one reader; the newest 64 are kept for it.
    public var levels: AsyncStream<SoundLevels> { line.levels }

    private let line: MeterLine

    init(_ line: MeterLine) { self.line = line }

    deinit { close() }

    /// Ends it. May be called again.
    public func close() { line.cells.close() }
}

extension VoiceEngine {
    /// Measures how loud both ends are, from now on; up to ``LevelMeter/maximumMeters`` at once, each with its own
    /// interval.
    ///
    /// - Parameter interval: from one report to the next, 10 ms to 10 s.
    /// - Throws: ``EngineError/notStarted``, ``EngineError/invalidConfiguration(_:)``,
    ///   ``EngineError/resourcesExhausted(_:)``, ``EngineError/overloaded``.
    public func openMeter(every interval: Duration = .milliseconds(100)) throws(EngineError) -> LevelMeter {
        guard let core else { throw .notStarted }
        return try core.openMeter(every: interval)
    }
}

extension EngineCore {
    /// A meter that the media thread feeds from its next run on. Allocates.
    package func openMeter(every interval: Duration) throws(EngineError) -> LevelMeter {
        guard LevelMeter.intervals.contains(interval) else {
            throw .invalidConfiguration("the meter's interval is \(interval); use 10 ms to 10 s")
        }
        let line = MeterLine()
        let number = try farEnds.add(line)
        do throws(EngineError) {
            try send(.openMeter(MeterHandle(line, number: number, interval: interval)))
        } catch {
            farEnds.remove(number)
            throw error
        }
        return LevelMeter(line)
    }
}
