import Synchronization
import VoiceEngine
import VoiceRooms
import VoiceTransport

/// Tells what happens in a server's rooms: NDJSON for scripts, or lines for people.
final class RoomServeLog: Sendable {
    /// Who a number is: an identity is one person's in one room.
    private struct Person {
        let identity: String
        let room: String
    }

    private let json: Bool
    private let people = Mutex<[ParticipantID: Person]>([:])

    init(json: Bool) { self.json = json }

    func listening(address: String, port: UInt16, url: String, fingerprint: CertificateFingerprint?) {
        if json {
            Console.emit(
                RoomServing(address: address, port: port, url: url, fingerprint: fingerprint.map { "\($0)" }))
        } else {
            Console.say("serving rooms on \(url)")
        }
    }

    /// A call to paste.
    func suggest(_ call: String) {
        if json { Console.emit(RoomCall(command: call)) } else { Console.say(call) }
    }

    /// Files were read again, after SIGHUP.
    func reloaded(_ files: String) { tell(RoomEvent(type: "reloaded", detail: "read again: \(files)")) }

    func show(_ event: RoomDirectoryEvent) { tell(line(event)) }

    /// What is told of an event.
    func line(_ event: RoomDirectoryEvent) -> RoomEvent {
        switch event {
        case .roomOpened(let room): return RoomEvent(type: "room_opened", detail: "room '\(room)' opened", room: room)
        case .roomClosed(let room): return RoomEvent(type: "room_closed", detail: "room '\(room)' closed", room: room)
        case .joined(let participant, let identity, let room):
            people.withLock { $0[participant] = Person(identity: identity, room: room) }
            return RoomEvent(
                type: "participant_joined", detail: "\(identity) came into room '\(room)'", room: room,
                participant: identity)
        case .lost(let participant): return line("participant_lost", participant, "does not answer")
        case .resumed(let participant): return line("participant_resumed", participant, "is back")
        case .left(let participant, let reason):
            let text =
                switch reason {
                case .left: "went out"
                case .timedOut: "was lost"
                case .removed: "was put out, or joined again"
                }
            defer { people.withLock { $0[participant] = nil } }
            return line("participant_left", participant, text)
        case .refused(_, let refusal, let others, let address):
            let place = address.map { " from \($0)" } ?? ""
            let more = others > 0 ? ", and \(others) more before it" : ""
            return RoomEvent(
                type: "join_refused", detail: "a join\(place) was refused\(more): \(refusal.explanation)",
                address: address)
        }
    }

    /// How the server does now, for whoever asks.
    func tell(_ statistics: RoomServerStatistics) {
        let counts = RoomCounts(statistics)
        if json { Console.emit(counts) } else { Console.say(counts.text) }
    }

    func end(_ statistics: RoomServerStatistics) {
        let summary = RoomServed(statistics)
        if json {
            Console.emit(summary)
        } else {
            Console.say(summary.text)
        }
    }

    private func line(_ type: String, _ participant: ParticipantID, _ text: String) -> RoomEvent {
        guard let person = people.withLock({ $0[participant] }) else {
            return RoomEvent(type: type, detail: "\(participant) \(text)", participant: "\(participant)")
        }
        return RoomEvent(
            type: type, detail: "\(person.identity) in room '\(person.room)' \(text)", room: person.room,
            participant: person.identity)
    }

    private func tell(_ event: RoomEvent) {
        if json { Console.emit(event) } else { Console.say(event.detail) }
    }
}

/// The server listens.
struct RoomServing: JSONLine {
    let schema = "duplexvoice.room.serve/1"
    let type = "listening"
    let time = WallClock.seconds
    var address: String
    var port: UInt16
    /// For `duplex call --server`.
    var url: String
    /// Of the server's certificate, where there is one.
    var fingerprint: String?
}

/// A command that comes into a room of the server.
struct RoomCall: JSONLine {
    let schema = "duplexvoice.room.serve/1"
    let type = "call"
    var command: String
}

/// Something happened in a room.
struct RoomEvent: JSONLine {
    let schema = "duplexvoice.room.serve/1"
    let type: String
    /// When, seconds since 1970.
    let time = WallClock.seconds
    /// For people.
    var detail: String
    var room: String?
    /// By the identity of their token.
    var participant: String?
    /// Where a join came from that was refused.
    var address: String?
}

/// How the server does.
struct RoomCounts: JSONLine {
    let schema = "duplexvoice.room.serve/1"
    let type = "statistics"
    let time = WallClock.seconds
    var rooms: Int
    /// Those in a break included.
    var participants: Int
    /// The most messages that have waited for one of them since the start.
    var longestQueue: Int
    var packetsReceived: Int
    var packetsForwarded: Int
    /// Copies that the system did not take.
    var packetsNotSent: Int
    /// As in ``RoomServed``.
    var datagramsRejected: Int
    var joinsRefused: Int

    init(_ statistics: RoomServerStatistics) {
        let served = RoomServed(statistics)
        rooms = statistics.rooms
        participants = statistics.participants
        longestQueue = statistics.longestQueue
        packetsReceived = served.packetsReceived
        packetsForwarded = served.packetsForwarded
        packetsNotSent = statistics.packetsNotSent
        datagramsRejected = served.datagramsRejected
        joinsRefused = served.joinsRefused
    }

    /// For people.
    var text: String {
        "\(participants.counted("participant")) in \(rooms.counted("room")); "
            + "received \(packetsReceived.counted("packet")), forwarded \(packetsForwarded), not sent \(packetsNotSent); "
            + "rejected \(datagramsRejected.counted("datagram")), refused \(joinsRefused.counted("join")); "
            + "at most \(longestQueue.counted("message")) waited for one participant"
    }
}

/// The server has ended.
struct RoomServed: JSONLine {
    let schema = "duplexvoice.room.serve/1"
    let type = "summary"
    let time = WallClock.seconds
    var packetsReceived: Int
    var packetsForwarded: Int
    /// Datagrams that were neither sound nor the protocol's, or not from where they should be.
    var datagramsRejected: Int
    /// Joins that were refused, or dropped because too many came; each copy counted.
    var joinsRefused: Int

    init(_ statistics: RoomServerStatistics) {
        packetsReceived = statistics.packetsReceived
        packetsForwarded = statistics.packetsForwarded
        datagramsRejected =
            statistics.rejectedControlDatagrams + statistics.unknownDatagrams + statistics.packetsNotPublished
            + statistics.controlDatagramsOverloaded + statistics.packetsOverloaded
        joinsRefused = statistics.joinsRefused + statistics.joinsOverloaded
    }

    /// For people.
    var text: String {
        "received \(packetsReceived.counted("packet")), forwarded \(packetsForwarded); "
            + "rejected \(datagramsRejected.counted("datagram")), refused \(joinsRefused.counted("join"))"
    }
}
