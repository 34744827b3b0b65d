// modules: VoiceQueue VoiceWire VoicePeers VoiceRooms
// length: 24
//
// A client that is in a room when a story begins, and whose server says anything, on paths without protection:
// handshakes, and messages of the protocol in their order with numbers of the input's choice in them, records out of
// their place, any bytes, silence; and an application that asks for things meanwhile. Nothing may trap, no datagram may
// cost more than its budget.

import VoicePeers
import VoiceRooms
import VoiceWire

/// One datagram, with everything that the client has to say afterwards.
private let handling = Budget("a datagram to the client", limit: 200_000)

/// Datagrams that one input makes the client send at most: what may be in flight.
private let mostDatagrams = 64
/// Answers of a server that follows the protocol, to one input: each hello of a path has one.
private let mostAnswers = 16

/// libFuzzer's entry: one input, always answered 0; a precondition that fails is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes = unsafe bytes else { return 0 }
    story.go(on: unsafe Span(_unsafeStart: bytes, count: count)) { scene, choices in scene.step(&choices) }
    return 0
}

private let story = Story({ Scene() }, isOver: \.isOver)

/// Kinds of steps.
private let kinds: UInt8 = 17

/// Each kind of step is taken, a few at a time.
func makeSeeds() -> [[UInt8]] {
    var seeds: [[UInt8]] = []
    for kind in 0..<kinds {
        for number in 0..<UInt8(6) { seeds.append([kind, number, 1, 2, 3]) }
    }
    // Interrupted, answered, and told that another's generation begins.
    seeds.append([7, 0, 0, 11, 9, 0, 9, 1, 0, 8, 1, 4])
    // Silence of 10 s and more, a grant on the way back, silence again.
    seeds.append([14, 255, 14, 255, 0, 3, 14, 255, 0, 2])
    // Forgotten by the server, silence until the doubt is over, and back.
    seeds.append([15, 4, 0, 14, 20, 0, 2])
    // Each record out of its place; then the server says nothing of its own, and the same again.
    for kind in 0..<UInt8(8) {
        seeds.append([15, kind, 0, 15, kind, 1])
        seeds.append([16, 1, 14, 255, 15, kind, 0, 15, kind, 1])
    }
    return seeds
}

private final class Scene {
    private var guest: RoomGuest<Plaintext>
    private var now = Duration.seconds(1)
    /// What the server says next, and what it has had.
    private var next: UInt32 = 1
    private var awaited: UInt32 = 1
    /// Of the latest conversation that the client has begun.
    private var nonce: UInt64 = 0
    /// Whether hellos are answered.
    private var answersHellos = true
    private var answers: [[UInt8]] = []
    /// What the client has sent and the server has not read.
    private var underWay: [[UInt8]] = []
    private static let cookie = [UInt8](1...16)

    init() {
        guard let session = try? RoomSession(token: [1, 2, 3]) else { fatalError("no session") }
        guest = RoomGuest(
            session: session, server: EndpointAddress(high: 0, low: 1, port: 1_000),
            security: Plaintext(key: CookieKey(high: 1, low: 2)), cookieKey: CookieKey(high: 3, low: 4))
        try? guest.session.join(now: now)
        drain()
        read()
        answer()
        grant(others: 2)
        precondition(guest.session.state == .joined, "the client is not let in")
    }

    /// Whether the client has left, or was put out, for good.
    var isOver: Bool { if case .ended = guest.session.state { true } else { false } }

    func step(_ choices: inout Choices) {
        now += .microseconds(100)
        let kind = choices.byte() % kinds
        switch kind {
        case 0: grant(others: choices.number(below: 8))
        case 1...9:
            let number = choices.byte()
            say([message(kind, number, choices.byte() & 3)])
        case 10:
            let (kind, number) = (choices.byte() % 9 + 1, choices.byte())
            say((0..<1 + choices.number(below: 60)).map { message(kind, number &+ UInt8($0), UInt8($0) & 3) })
        case 11: ask(choices.byte(), StreamID(rawValue: UInt32(choices.byte()) + 1))
        case 12: deliver(choices.bytes(choices.number(below: 256)))
        case 13: rawFrame(&choices)
        case 14:
            now += .milliseconds(Int64(choices.byte()) * 40)
            handling.spend {
                guest.handleTimeout(now: now)
                drain()
            }
            read()
        case 15: record(choices.byte(), choices.byte(), &choices)
        default:
            if choices.byte() & 1 == 1 {
                answersHellos.toggle()
            } else {
                say([.refused(.expired, versions: 1...1)])
            }
        }
        answer()
    }

    /// Lets the client in, with so many others there.
    private func grant(others: Int) {
        let own = entry(1, number: 1)
        let grant = JoinGrant(
            version: RoomProtocol.versions.upperBound, participant: own.participant, capabilities: .conversation,
            resumed: others & 1 == 1,
            handledCount: UInt32(others), secret: RejoinSecret(high: 1, low: 2), keepaliveInterval: .seconds(2),
            room: "room", streams: own.streams.map(\.assignment), rosterCount: UInt16(others + 1))
        say(
            [.joined(grant), .participantJoined(own)]
                + (0..<others).map { .participantJoined(entry(UInt32($0) + 2, number: $0)) })
    }

    private func entry(_ participant: UInt32, number: Int) -> RosterEntry {
        let stream = StreamAssignment(
            stream: StreamID(rawValue: participant), synchronizationSource: participant &* 1_000)
        return RosterEntry(
            participant: ParticipantID(rawValue: participant), identity: "member \(participant)", name: "",
            streams: number & 1 == 1 ? [PublishedStream(stream)] : [])
    }

    private func message(_ kind: UInt8, _ number: UInt8, _ detail: UInt8) -> RoomMessage {
        let participant = ParticipantID(rawValue: UInt32(number % 12) + 1)
        let stream = StreamID(rawValue: UInt32(number % 12) + 1)
        let assignment = StreamAssignment(stream: stream, synchronizationSource: UInt32(number))
        let generation = UInt32(number) << (8 * UInt32(detail))
        return switch kind {
        case 1: .participantJoined(entry(participant.rawValue, number: Int(detail)))
        case 2: .participantLeft(participant, .left)
        case 3: .published(participant, PublishedStream(assignment, generation: generation))
        case 4: .unpublished(participant, stream)
        case 5: .muteChanged(stream, MuteState(rawValue: detail & 3))
        case 6: .message(sender: participant, destination: nil, bytes: [UInt8](repeating: number, count: 4))
        case 7: .interrupted(by: participant, stream, generation: generation)
        case 8 where detail & 1 == 1:
            .heard(
                by: participant,
                HeardReport(
                    stream: stream, utterance: UInt32(number), milliseconds: generation, boundMilliseconds: 7,
                    isFinal: number & 1 == 1))
        case 8:
            .generationStarted(
                participant, GenerationStart(stream: stream, generation: generation, timestamp: UInt32(number)))
        default:
            switch detail {
            case 3: .removed(.restarting)
            case 2: .renewed(expiresIn: number == 255 ? nil : .seconds(Int64(number) * Int64(number)))
            case 1: .requestRefused(.renew, subject: 0, .expired)
            default: .requestRefused(.publish, subject: UInt32(number), .unknownStream)
            }
        }
    }

    private func ask(_ kind: UInt8, _ stream: StreamID) {
        let own = guest.session.grant?.streams.first ?? StreamAssignment(stream: stream, synchronizationSource: 1)
        switch kind % 10 {
        case 0: try? guest.session.ask(.publish(own))
        case 1: try? guest.session.ask(.unpublish(stream))
        case 2: try? guest.session.ask(.subscribe(stream))
        case 3: try? guest.session.ask(.unsubscribe(stream))
        case 4: try? guest.session.ask(.setMuted(own.stream, kind & 64 == 0))
        case 5: try? guest.session.ask(.send(destination: nil, bytes: [UInt8](repeating: kind, count: Int(kind) * 4)))
        case 6: try? guest.session.ask(.interrupt(stream))
        case 7: guest.session.leave(now: now)
        case 8:
            let start = GenerationStart(stream: own.stream, generation: stream.rawValue - 1, timestamp: UInt32(kind))
            try? guest.session.ask(.tellGeneration(start))
        default: try? guest.session.renew(token: [4, 5, 6], now: now)
        }
        drain()
        read()
    }

    // MARK: Records

    private func header(_ kind: UInt8, _ nonce: UInt64) -> [UInt8] {
        [13, kind] + (0..<8).map { UInt8(truncatingIfNeeded: nonce >> (56 - 8 * UInt64($0))) }
    }

    /// What somebody sends who can forge the server's address, and may have read the path.
    private func record(_ kind: UInt8, _ number: UInt8, _ choices: inout Choices) {
        let nonce = nonce ^ UInt64(number)
        switch kind % 8 {
        case 0: deliver(header(0, nonce) + Self.cookie)
        case 1: deliver(header(2, nonce) + Self.cookie)
        case 2: deliver(header(3, nonce))
        case 3: deliver(header(4, nonce))
        case 4: deliver([13, 5])
        case 5: deliver(header(1, nonce) + choices.bytes(choices.number(below: 64)))
        case 6: deliver([0x80, 111, 0, 1, 0, 0, 0, 0] + header(number, nonce)[2..<6] + [1])
        default: deliver(header(number, self.nonce) + choices.bytes(choices.number(below: 64)))
        }
    }

    /// Answers the hellos of the client as the protocol has it, until it has no more.
    private func answer() {
        var count = 0
        while !answers.isEmpty {
            count += 1
            precondition(count <= mostAnswers, "the client shakes hands without end")
            deliver(answers.removeFirst())
        }
    }

    // MARK: The way to the client and back

    private func say(_ messages: [RoomMessage]) {
        var frames: [ControlDatagram.Frame] = []
        for message in messages {
            frames.append(ControlDatagram.Frame(sequence: next, message: message))
            next &+= 1
        }
        deliver(header(1, nonce) + ControlDatagram(acknowledged: awaited, frames: frames).encoded())
    }

    private func rawFrame(_ choices: inout Choices) {
        let datagram = ControlDatagram(acknowledged: awaited, frames: []).encoded()
        let type = choices.byte()
        let body = choices.bytes(choices.number(below: 256))
        let sequence = next &+ UInt32(choices.byte() & 3)
        let head = [type, 0, UInt8(body.count)] + (0..<4).map { UInt8(truncatingIfNeeded: sequence >> (24 - 8 * $0)) }
        deliver(header(1, nonce) + datagram + head + body)
    }

    private func deliver(_ datagram: [UInt8]) {
        handling.spend {
            var bytes = datagram
            var span = bytes.mutableSpan
            _ = guest.receive(&span, now: now)
            guest.handleTimeout(now: now)
            drain()
        }
        read()
        precondition(guest.nextTimeout.map { $0 > now } ?? true, "a timer that is due is not handled")
    }

    private func drain() {
        var sent = 0
        var bytes = [UInt8](repeating: 0, count: 1_500)
        while true {
            var span = bytes.mutableSpan
            guard let count = guest.pollTransmit(into: &span, now: now) else {
                guard guest.wantsSocket else { break }
                guest.connect(now: now)
                continue
            }
            sent += 1
            precondition(sent <= mostDatagrams, "one datagram makes the client send without end")
            underWay.append(Array(bytes[..<count]))
        }
        while guest.session.pollEvent() != nil {}
    }

    /// The server reads what was sent; what that costs is its own.
    private func read() {
        for record in underWay { hear(record) }
        underWay = []
    }

    private func hear(_ record: [UInt8]) {
        precondition(record.count >= 10 && record[0] == 13, "the client sends what nobody can read")
        let sender = record[2..<10].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        switch record[1] {
        case 0:
            precondition(record.count == 26, "a hello without room for a cookie")
            if sender != nonce { (nonce, next, awaited) = (sender, 1, 1) }
            guard answersHellos else { return }
            let hasCookie = Array(record[10...]) == Self.cookie
            answers.append(hasCookie ? header(3, nonce) : header(2, nonce) + Self.cookie)
        case 1:
            let bytes = Array(record[10...])
            precondition(bytes.count <= RoomProtocol.datagramLimit, "a datagram beyond the protocol's limit")
            guard let datagram = try? ControlDatagram(decoding: bytes.span) else {
                preconditionFailure("the client sends what nobody can read")
            }
            // What was said on a path before.
            guard sender == nonce else { return }
            for frame in datagram.frames where frame.sequence == awaited { awaited &+= 1 }
        case 4: break
        default: preconditionFailure("the client sends what no client says")
        }
    }
}
