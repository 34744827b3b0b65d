public import VoiceRooms
internal import VoiceText
public import VoiceTransport

// The room: coming and going, messages, texts.

extension VoiceEngine {
    /// Joins a room: publishes the microphone there and plays everybody else.
    ///
    /// Devices and processing run since `start()`, and what is said from this call on is kept, the last second of it,
    /// and sent once the room is there: the first word is whole. It is heard that much later, until the first pauses
    /// have made up for it; whoever says nothing while joining is not delayed. Muting forgets what was kept.
    ///
    /// - Returns: the participants who are there already.
    /// - Throws: ``EngineError/room(_:)`` with the refusal or failure, ``EngineError/notStarted``,
    /// ``EngineError/alreadyJoined``.
    @discardableResult
    public func join(
        _ endpoint: RoomEndpoint, configuration: RoomClientConfiguration = RoomClientConfiguration()
    ) async throws(EngineError) -> [Participant] {
        // A room that has put the engine out is as good as none.
        if let room, room.isOver { await leave() }
        guard let core else { throw .notStarted }
        guard room == nil else { throw .alreadyJoined }
        var configuration = configuration
        if configuration.threadPriority == 0 { configuration.threadPriority = self.configuration.networkPriority }
        let membership = try RoomMembership(
            core: core, broadcast: broadcast, requests: requests, endpoint, configuration)
        room = membership
        follower = Task { [weak self, events = membership.events] in
            for await event in events { await self?.handle(event) }
        }
        guard let failure = await membership.decision() else { return membership.others }
        membership.close()
        if room === membership { room = nil }
        throw .room(failure)
    }

    /// Leaves the room; the sound runs on. Does nothing outside a room.
    public func leave() async {
        guard let leaving = room else { return }
        leaving.askToLeave()
        await follower?.value
        // The network thread must have let go of the rings before the next room's takes them.
        leaving.close()
        if room === leaving { room = nil }
    }

    /// The stay in the room, which may be over already.
    var membership: RoomMembership {
        get throws(EngineError) {
            guard let room else { throw .notJoined }
            return room
        }
    }

    /// The same, where it goes on.
    var openRoom: RoomMembership? {
        guard let room, !room.isOver else { return nil }
        return room
    }

    /// Of the room that the engine is in, or has just left.
    private func handle(_ event: RoomClientEvent) {
        room?.handle(event)
        carryOn()
    }

    /// Does what is due in the room, and sees to it that it is called when more is.
    func carryOn() {
        roomTimer?.cancel()
        roomTimer = nil
        guard let pause = room?.carryOn() else { return }
        roomTimer = Task { [weak self] in
            do { try await Task.sleep(for: pause) } catch { return }
            await self?.carryOn()
        }
    }

    /// Sends up to 1,024 bytes to one participant, or to all others in the room; delivered in order, and again after a
    /// break. Where the room has given this engine up in that break, what it had not taken is dropped:
    /// ``EngineEvent/messagesDropped(_:)`` says how many, before ``EngineEvent/reconnected``, and
    /// ``EngineSnapshot/own`` is another participant than before.
    ///
    /// - Throws: ``EngineError/notJoined``; ``EngineError/requestRefused(_:)`` of a message that is too long, or where too
    ///   many wait.
    public func send(_ bytes: [UInt8], to participant: ParticipantID? = nil) throws(EngineError) {
        try membership.send(bytes, to: participant)
    }

    /// Has the text of a stream of this engine's be `text` from now on, for everybody in the room: what a recogniser
    /// has heard so far, say.
    ///
    /// A stream has a name and one text at a time; the first change after a final one begins the next, a round. Others
    /// are told by ``EngineEvent/text(from:_:)``, whoever comes later too. Only what differs is sent, and of states
    /// that follow each other faster than 40 a second, or than the room takes them, only the last; the last text is the
    /// same for all, whatever was lost or sent again. Ends with the stay in the room.
    ///
    /// - Parameters:
    ///   - stream: up to 32 bytes of UTF-8; eight streams at most.
    ///   - text: up to 64 KiB of UTF-8.
    ///   - isFinal: whether it stays as it is.
    ///   - extras: up to 512 bytes that come with it, JSON by custom.
    /// - Throws: ``EngineError/notJoined``, ``EngineError/text(_:)``.
    public func setText(
        _ stream: String, to text: String, isFinal: Bool = false, extras: String = ""
    ) throws(EngineError) {
        try changeText(stream, .replace(text), isFinal: isFinal, extras: extras)
    }

    /// Puts `text` behind the text of a stream, as a model's tokens come; see ``setText(_:to:isFinal:extras:)``.
    public func appendText(
        _ stream: String, _ text: String, isFinal: Bool = false, extras: String = ""
    ) throws(EngineError) {
        try changeText(stream, .append(text), isFinal: isFinal, extras: extras)
    }

    /// Gives up the text of a stream where it is, as that of an answer that was interrupted: the next change begins the
    /// next round.
    public func abandonText(_ stream: String) { room?.abandonText(stream) }

    private func changeText(
        _ stream: String, _ change: TextChange, isFinal: Bool, extras: String
    ) throws(EngineError) {
        try membership.changeText(stream, change, isFinal: isFinal, extras: extras)
        carryOn()
    }
}
