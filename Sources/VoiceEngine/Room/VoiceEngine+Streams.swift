internal import VoiceCoding
public import VoiceRooms

extension VoiceEngine {
    // MARK: Playing by name

    /// Plays the stream of this name, now or as soon as there is one.
    ///
    /// May be called in any order: before the engine starts or joins, and before anybody publishes the stream. It holds
    /// for the rooms that follow, until ``stopPlaying(_:)``. ``EngineEvent/streamState(_:_:)`` tells how the stream
    /// stands, and ``EngineSnapshot/streams`` knows it. Who joins as ``RoomCapabilities/conversation`` hears everything
    /// that it does not stop; who joins as ``RoomCapabilities/byChoice`` hears what it plays.
    ///
    /// - Throws: ``EngineError/requestRefused(_:)`` of a name that is empty or longer than 64 bytes,
    ///   ``EngineError/tooManyStreamNames`` beyond 256 names.
    public func play(_ stream: String) throws(EngineError) { try play(true, stream) }

    /// Does not play the stream of this name any more, nor later ones of that name.
    ///
    /// - Throws: as ``play(_:)``.
    public func stopPlaying(_ stream: String) throws(EngineError) { try play(false, stream) }

    private func play(_ isWanted: Bool, _ stream: String) throws(EngineError) {
        try Self.check(stream)
        guard requests.played[stream] != nil || requests.played.count < StreamChoice.nameLimit else {
            throw .tooManyStreamNames
        }
        let before = requests.state(of: stream)
        requests.played[stream] = isWanted
        if let room = openRoom {
            room.play(isWanted, stream)
        } else if before != requests.state(of: stream) {
            broadcast.post(.streamState(stream, requests.state(of: stream)))
        }
    }

    /// Plays what a participant publishes, but for what was stopped by its name.
    ///
    /// - Throws: ``EngineError/notJoined``, ``EngineError/unknownParticipant(_:)``.
    public func play(_ participant: ParticipantID) throws(EngineError) { try membership.play(true, participant) }

    /// Does not play what a participant publishes, but for what is played by its name.
    ///
    /// - Throws: as ``play(_:)``.
    public func stopPlaying(_ participant: ParticipantID) throws(EngineError) {
        try membership.play(false, participant)
    }

    /// Scales what is heard of the stream of this name: 0 silences, 1 leaves it, up to 4 (+12 dB). Holds for streams of
    /// that name that are yet to come, in this room and the next; and on top of the volume of its publisher.
    ///
    /// - Throws: ``EngineError/invalidConfiguration(_:)``, ``EngineError/requestRefused(_:)``,
    ///   ``EngineError/tooManyStreamNames``, ``EngineError/overloaded``.
    public func setVolume(_ volume: Float, ofStream name: String) throws(EngineError) {
        guard (0...4).contains(volume) else { throw .invalidConfiguration("the volume is \(volume); use 0...4") }
        try Self.check(name)
        guard requests.volumes[name] != nil || requests.volumes.count < StreamChoice.nameLimit else {
            throw .tooManyStreamNames
        }
        requests.volumes[name] = volume == 1 ? nil : volume
        try openRoom?.setVolume(volume, ofStream: name)
    }

    /// Has a participant not be heard here, or heard again by its volume, as long as it stays. Nobody is told.
    ///
    /// - Throws: ``EngineError/notJoined``, ``EngineError/unknownParticipant(_:)``, ``EngineError/overloaded``.
    public func setMuted(_ isMuted: Bool, for participant: ParticipantID) throws(EngineError) {
        try membership.setMuted(isMuted, for: participant)
    }

    /// The same of the stream of this name, also of later ones of that name, in this room and the next.
    ///
    /// - Throws: ``EngineError/requestRefused(_:)``, ``EngineError/tooManyStreamNames``, ``EngineError/overloaded``.
    public func setMuted(_ isMuted: Bool, ofStream name: String) throws(EngineError) {
        try Self.check(name)
        guard requests.muted.contains(name) || requests.muted.count < StreamChoice.nameLimit else {
            throw .tooManyStreamNames
        }
        if isMuted { requests.muted.insert(name) } else { requests.muted.remove(name) }
        try openRoom?.setMuted(isMuted, ofStream: name)
    }

    // MARK: Publishing by name

    /// Publishes the microphone as the stream of this name, from now on and in the rooms that follow. Without a call of
    /// this it is published without a name. May be called before there is a room.
    ///
    /// A name that another stream of the room has is refused: ``EngineEvent/requestRefused(_:_:)`` with
    /// ``RoomRefusal/nameTaken``.
    ///
    /// - Throws: ``EngineError/requestRefused(_:)`` of a name that is longer than 64 bytes.
    public func publish(as name: String = "") throws(EngineError) {
        if !name.isEmpty { try Self.check(name) }
        requests.presence.microphone = name
        openRoom?.publish(as: name)
        carryOn()
    }

    /// Withdraws the microphone's stream, here and in the rooms that follow, until ``publish(as:)``. What is heard, and
    /// what the canceller learns, goes on.
    public func unpublish() {
        requests.presence.microphone = nil
        openRoom?.publish(as: nil)
        carryOn()
    }

    /// Publishes a stream that the app feeds, beside the microphone, under this name: now, or as soon as there is a
    /// room, and in the rooms that follow until it is closed. ``OutgoingStream/maximumStreams`` at once.
    ///
    /// A room may set fewer streams aside, or know the name already: ``EngineEvent/requestRefused(_:_:)``.
    ///
    /// - Throws: ``EngineError/notStarted``, ``EngineError/requestRefused(_:)`` of a name that is longer than 64 bytes,
    ///   ``EngineError/invalidConfiguration(_:)``, ``EngineError/resourcesExhausted(_:)``, ``EngineError/overloaded``.
    public func publish(
        stream name: String, _ configuration: OutgoingStreamConfiguration = .music
    ) throws(EngineError) -> OutgoingStream {
        try Self.check(name)
        guard let core else { throw .notStarted }
        do throws(OpusError) { try configuration.encoder.validate() } catch { throw EngineError(error) }
        try configuration.adaptation.validate()
        let stream = try core.openStream(name, configuration) { [weak self] number in
            Task { [weak self] in await self?.withdraw(number) }
        }
        requests.presence.outgoing[stream.id.rawValue] = name
        openRoom?.publish(line: stream.id.rawValue, as: name)
        carryOn()
        return stream
    }

    private func withdraw(_ number: UInt64) {
        guard requests.presence.outgoing.removeValue(forKey: number) != nil else { return }
        openRoom?.unpublish(line: number)
        carryOn()
    }

    private static func check(_ name: String) throws(EngineError) {
        guard (1...RoomProtocol.streamNameLimit).contains(name.utf8.count) else {
            throw .requestRefused(.streamNameTooLong)
        }
    }

    // MARK: What the engine tells of itself

    /// Becomes a talker, or a listener, who publishes nothing, as far as the token lets it;
    /// ``EngineEvent/roleChanged(_:_:)`` follows. ``RoomClientConfiguration/role`` is what it comes in as.
    ///
    /// A listener is silent from this call on, also where the room could not be told yet; that is tried again. What
    /// cannot be asked for at once of a talker is given up: ``EngineEvent/requestRefused(_:_:)`` or
    /// ``EngineEvent/requestFailed(_:_:)`` tells.
    ///
    /// - Throws: ``EngineError/notJoined``, ``EngineError/requestRefused(_:)``.
    public func setRole(_ role: RoomRole) throws(EngineError) {
        let room = try membership
        defer { carryOn() }
        try room.setRole(role)
    }

    /// What the engine tells of itself: everybody in the room knows it, whoever comes later too.
    public var attributes: ParticipantAttributes { requests.presence.attributes }

    /// Tells something of the engine, its name or state say, to everybody in the room, and in the rooms that follow;
    /// nil takes it back. May be called before there is a room; in one some ten times a second, and of more
    /// the last is told a little later. Keys that begin with `dv.` have a meaning, see ``AgentAttribute``.
    ///
    /// - Parameters:
    ///   - key: 1 to 32 bytes of UTF-8; 16 at most.
    ///   - value: all of them and the keys have at most 512 bytes.
    /// - Throws: ``EngineError/requestRefused(_:)``.
    public func setAttribute(_ key: String, to value: String?) throws(EngineError) {
        do throws(RoomSessionError) {
            requests.presence.attributes = try requests.presence.attributes.setting(key, to: value)
        } catch { throw .requestRefused(error) }
        defer { carryOn() }
        try openRoom?.setAttributes(requests.presence.attributes)
    }
}

extension StreamRequests {
    /// How a stream stands outside a room.
    func state(of stream: String) -> PlayState {
        played[stream] == true ? .waiting(.outsideRoom) : .stopped(.asked)
    }
}
