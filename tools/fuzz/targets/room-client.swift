// modules: VoiceWire VoiceRooms
// length: 600
//
// A client in a room whose server says anything: messages of the protocol in their order with numbers of the input's choice in them, any bytes,
// silence; and an application that asks for things meanwhile. Nothing may trap, no datagram may cost more than its budget.

import VoiceRooms
import VoiceWire

/// One datagram of at most 1200 bytes, with everything that the client has to say afterwards.
private let handling = Budget("a datagram to the client", limit: 200_000)

/// Datagrams that one input makes the client send at most: what may be in flight.
private let mostDatagrams = 64
private let association: UInt64 = 0x0102_0304_0506_0708

/// libFuzzer's entry: one input, always answered 0; a precondition that fails is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes = unsafe bytes, let session = try? RoomSession(token: [1, 2, 3], association: association) else {
        return 0
    }
    var choices = Choices(unsafe Span(_unsafeStart: bytes, count: count))
    var scene = Scene(session)
    while !choices.isEmpty { scene.step(&choices) }
    return 0
}

/// The join is granted into rooms of several sizes; then each kind of step is taken.
func makeSeeds() -> [[UInt8]] {
    var steps: [UInt8] = []
    for kind in 0..<UInt8(16) {
        for number in 0..<UInt8(6) { steps += [kind, number, 1, 2, 3] }
    }
    var seeds: [[UInt8]] = []
    for others in 0...UInt8(3) { seeds.append([0, others] + steps) }
    // Silence of 10 s and more, a grant on the way back, silence again.
    let away: [UInt8] = [0, 3, 13, 255, 13, 255, 0, 3, 13, 255]
    seeds.append(away + steps)
    // Forgotten by the server, and back.
    let forgotten: [UInt8] = [0, 3, 14, 0, 2]
    seeds.append(forgotten + steps)
    return seeds
}

private struct Scene {
    private var session: RoomSession
    private var now = Duration.seconds(1)
    /// What the server says next, and what it has had.
    private var next: UInt32 = 1
    private var awaited: UInt32 = 1
    private var association: UInt64

    init(_ session: RoomSession) {
        self.session = session
        association = session.association
        try? self.session.join(now: now)
        drain()
    }

    mutating func step(_ choices: inout Choices) {
        now += .microseconds(100)
        let kind = choices.byte() & 15
        switch kind {
        case 0: grant(others: choices.number(below: 8))
        case 1...8:
            let number = choices.byte()
            say([message(kind, number, choices.byte() & 3)])
        case 9:
            let (kind, number) = (choices.byte() % 8 + 1, choices.byte())
            say((0..<1 + choices.number(below: 60)).map { message(kind, number &+ UInt8($0), UInt8($0) & 3) })
        case 10: ask(choices.byte(), StreamID(rawValue: UInt32(choices.byte()) + 1))
        case 11: deliver(choices.bytes(choices.number(below: 256)))
        case 12: rawFrame(&choices)
        case 13:
            now += .milliseconds(Int64(choices.byte()) * 40)
            handling.spend {
                session.handleTimeout(now: now)
                drain()
            }
        case 14: say([.unknownAssociation])
        default: say([.refused(.expired, versions: 1...1)])
        }
    }

    /// Lets the client in, with so many others there.
    private mutating func grant(others: Int) {
        let own = entry(1, number: 1)
        let grant = JoinGrant(
            version: 1, participant: own.participant, capabilities: .conversation, resumed: others & 1 == 1,
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
        return switch kind {
        case 1: .participantJoined(entry(participant.rawValue, number: Int(detail)))
        case 2: .participantLeft(participant, .left)
        case 3: .published(participant, PublishedStream(assignment))
        case 4: .unpublished(participant, stream)
        case 5: .muteChanged(stream, MuteState(rawValue: detail & 3))
        case 6: .message(sender: participant, destination: nil, bytes: [UInt8](repeating: number, count: 4))
        case 7: .interrupted(by: participant, stream, generation: UInt32(number) << (8 * UInt32(detail)))
        default:
            detail == 3 ? .removed(.restarting) : .requestRefused(.publish, subject: UInt32(number), .unknownStream)
        }
    }

    private mutating func ask(_ kind: UInt8, _ stream: StreamID) {
        let own = session.grant?.streams.first ?? StreamAssignment(stream: stream, synchronizationSource: 1)
        switch kind % 9 {
        case 0: try? session.publish(own)
        case 1: try? session.unpublish(stream)
        case 2: try? session.subscribe(to: stream)
        case 3: try? session.unsubscribe(from: stream)
        case 4: try? session.setMuted(kind & 64 == 0, stream: own.stream)
        case 5: try? session.send([UInt8](repeating: kind, count: Int(kind) * 4))
        case 6: try? session.interrupt(stream)
        case 7: session.leave(now: now)
        default: try? session.renew(token: [4, 5, 6], now: now)
        }
        drain()
    }

    // MARK: The way to the client and back

    private mutating func say(_ messages: [RoomMessage]) {
        var frames: [ControlDatagram.Frame] = []
        for message in messages {
            switch message {
            case .unknownAssociation, .refused: frames.append(ControlDatagram.Frame(sequence: 0, message: message))
            default:
                frames.append(ControlDatagram.Frame(sequence: next, message: message))
                next &+= 1
            }
        }
        deliver(ControlDatagram(association: association, acknowledged: awaited, frames: frames).encoded())
    }

    private mutating func rawFrame(_ choices: inout Choices) {
        let datagram = ControlDatagram(association: association, acknowledged: awaited, frames: []).encoded()
        let type = choices.byte()
        let body = choices.bytes(choices.number(below: 256))
        let sequence = next &+ UInt32(choices.byte() & 3)
        let head = [type, 0, UInt8(body.count)] + (0..<4).map { UInt8(truncatingIfNeeded: sequence >> (24 - 8 * $0)) }
        deliver(datagram + head + body)
    }

    private mutating func deliver(_ datagram: [UInt8]) {
        handling.spend {
            _ = try? session.handle(datagram: datagram.span, now: now)
            session.handleTimeout(now: now)
            drain()
        }
    }

    private mutating func drain() {
        var sent = 0
        while let bytes = session.pollDatagram(now: now) {
            sent += 1
            precondition(bytes.count <= RoomProtocol.datagramLimit, "a datagram beyond the protocol's limit")
            precondition(sent <= mostDatagrams, "one datagram makes the client send without end")
            hear(bytes)
        }
        while session.pollEvent() != nil {}
    }

    private mutating func hear(_ bytes: [UInt8]) {
        guard let datagram = try? ControlDatagram(decoding: bytes.span) else {
            preconditionFailure("the client sends what nobody can read")
        }
        if datagram.association != association {
            (association, next, awaited) = (datagram.association, 1, 1)
        }
        for frame in datagram.frames where frame.sequence == awaited { awaited &+= 1 }
    }
}
