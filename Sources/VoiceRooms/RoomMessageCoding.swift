/// The types of the messages on the wire. Below 0x40: from the client; 0x40: from both; below 0x80: from the server;
/// above: unsequenced.
enum MessageType: UInt8 {
    case join = 0x01
    case leave = 0x02
    case publish = 0x03
    case unpublish = 0x04
    case subscribe = 0x05
    case unsubscribe = 0x06
    case setMuted = 0x07
    case send = 0x08
    case interrupt = 0x09
    case renew = 0x0A
    case tellGeneration = 0x0B
    case tellHeard = 0x0C
    case setAttributes = 0x0D
    case setRole = 0x0E
    case handled = 0x40
    case joined = 0x41
    case participantJoined = 0x42
    case participantLeft = 0x43
    case published = 0x44
    case unpublished = 0x45
    case muteChanged = 0x46
    case message = 0x47
    case interrupted = 0x48
    case requestRefused = 0x49
    case removed = 0x4A
    case refused = 0x4B
    case renewed = 0x4C
    case generationStarted = 0x4D
    case heard = 0x4E
    case attributesChanged = 0x4F
    case roleChanged = 0x50
    case subscriptionChanged = 0x51
    case ping = 0x82
    case pong = 0x83

    var isSequenced: Bool { rawValue < 0x80 }
}

extension RoomMessage {
    var type: MessageType {
        switch self {
        case .join: .join
        case .leave: .leave
        case .publish: .publish
        case .unpublish: .unpublish
        case .subscribe: .subscribe
        case .unsubscribe: .unsubscribe
        case .setMuted: .setMuted
        case .send: .send
        case .interrupt: .interrupt
        case .renew: .renew
        case .tellGeneration: .tellGeneration
        case .tellHeard: .tellHeard
        case .setAttributes: .setAttributes
        case .setRole: .setRole
        case .handled: .handled
        case .joined: .joined
        case .participantJoined: .participantJoined
        case .participantLeft: .participantLeft
        case .published: .published
        case .unpublished: .unpublished
        case .muteChanged: .muteChanged
        case .message: .message
        case .interrupted: .interrupted
        case .requestRefused: .requestRefused
        case .removed: .removed
        case .refused: .refused
        case .renewed: .renewed
        case .generationStarted: .generationStarted
        case .heard: .heard
        case .attributesChanged: .attributesChanged
        case .roleChanged: .roleChanged
        case .subscriptionChanged: .subscriptionChanged
        case .ping: .ping
        case .pong: .pong
        }
    }

    /// Appends the body, without its frame header.
    func writeBody(into writer: inout ByteWriter) {
        switch self {
        case .join(let request): request.write(into: &writer)
        case .leave: break
        case .publish(let assignment, let policy, let name):
            assignment.write(into: &writer)
            writer.write(policy.rawValue)
            writer.write(text: name)
        case .unpublish(let stream), .subscribe(let stream), .unsubscribe(let stream), .interrupt(let stream):
            writer.write(stream.rawValue)
        case .setMuted(let stream, let muted):
            writer.write(stream.rawValue)
            writer.write(flag: muted)
        case .send(let destination, let kind, let bytes):
            writer.write(destination?.rawValue ?? 0)
            writer.write(kind.rawValue)
            writer.write(bytes: bytes, limit: RoomProtocol.messageLimit)
        case .renew(let token): writer.write(bytes: token, limit: RoomProtocol.tokenLimit)
        case .tellGeneration(let start): start.write(into: &writer)
        case .tellHeard(let report): report.write(into: &writer)
        case .setAttributes(let attributes): attributes.write(into: &writer)
        case .setRole(let role): writer.write(role.rawValue)
        case .handled(let count): writer.write(count)
        case .joined(let grant): grant.write(into: &writer)
        case .participantJoined(let entry): entry.write(into: &writer)
        case .participantLeft(let participant, let reason):
            writer.write(participant.rawValue)
            writer.write(reason.rawValue)
        case .published(let participant, let stream):
            writer.write(participant.rawValue)
            stream.write(into: &writer)
        case .unpublished(let participant, let stream):
            writer.write(participant.rawValue)
            writer.write(stream.rawValue)
        case .muteChanged(let stream, let mute):
            writer.write(stream.rawValue)
            writer.write(mute.rawValue)
        case .message(let sender, let destination, let kind, let bytes):
            writer.write(sender.rawValue)
            writer.write(destination?.rawValue ?? 0)
            writer.write(kind.rawValue)
            writer.write(bytes: bytes, limit: RoomProtocol.messageLimit)
        case .interrupted(let participant, let stream, let generation):
            writer.write(participant.rawValue)
            writer.write(stream.rawValue)
            writer.write(generation)
        case .generationStarted(let participant, let start):
            writer.write(participant.rawValue)
            start.write(into: &writer)
        case .heard(let participant, let report):
            writer.write(participant.rawValue)
            report.write(into: &writer)
        case .attributesChanged(let participant, let attributes):
            writer.write(participant.rawValue)
            attributes.write(into: &writer)
        case .roleChanged(let participant, let role):
            writer.write(participant.rawValue)
            writer.write(role.rawValue)
        case .subscriptionChanged(let stream, let isSubscribed):
            writer.write(stream.rawValue)
            writer.write(flag: isSubscribed)
        case .requestRefused(let request, let subject, let refusal):
            writer.write(request.rawValue)
            writer.write(subject)
            writer.write(refusal.rawValue)
        case .removed(let reason): writer.write(reason.rawValue)
        case .refused(let refusal, let versions):
            writer.write(refusal.rawValue)
            writer.write(versions.lowerBound)
            writer.write(versions.upperBound)
        case .renewed(let expiresIn): writer.write(lifetime: expiresIn)
        case .ping(let microseconds), .pong(let microseconds): writer.write(microseconds)
        }
    }

    /// Reads a whole body.
    init(type: MessageType, body reader: inout ByteReader) throws(RoomProtocolError) {
        switch type {
        case .join: self = .join(try JoinRequest(from: &reader))
        case .leave: self = .leave
        case .publish:
            self = .publish(
                try StreamAssignment(from: &reader), interruptibleBy: try reader.code(), name: try reader.streamName())
        case .unpublish: self = .unpublish(try reader.stream())
        case .subscribe: self = .subscribe(try reader.stream())
        case .unsubscribe: self = .unsubscribe(try reader.stream())
        case .setMuted: self = .setMuted(try reader.stream(), try reader.flag())
        case .send:
            self = .send(
                destination: try reader.destination(), kind: try reader.code(),
                bytes: try reader.bytes(limit: RoomProtocol.messageLimit))
        case .interrupt: self = .interrupt(try reader.stream())
        case .renew: self = .renew(token: try reader.bytes(limit: RoomProtocol.tokenLimit))
        case .tellGeneration: self = .tellGeneration(try GenerationStart(from: &reader))
        case .tellHeard: self = .tellHeard(try HeardReport(from: &reader))
        case .setAttributes: self = .setAttributes(try ParticipantAttributes(from: &reader))
        case .setRole: self = .setRole(try reader.code())
        case .handled: self = .handled(count: try reader.number())
        case .joined: self = .joined(try JoinGrant(from: &reader))
        case .participantJoined: self = .participantJoined(try RosterEntry(from: &reader))
        case .participantLeft: self = .participantLeft(try reader.participant(), try reader.code())
        case .published: self = .published(try reader.participant(), try PublishedStream(from: &reader))
        case .unpublished: self = .unpublished(try reader.participant(), try reader.stream())
        case .muteChanged: self = .muteChanged(try reader.stream(), try reader.mute())
        case .message:
            self = .message(
                sender: try reader.participant(), destination: try reader.destination(), kind: try reader.code(),
                bytes: try reader.bytes(limit: RoomProtocol.messageLimit))
        case .interrupted:
            self = .interrupted(by: try reader.participant(), try reader.stream(), generation: try reader.number())
        case .generationStarted:
            self = .generationStarted(try reader.participant(), try GenerationStart(from: &reader))
        case .heard: self = .heard(by: try reader.participant(), try HeardReport(from: &reader))
        case .attributesChanged:
            self = .attributesChanged(try reader.participant(), try ParticipantAttributes(from: &reader))
        case .roleChanged: self = .roleChanged(try reader.participant(), try reader.code())
        case .subscriptionChanged: self = .subscriptionChanged(try reader.stream(), try reader.flag())
        case .requestRefused:
            self = .requestRefused(try reader.code(), subject: try reader.number(), try reader.code())
        case .removed: self = .removed(try reader.code())
        case .refused: self = .refused(try reader.code(), versions: try reader.versions())
        case .renewed: self = .renewed(expiresIn: try reader.lifetime())
        case .ping: self = .ping(microseconds: try reader.number())
        case .pong: self = .pong(microseconds: try reader.number())
        }
        guard reader.remaining == 0 else { throw .trailingBytes }
    }
}
