public import VoiceRooms
public import VoiceTurns

// Interrupting, and being interrupted.

extension VoiceEngine {
    /// Interrupts a participant, or where none is given this engine's own speech.
    ///
    /// Of what was said before nothing more is heard: here it fades out within 5 ms of the media thread's next block,
    /// at every other listener when the room's message comes; what is still under way is dropped by its generation,
    /// which every packet says. The talker, and everybody else, is told by
    /// ``EngineEvent/interrupted(_:by:generation:)``; when the talker speaks again, by
    /// ``EngineEvent/generationStarted(_:generation:)``. How far a named utterance was heard is told when the last of
    /// it has left the DAC, here by ``EngineEvent/utteranceHeard(_:_:at:)``, and to its talker, by each of its
    /// listeners, by ``EngineEvent/heard(_:by:)``.
    ///
    /// Another may be interrupted only who joined with ``RoomClientConfiguration/interruptibleBy`` `.anyone`, as an
    /// agent does; else, and beyond twice a second, the room refuses, and what is said is heard again from then on.
    ///
    /// - Throws: ``EngineError/notJoined``, ``EngineError/unknownParticipant(_:)``, ``EngineError/overloaded``,
    /// ``EngineError/requestRefused(_:)``.
    public func interrupt(_ participant: ParticipantID? = nil) throws(EngineError) {
        try membership.interrupt(participant)
    }

    /// Interrupts, as ``interrupt(_:)`` does, and waits until it is known how far what was said was heard.
    ///
    /// Of a participant there is one receipt, for the utterance that it was saying, from this engine's loudspeaker; of
    /// this engine's own speech one for each participant that had begun to hear the utterance, as its engine tells.
    /// Without a named utterance (``beginUtterance(_:)``) there is none. Does not block; a receipt comes when the last
    /// of the old sound has left the DAC, a fade and the device's buffer after the interruption, and from others a way
    /// through the room later.
    ///
    /// - Parameters:
    ///   - participant: who is interrupted.
    ///   - timeout: how long to wait for receipts; then what was told last comes instead, which
    ///     ``HeardUtterance/isFinal`` says. The cancellation of the task ends the wait the same way, and so does a
    ///     refusal by the room (``EngineEvent/requestRefused(_:_:)``): the talker is heard on.
    /// - Throws: as ``interrupt(_:)``.
    public func interrupt(
        _ participant: ParticipantID? = nil, awaitingReceiptsFor timeout: Duration
    ) async throws(EngineError) -> [InterruptionReceipt] {
        guard let room else { throw .notJoined }
        let number = room.openReceipts(of: participant)
        do throws(EngineError) {
            try room.interrupt(participant)
        } catch {
            room.giveUp(number)
            throw error
        }
        let timer = Task {
            // Cancelled where the receipts have come, which then finds nobody.
            try? await Task.sleep(for: timeout)
            self.giveUpReceipts(number, of: room)
        }
        let receipts = await withTaskCancellationHandler {
            await room.receipts(number)
        } onCancel: {
            timer.cancel()
        }
        timer.cancel()
        return receipts
    }

    private func giveUpReceipts(_ number: UInt64, of room: RoomMembership) { room.giveUp(number) }

    /// Has what a participant says give way to whoever speaks at the microphone, as an agent's answer does in a
    /// ``Conversation``: it is made quieter at once, silenced and kept while the near talker goes on, and interrupted
    /// when they mean it (``interrupt(_:)``). After a cough or an "mm-hm" it goes on where it was; it is late then by
    /// as much as was kept, and catches up in its pauses. ``EngineEvent/bargeIn(_:_:)`` tells of each stage.
    ///
    /// One participant at a time: of the one before what was kept is heard first. Of a participant with several streams
    /// one is kept, and the others are silent meanwhile. 5 s are kept; of what is held longer
    /// the talker goes on, quieter. Ends with ``BargeInPolicy/off``, and when the participant leaves. Needs the speech
    /// detection and the echo readiness of ``ProcessingSettings/voiceAgent`` or the like.
    ///
    /// - Throws: ``EngineError/notJoined``, ``EngineError/unknownParticipant(_:)``, ``EngineError/overloaded``,
    ///   ``EngineError/turn(_:)``.
    public func setBargeIn(_ policy: BargeInPolicy, for participant: ParticipantID) throws(EngineError) {
        if let fault = TalkMode.duplex(Duplex(bargeIn: policy)).fault { throw .turn(.invalidMode(fault)) }
        try membership.setBargeIn(policy, for: participant)
    }

    /// A recogniser has heard words: what is suspected or held is an interruption. Does nothing where nothing is.
    ///
    /// - Throws: ``EngineError/notStarted``, ``EngineError/overloaded``.
    public func confirmBargeIn() throws(EngineError) {
        guard let core else { throw .notStarted }
        try core.send(.confirmBargeIn)
    }

    /// Says that what is captured from now on is this utterance, as an agent does whose device is its synthesiser; nil:
    /// none.
    ///
    /// Each packet then tells the utterance and its place in it. Where it is interrupted
    /// (``EngineEvent/interrupted(_:by:generation:)``) the rest of it is not sent, until the next utterance is named or
    /// this is called with nil: what the synthesiser still delivers is heard by nobody. One that is named behind an
    /// interruption by this engine is none of what that ends, although the room tells it later. It counts by the ADC's
    /// time, also where what is said waits before it is sent.
    ///
    /// - Throws: ``EngineError/notStarted``, ``EngineError/overloaded``.
    public func beginUtterance(_ utterance: UtteranceID?) throws(EngineError) {
        guard let core else { throw .notStarted }
        try core.send(.beginUtterance(utterance?.rawValue))
        room?.name(utterance)
    }
}
