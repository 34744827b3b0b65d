import Glibc
import Testing

@testable import VoiceRooms

/// The vectors of docs/protocol.md: what they mean is written here, what they look like there.
struct ProtocolVectorTests {
    static let assignment = StreamAssignment(stream: .init(rawValue: 5), synchronizationSource: 0xDECA_FBAD)
    static let alice = ParticipantID(rawValue: 3)
    static let bob = ParticipantID(rawValue: 4)
    static let secret = RejoinSecret(high: 0xA0A1_A2A3_A4A5_A6A7, low: 0xA8A9_AAAB_ACAD_AEAF)
    static let generationStart = GenerationStart(
        stream: StreamID(rawValue: 5), generation: 12, timestamp: 0x1234_5678)
    static let other = StreamID(rawValue: 8)
    static let attributes: ParticipantAttributes = {
        do throws(RoomSessionError) {
            return try ParticipantAttributes(["state": "thinking", "hand": ""])
        } catch { return ParticipantAttributes() }
    }()

    static func one(_ message: RoomMessage, _ sequence: UInt32, after acknowledged: UInt32) -> ControlDatagram {
        ControlDatagram(
            acknowledged: acknowledged,
            frames: [.init(sequence: sequence, message: message)])
    }

    static let meanings: [String: ControlDatagram] = [
        "acknowledgement": ControlDatagram(acknowledged: 7, frames: []),
        "join and publish": one(
            .join(
                JoinRequest(
                    versions: 7...7, capabilities: .conversation, room: "", token: Array("a.b.c".utf8),
                    publishing: .anyone)), 1, after: 1),
        "join": one(
            .join(
                JoinRequest(versions: 7...7, capabilities: .conversation, room: "kitchen", token: Array("a.b.c".utf8))),
            1, after: 1),
        "rejoin": one(
            .join(
                JoinRequest(
                    versions: 7...7, capabilities: .conversation, room: "", token: Array("a.b.c".utf8),
                    rejoin: RejoinClaim(participant: alice, secret: secret, handledCount: 9, attempt: 2))), 1, after: 1),
        "leave": one(.leave, 6, after: 4),
        "join to listen": one(
            .join(
                JoinRequest(
                    versions: 7...7, capabilities: .conversation, role: .listener, room: "", token: Array("a.b.c".utf8))
            ), 1, after: 1),
        "publish": one(.publish(assignment, interruptibleBy: .anyone, name: "mic"), 2, after: 4),
        "unpublish": one(.unpublish(assignment.stream), 3, after: 4),
        "subscribe": one(.subscribe(other), 4, after: 4),
        "unsubscribe": one(.unsubscribe(other), 5, after: 4),
        "setMuted": one(.setMuted(assignment.stream, true), 6, after: 4),
        "send": one(.send(destination: nil, kind: .text, bytes: Array("grüß dich".utf8)), 7, after: 4),
        "interrupt": one(.interrupt(other), 8, after: 4),
        "renew": one(.renew(token: Array("d.e.f".utf8)), 9, after: 4),
        "tellGeneration": one(.tellGeneration(generationStart), 9, after: 4),
        "tellHeard": one(
            .tellHeard(
                HeardReport(stream: other, utterance: 2, milliseconds: 1_500, boundMilliseconds: 9, isFinal: true)), 10,
            after: 4),
        "setAttributes": one(.setAttributes(attributes), 11, after: 4),
        "setRole": one(.setRole(.listener), 12, after: 4),
        "handled": one(.handled(count: 21), 10, after: 4),
        "joined": one(
            .joined(
                JoinGrant(
                    version: 7, participant: alice, capabilities: .conversation, resumed: false, handledCount: 0,
                    secret: secret, keepaliveInterval: .seconds(2), room: "kitchen", streams: [assignment],
                    rosterCount: 2, expiresIn: .seconds(3_600))), 1, after: 2),
        "participantJoined": one(
            .participantJoined(
                RosterEntry(
                    participant: alice, identity: "alice", name: "Alice", attributes: attributes,
                    streams: [
                        PublishedStream(
                            assignment, mute: .byPublisher, generation: 11, interruptibleBy: .anyone, name: "mic")
                    ])), 2, after: 2),
        "participantLeft": one(.participantLeft(alice, .timedOut), 4, after: 2),
        "published": one(.published(alice, PublishedStream(assignment)), 5, after: 2),
        "unpublished": one(.unpublished(alice, assignment.stream), 6, after: 2),
        "muteChanged": one(.muteChanged(assignment.stream, [.byPublisher, .byServer]), 7, after: 2),
        "message": one(.message(sender: alice, destination: bob, bytes: [0, 255]), 8, after: 2),
        "interrupted": one(.interrupted(by: bob, assignment.stream, generation: 12), 9, after: 2),
        "generationStarted": one(.generationStarted(alice, generationStart), 10, after: 2),
        "heard": one(
            .heard(
                by: bob,
                HeardReport(
                    stream: assignment.stream, utterance: 2, milliseconds: 1_500, boundMilliseconds: 9, isFinal: false)),
            11, after: 2),
        "attributesChanged": one(.attributesChanged(alice, attributes), 12, after: 2),
        "roleChanged": one(.roleChanged(alice, .listener), 13, after: 2),
        "subscriptionChanged": one(.subscriptionChanged(other, true), 14, after: 2),
        "requestRefused": one(.requestRefused(.publish, subject: 5, .noPublishRight), 10, after: 2),
        "removed": one(.removed(.replaced), 11, after: 2),
        "refused": one(.refused(.versionMismatch, versions: 7...7), 1, after: 2),
        "renewed": one(.renewed(expiresIn: .seconds(600)), 12, after: 2),
        "renewed for ever": one(.renewed(expiresIn: nil), 12, after: 2),
        "ping": one(.ping(microseconds: 1_500_000), 0, after: 4),
        "pong": one(.pong(microseconds: 1_500_000), 0, after: 2),
        "several": ControlDatagram(
            acknowledged: 2,
            frames: [
                .init(sequence: 0, message: .pong(microseconds: 1)),
                .init(sequence: 4, message: .participantLeft(alice, .left)),
                .init(sequence: 5, message: .unpublished(alice, assignment.stream)),
            ]),
    ]

    /// The blocks "```vector name" of the document.
    static func documented() throws -> [String: [UInt8]] {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        let text = try #require(read(root.joined(separator: "/") + "/docs/protocol.md"))
        var vectors: [String: [UInt8]] = [:]
        var name: String?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```vector ") {
                name = String(line.dropFirst("```vector ".count))
                vectors[name ?? "", default: []] = []
            } else if line.hasPrefix("```") {
                name = nil
            } else if let name {
                for byte in line.split(separator: " ") { vectors[name]?.append(try #require(UInt8(byte, radix: 16))) }
            }
        }
        return vectors
    }

    static func read(_ path: String) -> String? {
        guard let file = unsafe fopen(path, "r") else { return nil }
        defer { unsafe fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = unsafe getc(file), byte >= 0 { bytes.append(UInt8(byte)) }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func documentAndCodeAgree() throws {
        let documented = try Self.documented()
        #expect(Set(documented.keys) == Set(Self.meanings.keys))
        for (name, bytes) in documented {
            let meaning = try #require(Self.meanings[name])
            #expect(meaning.encoded() == bytes, "\(name)")
            #expect(try ControlDatagram(decoding: bytes.span) == meaning, "\(name)")
        }
    }

    @Test func everyMessageHasAVector() {
        let covered = Set(Self.meanings.values.flatMap(\.frames).map(\.message.type.rawValue))
        let all = Set((UInt8.min...UInt8.max).compactMap { MessageType(rawValue: $0)?.rawValue })
        #expect(covered == all)
    }

    @Test func everyTruncationIsAnErrorOrAShorterDatagram() throws {
        for (name, meaning) in Self.meanings {
            let bytes = meaning.encoded()
            for count in 0..<bytes.count {
                let cut = Array(bytes.prefix(count))
                // Only a cut between two frames leaves a datagram.
                if let decoded = try? ControlDatagram(decoding: cut.span) {
                    #expect(meaning.frames.starts(with: decoded.frames), "\(name) cut to \(count)")
                    #expect(decoded.frames.count < meaning.frames.count, "\(name) cut to \(count)")
                } else {
                    #expect(throws: RoomProtocolError.truncated) { try ControlDatagram(decoding: cut.span) }
                }
            }
        }
    }

    @Test func aBodyMustBeExactlyItsFields() throws {
        for (name, meaning) in Self.meanings where meaning.frames.count == 1 {
            var bytes = meaning.encoded()
            let length = UInt16(bytes[5]) << 8 | UInt16(bytes[6])
            // One byte more than the fields
            bytes.append(0)
            bytes[5] = UInt8((length + 1) >> 8)
            bytes[6] = UInt8((length + 1) & 0xFF)
            #expect(throws: RoomProtocolError.trailingBytes, "\(name)") { try ControlDatagram(decoding: bytes.span) }
            // One byte less
            guard length > 0 else { continue }
            bytes.removeLast(2)
            bytes[5] = UInt8((length - 1) >> 8)
            bytes[6] = UInt8((length - 1) & 0xFF)
            #expect(throws: RoomProtocolError.truncated, "\(name)") { try ControlDatagram(decoding: bytes.span) }
        }
    }

    struct Damage: CustomTestStringConvertible, Sendable {
        let vector: String
        let offset: Int
        let value: UInt8
        let error: RoomProtocolError
        var testDescription: String { "\(vector)[\(offset)] = \(value): \(error)" }
    }

    @Test(arguments: [
        Damage(vector: "ping", offset: 4, value: 0xFF, error: .unknownMessage(0xFF)),
        Damage(vector: "ping", offset: 10, value: 1, error: .invalidValue),
        Damage(vector: "leave", offset: 10, value: 0, error: .invalidValue),
        Damage(vector: "unpublish", offset: 14, value: 0, error: .invalidValue),
        Damage(vector: "setMuted", offset: 15, value: 2, error: .invalidValue),
        Damage(vector: "muteChanged", offset: 15, value: 4, error: .invalidValue),
        Damage(vector: "participantLeft", offset: 15, value: 0, error: .invalidValue),
        Damage(vector: "removed", offset: 11, value: 99, error: .invalidValue),
        Damage(vector: "refused", offset: 12, value: 8, error: .invalidValue),
        Damage(vector: "tellHeard", offset: 14, value: 0, error: .invalidValue),
        Damage(vector: "heard", offset: 29, value: 2, error: .invalidValue),
        Damage(vector: "join", offset: 17, value: 2, error: .invalidValue),
        Damage(vector: "join", offset: 18, value: 129, error: .fieldTooLong),
        Damage(vector: "join", offset: 19, value: 0xFF, error: .invalidText),
        Damage(vector: "join", offset: 26, value: 4, error: .fieldTooLong),
        Damage(vector: "publish", offset: 20, value: 65, error: .truncated),
        Damage(vector: "setRole", offset: 11, value: 2, error: .invalidValue),
        Damage(vector: "setAttributes", offset: 11, value: 17, error: .limitExceeded),
        Damage(vector: "setAttributes", offset: 12, value: 129, error: .fieldTooLong),
        Damage(vector: "setAttributes", offset: 17, value: 3, error: .fieldTooLong),
        Damage(vector: "setAttributes", offset: 20, value: 0xFF, error: .invalidText),
        Damage(vector: "roleChanged", offset: 15, value: 2, error: .invalidValue),
        Damage(vector: "subscriptionChanged", offset: 15, value: 2, error: .invalidValue),
        Damage(vector: "renew", offset: 11, value: 4, error: .fieldTooLong),
        Damage(vector: "participantJoined", offset: 52, value: 5, error: .limitExceeded),
    ])
    func aDamagedFieldIsNamed(_ damage: Damage) throws {
        var bytes = try #require(Self.meanings[damage.vector]).encoded()
        bytes[damage.offset] = damage.value
        #expect(throws: damage.error) { try ControlDatagram(decoding: bytes.span) }
    }

    @Test func anOversizedDatagramIsRefused() {
        let bytes = [UInt8](repeating: 0, count: RoomProtocol.datagramLimit + 1)
        #expect(throws: RoomProtocolError.oversized) { try ControlDatagram(decoding: bytes.span) }
    }

    @Test func theLargestMessagesFitInADatagram() throws {
        let streamName = String(repeating: "n", count: RoomProtocol.streamNameLimit)
        let keys = (0..<ParticipantAttributes.countLimit).map { "key\($0)" }
        let room = ParticipantAttributes.byteLimit - keys.reduce(0) { $0 + $1.utf8.count }
        let values = keys.indices.map { $0 == 0 ? String(repeating: "v", count: room) : "" }
        let fullAttributes = try ParticipantAttributes(
            Dictionary(uniqueKeysWithValues: zip(keys, values)))
        let text = String(repeating: "x", count: RoomProtocol.textLimit)
        let streams = [StreamAssignment](repeating: Self.assignment, count: RoomProtocol.streamLimit)
        let claim = RejoinClaim(participant: Self.alice, secret: Self.secret, handledCount: .max, attempt: .max)
        let largest: [RoomMessage] = [
            .join(
                JoinRequest(
                    capabilities: .conversation, room: text, token: .init(repeating: 1, count: RoomProtocol.tokenLimit),
                    publishing: .anyone, rejoin: claim)),
            .renew(token: .init(repeating: 1, count: RoomProtocol.tokenLimit)),
            .participantJoined(
                RosterEntry(
                    participant: Self.alice, identity: text, name: text, attributes: fullAttributes,
                    streams: streams.map { PublishedStream($0, name: streamName) })),
            .setAttributes(fullAttributes),
            .message(
                sender: Self.alice, destination: Self.bob, bytes: .init(repeating: 1, count: RoomProtocol.messageLimit)),
        ]
        for message in largest {
            #expect(Self.one(message, 1, after: 1).encoded().count <= RoomProtocol.datagramLimit)
        }
    }
}
