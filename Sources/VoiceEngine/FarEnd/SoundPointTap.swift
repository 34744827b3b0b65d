/// The sound at one point of its way through the engine, as it passes there; see ``SoundPoint``.
///
///     let tap = try await engine.openTap(at: .processed, rate: .hertz16000)
///     for await frame in tap.frames() { recogniser.feed(frame.samples) }
///
/// A tap copies: nothing waits for its reader, and what nobody takes within 2 s is dropped and counted. Letting it go
/// closes it; the engine's stop does too.
public final class SoundPointTap: Sendable {
    /// Where the sound is tapped.
    public let point: SoundPoint
    private let line: SinkLine
    private let access: SinkAccess

    init(_ line: SinkLine, at point: SoundPoint) {
        self.point = point
        self.line = line
        access = SinkAccess(line)
    }

    deinit { close() }

    /// The rate of its samples.
    public var rate: SoundRate { line.rate }

    /// Fills as much of `output` as there is without a gap, at the tap's rate. Wait-free, also for a real-time thread
    /// of the client's; for one consumer, 0 frames where another call is under way. Up to 2 s wait here; then the
    /// newest is dropped and counted.
    @_noLocks @_noAllocation
    public func take(into output: inout MutableSpan<Float>) -> SoundTake { access.take(into: &output) }

    /// The same as frames of 10 or 20 ms, as they come, with the time of each at the microphone's ADC; of
    /// ``SoundPoint/mix`` at the DAC, as predicted.
    public func frames(_ duration: SoundFrames.FrameDuration = .milliseconds10) -> SoundFrames {
        SoundFrames(line: line, milliseconds: duration.rawValue, sink: self)
    }

    /// Frames of 48 kHz that were dropped because nobody took them.
    public var droppedFrames: Int { line.droppedFrames }

    /// Ends it. May be called again.
    public func close() { line.cells.close() }
}
