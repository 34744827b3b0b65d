public import VoiceDevices
public import VoiceProcessing
public import VoiceRooms
public import VoiceText
public import VoiceTransport

/// What happens while the engine runs. Loss, drift and levels are statistics; only changes of state are events.
public enum EngineEvent: Sendable {
    /// Something about a device: an xrun, a disconnect, a recovery.
    case device(DeviceEvent)
    /// A device has gone away. The call goes on: silently, until ``routeChanged(_:_:)`` tells of another; for good
    /// where the policy is ``RoutePolicy/fixed``.
    case deviceLost(DeviceLoss)
    /// A device is open again, the same or another; its formats may be others than before.
    case routeChanged(AudioRoute, RouteChange)
    /// The near talker began to speak, as the detector sees it after echo and noise are removed; told once it is
    /// certain.
    case speechStarted(SpeechMoment)
    /// The near talker stopped speaking.
    case speechEnded(SpeechMoment)
    /// From now on an interruption can be trusted not to be an echo; or no more, or not yet.
    case echoReadinessChanged(EchoReadiness)
    /// The reference of the echo canceller has a problem that lets an echo through, or no more; or the echo's gain or
    /// delay has changed at once, and is followed.
    case referenceIntegrity(ReferenceIntegrity.Change)
    /// The engine works, but not as well as it could.
    case degraded(EngineDegradation)
    /// The echo reference was re-timed, because the devices' clocks or delays moved; the canceller may need a moment.
    case referenceRetimed
    /// The media thread has been later, or more punctual, than was reckoned with: blocks are pulled so long before they
    /// are played from now on. See ``PlayoutMargin``.
    case playoutMarginChanged(Duration)
    /// The engine is in the room.
    case joined(room: String, as: ParticipantID)
    /// Somebody came in.
    case participantJoined(Participant)
    /// Somebody went out; nil where the reason was missed during a break.
    case participantLeft(ParticipantID, LeaveReason?)
    /// A participant muted or unmuted.
    case participantMuted(ParticipantID, Bool)
    /// Nothing comes of a participant any more, neither sound nor reports: for 2 s, or where no sound is to come of it,
    /// as of one that is muted or has not talked yet, for three of its reports. The room waits for it longer than that:
    /// ``participantLeft(_:_:)`` follows, or ``participantReachable(_:)``. Participants that publish nothing are not
    /// watched.
    case participantUnreachable(ParticipantID)
    /// Something comes of it again.
    case participantReachable(ParticipantID)
    /// A participant that is not muted sends no sound for 2 s, although it is there: its microphone, or its engine,
    /// stands still. Or sends again. A stream does not stand still of which nothing has come so far, as of a button that
    /// nobody has pressed, nor one that ended in silence, as one does for which its app has nothing more, or that was
    /// interrupted, until there is more of it.
    case streamStalled(ParticipantID, Bool)
    /// The way from a participant to here loses so many packets that it is heard, or no more.
    case linkQualityChanged(ParticipantID, LinkQuality)
    /// A participant, this engine included, talks from now on, or only listens.
    case roleChanged(ParticipantID, RoomRole)
    /// A participant, this engine included, tells something else of itself: these are all its attributes. Those of a
    /// participant that comes are told by ``participantJoined(_:)``.
    case attributesChanged(ParticipantID, ParticipantAttributes)
    /// A stream that the app plays by its name stands differently; see ``VoiceEngine/play(_:)``.
    case streamState(String, PlayState)
    /// A participant sent these bytes, to this engine alone or to all.
    case message(from: ParticipantID, [UInt8])
    /// A text stream of a participant's has changed: its state now. Of states that were overtaken before they came
    /// nothing is told. See ``VoiceEngine/setText(_:to:isFinal:extras:)``.
    case text(from: ParticipantID, TextUpdate)
    /// What a participant said was interrupted by another, or by itself: what waited of it was dropped here. Where it
    /// is this engine's own speech, its listeners have dropped what they had not heard; what is still to be said had
    /// better not be. See ``VoiceEngine/interrupt(_:)``.
    case interrupted(ParticipantID, by: ParticipantID, generation: UInt32)
    /// A participant is being spoken into, or no more: see ``VoiceEngine/setBargeIn(_:for:)``. Where that is confirmed
    /// the participant is interrupted.
    case bargeIn(ParticipantID, BargeInChange)
    /// A talker who was interrupted has begun anew: what is heard of it from now on was said knowing of the
    /// interruption.
    case generationStarted(ParticipantID, generation: UInt32)
    /// How far an utterance of a talker in the room was heard here at a time, on the monotonic clock since its epoch:
    /// at its beginning, four times a second while it goes on, when another follows, and when an interruption has ended
    /// it. Of talkers that name their utterances (``VoiceEngine/beginUtterance(_:)``).
    case utteranceHeard(ParticipantID, HeardUtterance, at: Duration)
    /// How far a participant has heard an utterance of this engine's, as its own engine tells: four times a second
    /// while it goes on, and when nothing more of it will be heard, at once after an interruption. See
    /// ``VoiceEngine/beginUtterance(_:)``.
    case heard(HeardUtterance, by: ParticipantID)
    /// The room does not answer; the engine tries to come back for up to 30 s.
    case connectionLost
    /// The engine is back in the room: as the same participant, unless the room had given it up meanwhile, as one that
    /// was started anew has. ``EngineSnapshot/own`` says who it is now; where that is another than before, what was
    /// sent and not delivered yet is gone, as ``messagesDropped(_:)`` has told.
    case reconnected
    /// So many messages of ``VoiceEngine/send(_:to:)`` were dropped: the room had not confirmed them when it gave this
    /// engine up in a break. The last of them; some may have arrived. Send again what must.
    case messagesDropped(Int)
    /// A request of this kind to the room was refused after the join.
    case requestRefused(RoomRequest, RoomRefusal)
    /// A request of this kind to the room could not be sent.
    case requestFailed(RoomRequest, RoomSessionError)
    /// The engine is out of the room, and why.
    case left(RoomClientEnd)
    /// So many events stood here and were dropped, because this listener was too slow; ``EngineSnapshot`` says how to
    /// go on.
    case eventsDropped(Int)
}

/// What keeps the engine from doing its best, with the remedy in each case's description.
public enum EngineDegradation: Sendable, Equatable {
    /// The media thread runs without real-time priority (`errno`): expect gaps under load. Grant `rtprio` or
    /// CAP_SYS_NICE; `duplex doctor` tells how.
    case noRealtimePriority(errno: Int32)
    /// What ``EngineConfiguration/memoryLock`` asks for is not locked (`errno`): a page fault may interrupt the sound.
    /// Raise `memlock`.
    case memoryNotLocked(errno: Int32)
    /// Somebody speaks who is not heard, because as many others as there are slots spoke within the last second. Told
    /// once; the slots go to whoever is audible. Raise `maximumStreams`.
    case tooManyStreams
    /// The processing backend refused valid settings; the old ones stay.
    case processingRefused
    /// So many events of the room were lost, because the engine did not come to them for long: messages and
    /// interruptions are gone, who is there has been brought up to date. Give the process more time.
    case eventsLost(Int)
    /// The media thread did not take a command that the room's events made necessary; a talker may be inaudible. Leave
    /// and join again.
    case commandLost
}

/// How good the way from a participant to here is.
public enum LinkQuality: Sendable, Equatable {
    /// Fewer than 3 % of the packets are lost.
    case good
    /// A tenth of the packets or more is lost, over 2 s.
    case poor
}
