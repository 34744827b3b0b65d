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

    /// Has a listener hear a point of the sound's way on the media thread itself, a real-time thread: see
    /// ``SoundListener/hear(_:at:)`` for what it must not do there. Up to ``SoundListening/maximumListeners`` at once.
    ///
    /// - Throws: ``EngineError/notStarted``, ``EngineError/resourcesExhausted(_:)``, ``EngineError/overloaded``.
    public func listen(
        at point: SoundPoint, with listener: any SoundListener
    ) throws(EngineError) -> SoundListening {
        guard let core else { throw .notStarted }
        return try core.listen(to: .point(point), with: listener)
    }

    /// The same of what is heard of one participant, before volume and mix; see ``ParticipantSink``.
    public func listen(
        to participant: ParticipantID, with listener: any SoundListener
    ) throws(EngineError) -> SoundListening {
        guard let core else { throw .notStarted }
        return try core.listen(to: .participant(participant.rawValue), with: listener)
    }
}
