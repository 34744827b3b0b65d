public import VoiceRooms

/// The sound of one participant of a room by itself: as it is decoded and concealed, before volume and mix; of one who
/// gives way (``VoiceEngine/setBargeIn(_:for:)``), as it is heard: held, gone on with, or given up.
///
/// There is sound while the participant has a slot (``EngineConfiguration/maximumStreams``); between, gaps. Its times
/// are those at which it will leave the DAC, as predicted. Letting it go closes it; the engine's stop does too.
public final class ParticipantSink: Sendable {
    /// Whose sound it is.
    public let participant: ParticipantID
    private let line: SinkLine
    private let access: SinkAccess

    init(_ line: SinkLine, of participant: ParticipantID) {
        self.participant = participant
        self.line = line
        access = SinkAccess(line)
    }

    deinit { close() }

    /// Fills as much of `output` as there is without a gap, at the sink's rate. Wait-free; for one consumer, 0 frames
    /// where another call is under way. Up to 2 s wait here; then the newest is dropped and counted.
    @_noLocks @_noAllocation
    public func take(into output: inout MutableSpan<Float>) -> SoundTake { access.take(into: &output) }

    /// The same as frames of 10 or 20 ms, as they come.
    public func frames(_ duration: SoundFrames.FrameDuration = .milliseconds10) -> SoundFrames {
        SoundFrames(line: line, milliseconds: duration.rawValue, sink: self)
    }

    /// Frames of 48 kHz that were dropped because nobody took them.
    public var droppedFrames: Int { line.droppedFrames }

    /// Ends it. May be called again.
    public func close() { line.cells.close() }
}
