package import VoicePeers

/// A message of the room protocol; docs/protocol.md gives each one's layout.
package enum RoomMessage: Equatable, Sendable {
    // From client to server
    case join(JoinRequest)
    case leave
    case publish(StreamAssignment, interruptibleBy: InterruptionPolicy = .publisher, name: String = "")
    case unpublish(StreamID)
    case subscribe(StreamID)
    case unsubscribe(StreamID)
    case setMuted(StreamID, Bool)
    /// To a participant, or to the whole room (`nil`).
    case send(destination: ParticipantID?, kind: MessageKind = .application, bytes: [UInt8])
    case interrupt(StreamID)
    /// The first packet of a generation that the room has numbered was sent, with this RTP timestamp.
    case tellGeneration(GenerationStart)
    /// How far an utterance of a stream was heard here, for its talker.
    case tellHeard(HeardReport)
    /// A newer token of the same identity and room.
    case renew(token: [UInt8])
    /// All attributes of the sender from now on.
    case setAttributes(ParticipantAttributes)
    /// The sender talks, or only listens, from now on.
    case setRole(RoomRole)

    // From server to client
    case joined(JoinGrant)
    case participantJoined(RosterEntry)
    case participantLeft(ParticipantID, LeaveReason)
    case published(ParticipantID, PublishedStream)
    case unpublished(ParticipantID, StreamID)
    case muteChanged(StreamID, MuteState)
    case message(
        sender: ParticipantID, destination: ParticipantID?, kind: MessageKind = .application, bytes: [UInt8])
    case interrupted(by: ParticipantID, StreamID, generation: UInt32)
    case generationStarted(ParticipantID, GenerationStart)
    /// How far a participant has heard an utterance of the receiver's.
    case heard(by: ParticipantID, HeardReport)
    /// A request was refused: its type, the stream or participant it named (0: none), and why.
    case requestRefused(RoomRequest, subject: UInt32, RoomRefusal)
    case removed(RemovalReason)
    case refused(RoomRefusal, versions: ClosedRange<UInt8>)
    case attributesChanged(ParticipantID, ParticipantAttributes)
    case roleChanged(ParticipantID, RoomRole)
    /// The receiver is subscribed to a stream, or not any more: the answer to `subscribe` and `unsubscribe`.
    case subscriptionChanged(StreamID, Bool)
    /// The token was taken; it is over after so long, in whole seconds. Nil: after more than 136 years.
    case renewed(expiresIn: Duration?)

    // Both ways
    /// How many of the receiver's durable messages the sender has handled.
    case handled(count: UInt32)

    // Not sequenced
    /// The sender's clock in microseconds, which `pong` returns untouched.
    case ping(microseconds: UInt64)
    case pong(microseconds: UInt64)
}

extension RoomMessage {
    /// What is asked of the room, where a participant asks for something that can be refused.
    package var request: RoomRequest? { RoomRequest(rawValue: type.rawValue) }

    /// The stream or participant that a request names; 0 where it names none.
    package var subject: UInt32 {
        switch self {
        case .publish(let assignment, _, _): assignment.stream.rawValue
        case .unpublish(let stream), .subscribe(let stream), .unsubscribe(let stream), .setMuted(let stream, _),
            .interrupt(let stream):
            stream.rawValue
        case .tellGeneration(let start): start.stream.rawValue
        case .tellHeard(let report): report.stream.rawValue
        case .send(let destination, _, _): destination?.rawValue ?? 0
        default: 0
        }
    }
}

/// Whose a message's bytes are.
package enum MessageKind: UInt8, Sendable, CaseIterable {
    /// The application's own.
    case application = 0
    /// An edit of a text stream; docs/protocol.md, section 11.
    case text = 1
    /// A reader of a text stream asks for it whole.
    case textRequest = 2
}

/// What can be refused by `RoomMessage.requestRefused`. The raw values are the types of the messages.
public enum RoomRequest: UInt8, Sendable, CaseIterable {
    /// `publish`
    case publish = 0x03
    /// `unpublish`
    case unpublish = 0x04
    /// `subscribe`
    case subscribe = 0x05
    /// `unsubscribe`
    case unsubscribe = 0x06
    /// `setMuted`
    case setMuted = 0x07
    /// `send`
    case send = 0x08
    /// `interrupt`
    case interrupt = 0x09
    /// `renew`
    case renew = 0x0A
    /// `tellGeneration`
    case tellGeneration = 0x0B
    /// `tellHeard`
    case tellHeard = 0x0C
    /// `setAttributes`
    case setAttributes = 0x0D
    /// `setRole`
    case setRole = 0x0E
}

/// The first message on every path.
package struct JoinRequest: Equatable, Sendable {
    /// The protocol versions that the client speaks.
    package var versions: ClosedRange<UInt8>
    /// What the client asks for.
    package var capabilities: RoomCapabilities
    /// Whether it comes to talk. Without the right to publish it listens, whatever it asks for.
    package var role: RoomRole
    /// The room; empty for the one that the token names.
    package var room: String
    /// The access token, as it came from its issuer.
    package var token: [UInt8]
    /// Publishes the first stream of the grant with the join, interruptible so: its media may follow at once.
    package var publishing: InterruptionPolicy?
    /// Set when the client was in the room before and lost its server.
    package var rejoin: RejoinClaim?

    /// Describes a join.
    package init(
        versions: ClosedRange<UInt8> = RoomProtocol.versions, capabilities: RoomCapabilities,
        role: RoomRole = .talker, room: String, token: [UInt8], publishing: InterruptionPolicy? = nil,
        rejoin: RejoinClaim? = nil
    ) {
        self.versions = versions
        self.capabilities = capabilities
        self.role = role
        self.room = room
        self.token = token
        self.publishing = publishing
        self.rejoin = rejoin
    }
}

/// What a join asks to be.
package struct RoomEntrance: Equatable, Sendable, BitwiseCopyable {
    /// Whether it comes to talk.
    package var role: RoomRole
    /// Who may interrupt the first stream, which is published with the join; nil where it is not.
    package var publishing: InterruptionPolicy?

    /// Describes an entrance.
    package init(role: RoomRole, publishing: InterruptionPolicy?) {
        self.role = role
        self.publishing = publishing
    }
}

/// The claim to be a participant who lost the server.
package struct RejoinClaim: Equatable, Sendable, BitwiseCopyable {
    /// Who the client was.
    package var participant: ParticipantID
    /// The proof.
    package var secret: RejoinSecret
    /// How many of the server's durable messages the client has handled; what comes after them is sent again.
    package var handledCount: UInt32
    /// Counts the client's attempts to come back, so that one that was long on its way does not undo a later one.
    package var attempt: UInt32

    /// Describes a claim.
    package init(participant: ParticipantID, secret: RejoinSecret, handledCount: UInt32, attempt: UInt32) {
        self.attempt = attempt
        self.participant = participant
        self.secret = secret
        self.handledCount = handledCount
    }
}

/// The answer to a join that was granted. `rosterCount` messages `participantJoined` follow it.
package struct JoinGrant: Equatable, Sendable {
    /// The protocol version in force.
    package var version: UInt8
    /// Who the client now is.
    package var participant: ParticipantID
    /// What it may do.
    package var capabilities: RoomCapabilities
    /// Whether it is the participant of its `RejoinClaim`, with its streams and subscriptions as they were.
    package var resumed: Bool
    /// How many of the client's durable messages the server has handled; what comes after them must be sent again.
    package var handledCount: UInt32
    /// The proof for the next rejoin.
    package var secret: RejoinSecret
    /// How often the client must be heard; 1 ms to 65.535 s on the wire.
    package var keepaliveInterval: Duration
    /// The room.
    package var room: String
    /// The streams set aside for this participant.
    package var streams: [StreamAssignment]
    /// How many participants the room has, this one included.
    package var rosterCount: UInt16
    /// After how long the token is over, and the stay with it, in whole seconds; nil: after more than 136 years.
    package var expiresIn: Duration?
    /// What the client signs its binding requests with, to have its path follow its address; nil where paths cannot.
    package var credentials: STUNCredentials?

    /// Describes a grant.
    package init(
        version: UInt8, participant: ParticipantID, capabilities: RoomCapabilities, resumed: Bool, handledCount: UInt32,
        secret: RejoinSecret, keepaliveInterval: Duration, room: String, streams: [StreamAssignment],
        rosterCount: UInt16, expiresIn: Duration? = nil, credentials: STUNCredentials? = nil
    ) {
        self.expiresIn = expiresIn
        self.credentials = credentials
        self.version = version
        self.participant = participant
        self.capabilities = capabilities
        self.resumed = resumed
        self.handledCount = handledCount
        self.secret = secret
        self.keepaliveInterval = keepaliveInterval
        self.room = room
        self.streams = streams
        self.rosterCount = rosterCount
    }
}
