/// Why a server refuses a join or a request. The raw values are the codes on the wire.
///
/// There is no "identity in use": a second join with the identity of a participant replaces that participant, who is
/// told with `RemovalReason.replaced`. A client that crashed and starts again must not wait for its own ghost.
public enum RoomRefusal: UInt8, Error, Sendable, CaseIterable {
    /// The token or the message cannot be read. Remedy: a token from the issuer, unaltered.
    case malformed = 1
    /// No protocol version in common. Remedy: update the older side.
    case versionMismatch = 2
    /// The token was signed with another key, or not with HS256. Remedy: a token made with this server's key.
    case badSignature = 3
    /// The token's `exp` has passed. Remedy: a new token.
    case expired = 4
    /// The token's `nbf` lies ahead. Remedy: wait, or set the clocks.
    case notYetValid = 5
    /// The token is for another room than the one asked for. Remedy: a token for this room.
    case wrongRoom = 6
    /// The token does not grant `roomJoin`. Remedy: a token that does.
    case noJoinRight = 7
    /// Publishing is not granted. Remedy: listen only, or a token with `canPublish`.
    case noPublishRight = 8
    /// Subscribing is not granted. Remedy: a token with `canSubscribe`.
    case noSubscribeRight = 9
    /// The room has as many participants as it takes. Remedy: try later.
    case roomFull = 10
    /// The server has as many participants as it takes. Remedy: try later, or another server.
    case serverFull = 11
    /// The server is going down. Remedy: another server, or this one after its restart.
    case serverShuttingDown = 12
    /// No such stream here, or not one of yours. Remedy: use the streams of `joined` and of the roster.
    case unknownStream = 13
    /// No such participant here, or not any more. Remedy: use the roster.
    case unknownParticipant = 14
    /// The receiver has too many messages waiting. Remedy: send it again, later.
    case receiverBusy = 15
    /// The stream's publisher lets nobody else interrupt it. Remedy: lower its volume, or leave it to the publisher.
    case noInterruptionRight = 16
    /// Asked for more often than is allowed. Remedy: half a second of patience.
    case tooOften = 17
    /// The token is somebody else's. Remedy: a token for the identity that is in the room.
    case wrongIdentity = 18
    /// Another stream of the room has that name. Remedy: another name, or unpublish the other one.
    case nameTaken = 19
    /// Listeners publish nothing. Remedy: become a talker first.
    case listenerCannotPublish = 20
}

/// Why a participant is not in the room any more, as the others are told.
public enum LeaveReason: UInt8, Sendable, CaseIterable {
    /// It said `leave`.
    case left = 1
    /// It fell silent and did not come back within the break window.
    case timedOut = 2
    /// The server put it out, its token has expired, or its identity joined again from elsewhere.
    case removed = 3
}

/// Why the server ended a participant's stay, as that participant is told.
public enum RemovalReason: UInt8, Sendable, CaseIterable {
    /// An operator removed it.
    case removedByServer = 1
    /// Its identity joined again from elsewhere.
    case replaced = 2
    /// The server is going down.
    case serverShuttingDown = 3
    /// The server goes down and will be back at once: come back as after a crash.
    case restarting = 4
    /// Its token has expired, and it has shown no newer one. Remedy: a new token.
    case tokenExpired = 5
}
