public import VoicePeers

/// Where a client stands with its room.
package enum RoomSessionState: Equatable, Sendable {
    /// `join` has not been called.
    case idle
    /// Waiting for the server's answer, at most `RoomTimers.joinTimeout`.
    case joining
    /// In the room.
    case joined
    /// The server was lost; trying to come back, at most `RoomTimers.breakWindow`.
    case reconnecting
    /// Waiting for the acknowledgement of `leave`, at most `RoomTimers.closingTime`.
    case leaving
    /// Over, for good; a new session is needed to join again.
    case ended(RoomSessionEnd)
}

/// Why a session is over.
public enum RoomSessionEnd: Error, Equatable, Sendable {
    /// By `leave`; whether the server has acknowledged it.
    case left(acknowledged: Bool)
    /// The server refused the join. The versions are those it speaks.
    case refused(RoomRefusal, serverVersions: ClosedRange<UInt8>)
    /// No answer to the join within `RoomTimers.joinTimeout`. Remedy: check address, port and firewall.
    case joinTimedOut
    /// The server was silent for `RoomTimers.silenceLimit` and did not come back within `RoomTimers.breakWindow`.
    case connectionLost
    /// The server ended the stay.
    case removed(RemovalReason)
    /// The server is not who it should be. Remedy: check the URL's host and fingerprint.
    case identityRefused(IdentityRefusal)
    /// What answers at that address speaks another protocol, or another version of it. Remedy: check the URL, update
    /// the older side.
    case handshakeFailed
}

/// What a call of the application asked for and cannot have.
public enum RoomSessionError: Error, Equatable, Sendable {
    /// Only possible in a room. Remedy: wait for `RoomSessionEvent.joined`.
    case notJoined
    /// `join` was called before. Remedy: a new session.
    case alreadyStarted
    /// Too many messages wait for the server. Remedy: send less often, or again later.
    case queueFull
    /// More than 1024 bytes. Remedy: a shorter message, or several.
    case messageTooLong
    /// More than 1000 bytes. Remedy: a token with fewer claims.
    case tokenTooLong
    /// More than 128 bytes of UTF-8. Remedy: a shorter room name.
    case roomNameTooLong
    /// More than 64 bytes of UTF-8. Remedy: a shorter name for the stream.
    case streamNameTooLong
    /// More than 16 attributes, 32 bytes of a key or 512 bytes altogether, or an empty key. Remedy: fewer or shorter
    /// ones.
    case attributesTooLong
}

/// What happened, in order. `RoomSession.pollEvent` gives them out.
package enum RoomSessionEvent: Equatable, Sendable {
    /// The join was granted; this is who is there, oneself included.
    case joined(JoinGrant, RoomRoster)
    /// The server is not heard any more, or has forgotten us; media does not arrive anywhere meanwhile.
    case reconnecting
    /// A fifth of the token's time is left, or less: give a new one to ``RoomSession/renew(token:now:)``. Comes again
    /// while there is none, each tenth of its time, but never twice in 10 s.
    case tokenExpiring
    /// The token was refused at a rejoin: give a new one to ``RoomSession/renew(token:now:)``. The session waits for it
    /// until its time for coming back is over.
    case tokenRefused(RoomRefusal)
    /// Back again. When `JoinGrant.resumed` is false it was a new join, with new streams: publish again. What changed
    /// in the roster meanwhile was told before by events of its own.
    case reconnected(JoinGrant, RoomRoster)
    /// So many messages of the application were dropped, since they were meant for a stay that the server has given up:
    /// before `reconnected`, or after it where they were asked for too late. Some may have arrived.
    case messagesDropped(Int)
    /// Someone came.
    case participantJoined(RosterEntry)
    /// Someone went; the reason is nil when it happened while we were away.
    case participantLeft(ParticipantID, LeaveReason?)
    /// A stream can be heard; also for one's own, as the confirmation.
    case published(ParticipantID, PublishedStream)
    /// A stream is gone.
    case unpublished(ParticipantID, StreamID)
    /// A stream was muted or unmuted.
    case muteChanged(ParticipantID, StreamID, MuteState)
    /// A message from a participant, to us or (`destination` nil) to the whole room.
    case message(
        sender: ParticipantID, destination: ParticipantID?, kind: MessageKind = .application, bytes: [UInt8])
    /// Someone, perhaps this client, interrupted a stream: everything of older generations is to be dropped.
    case interrupted(by: ParticipantID, StreamID, generation: UInt32)
    /// A talker has begun a generation: what follows is of it.
    case generationStarted(ParticipantID, GenerationStart)
    /// A participant, perhaps this client, tells something else of itself: these are all its attributes now.
    case attributesChanged(ParticipantID, ParticipantAttributes)
    /// A participant, perhaps this client, talks from now on, or only listens.
    case roleChanged(ParticipantID, RoomRole)
    /// This client is subscribed to a stream, or not any more, as it has asked.
    case subscriptionChanged(StreamID, Bool)
    /// How far a participant has heard an utterance of ours.
    case heard(by: ParticipantID, HeardReport)
    /// A request was refused; `subject` is the stream or participant it named.
    case requestRefused(RoomRequest, subject: UInt32, RoomRefusal)
    /// The session is over; nothing follows.
    case ended(RoomSessionEnd)
}

/// Counters of a session since its start.
public struct RoomSessionStatistics: Equatable, Sendable {
    /// The smoothed round trip to the server, from keepalives; nil while unknown.
    public var roundTripTime: Duration?
    /// The round trip of a keepalive that did not have to queue: the lower quartile of the last eight; nil before the
    /// first.
    public var usualRoundTripTime: Duration?
    /// Control messages sent more than once.
    public var retransmissions = 0
    /// Control datagrams dropped as a `RoomProtocolError`, and messages that had no place where they came.
    public var rejectedDatagrams = 0
    /// Times the server was lost.
    public var reconnections = 0
    /// Own messages given up because a rejoin found the participant gone.
    public var abandonedMessages = 0

    /// All zero.
    package init() {}
}
