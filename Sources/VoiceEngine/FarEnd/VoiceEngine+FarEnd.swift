public import VoiceRooms

extension VoiceEngine {
    /// Opens a far end in this process, beside the room or without one; up to ``FarEndConfiguration/maximumFarEnds`` at
    /// once.
    ///
    /// - Throws: ``EngineError/notStarted``, ``EngineError/invalidConfiguration(_:)``,
    ///   ``EngineError/resourcesExhausted(_:)``, ``EngineError/overloaded``.
    public func openFarEnd(
        _ configuration: FarEndConfiguration = FarEndConfiguration()
    ) throws(EngineError) -> LocalFarEnd {
        guard let core else { throw .notStarted }
        return try core.openFarEnd(configuration)
    }

    /// Opens a sink for what is heard of one participant, at `rate`; up to 16 at once, with taps. One who is not in the
    /// room gives no sound.
    ///
    /// - Throws: ``EngineError/notStarted``, ``EngineError/resourcesExhausted(_:)``, ``EngineError/overloaded``.
    public func openSink(
        of participant: ParticipantID, rate: SoundRate = .hertz16000
    ) throws(EngineError) -> ParticipantSink {
        guard let core else { throw .notStarted }
        return try core.openSink(of: participant, rate: rate)
    }

    /// Opens a tap at a point of the sound's way, at `rate`; up to 16 at once, with sinks of participants.
    ///
    /// - Throws: ``EngineError/notStarted``, ``EngineError/resourcesExhausted(_:)``, ``EngineError/overloaded``.
    public func openTap(at point: SoundPoint, rate: SoundRate = .hertz48000) throws(EngineError) -> SoundPointTap {
        guard let core else { throw .notStarted }
        return try core.openTap(at: point, rate: rate)
    }
}
