// modules: VoiceWire VoiceRooms
// length: 500
//
// Eight members of two rooms and a stranger on a room server: joins, requests, acknowledgements, breaks and rejoins as the protocol has them, with
// numbers of the input's choice in them, and any bytes besides. Nothing may trap, no datagram may cost more than its budget, and nothing may
// grow with what was not accepted.

import VoicePeers
import VoiceRooms
import VoiceWire

private let members = 8

/// One datagram of at most 1200 bytes, with everything that the server has to say afterwards.
private let handling = Budget("a datagram to the server", limit: 100_000)
private let ticking = Budget("a timeout of the server", limit: 100_000)
private let forwarding = Budget("a media packet at the server", limit: 200)

/// Datagrams that one input makes the server send at most: as many as may be in flight to each member, and an answer to each.
private let mostDatagrams = members * 64

/// What a member knows of its association.
private struct Member {
    var association: UInt64
    var next: UInt32 = 1
    var awaited: UInt32 = 1
    var grant: JoinGrant?
    /// Whether it acknowledges what it gets.
    var listens = true

    mutating func startOver() {
        association += 1
        (next, awaited) = (1, 1)
    }
}

/// libFuzzer's entry: one input, always answered 0; a precondition that fails is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes = unsafe bytes else { return 0 }
    var choices = Choices(unsafe Span(_unsafeStart: bytes, count: count))
    var scene = Scene()
    while !choices.isEmpty { scene.step(&choices) }
    return 0
}

/// Everybody joins and publishes; then each kind of step is taken by each member.
func makeSeeds() -> [[UInt8]] {
    var joins: [UInt8] = []
    var publishing: [UInt8] = []
    var everything: [UInt8] = []
    for member in 0..<UInt8(members) {
        let who = member << 4
        joins += [who | 1, 0]
        publishing += [who | 2, 0, 0]
        for kind in 0..<UInt8(16) { everything += [who | kind, 1, 2, 3, 4, 5, 6, 7] }
    }
    let inRoom = joins + publishing
    var seeds = [joins, inRoom, inRoom + everything]
    // Silence of 40 s and more, then the ways back.
    let silence: [UInt8] = [15, 200, 15, 200, 1, 1, 0x11, 1]
    seeds.append(inRoom + silence)
    // As many requests of a kind as fit into a datagram.
    for kind in 0..<UInt8(9) {
        let flood: [UInt8] = [11, kind, 107, 1, 0]
        seeds.append(inRoom + flood + flood)
    }
    return seeds
}

private struct Scene {
    private var directory = RoomDirectory(configuration: RoomDirectoryConfiguration(roomCapacity: members))
    private var people = (0..<members).map { Member(association: UInt64($0 + 1) << 32) }
    private var now = Duration.seconds(1)
    private var entropy: UInt64 = 1

    /// Members 0 to 5 share a room, 6 and 7 another.
    private static func room(of member: Int) -> String { member < 6 ? "one" : "two" }

    private static func address(of member: Int) -> EndpointAddress {
        EndpointAddress(high: 0, low: UInt64(member), port: 1_000)
    }

    /// One thing that happens: the first byte says who does what.
    mutating func step(_ choices: inout Choices) {
        let head = choices.byte()
        let who = Int(head >> 4) % members
        now += .microseconds(100)
        switch head & 15 {
        case 1: join(who, claims: choices.byte() & 1 == 1)
        case 2...10: request(who, kind: head & 15, copies: 1, &choices)
        case 11:
            let kind = choices.byte() % 9 + 2
            request(who, kind: kind, copies: 1 + Int(choices.byte()) % 108, &choices)
        case 12: media(who, &choices)
        case 13:
            people[who].listens.toggle()
            send(who, [])
        case 14: deliver(choices.bytes(Int(choices.byte())), from: who)
        case 15: pass(choices.byte())
        default: rawFrames(who, &choices)
        }
    }

    // MARK: What members do

    private mutating func join(_ who: Int, claims: Bool) {
        people[who].startOver()
        let claim = people[who].grant.map {
            RejoinClaim(participant: $0.participant, secret: $0.secret, handledCount: $0.handledCount)
        }
        let request = JoinRequest(
            capabilities: who % 4 == 3 ? [.subscribe] : .conversation, room: Self.room(of: who), token: [UInt8(who)],
            rejoin: claims ? claim : nil)
        send(who, [.join(request)])
    }

    private mutating func request(_ who: Int, kind: UInt8, copies: Int, _ choices: inout Choices) {
        let number = choices.byte()
        let stream = StreamID(rawValue: UInt32(number) % 24 + 1)
        let own = people[who].grant?.streams.first
        let assignment =
            number & 128 != 0 ? StreamAssignment(stream: stream, synchronizationSource: UInt32(number)) : own
        guard let assignment else { return }
        let flag = choices.byte() & 1 == 1
        var messages: [RoomMessage] = []
        for copy in 0..<copies {
            switch kind {
            case 2: messages.append(.publish(assignment, interruptibleBy: flag ? .anyone : .publisher))
            case 3: messages.append(.unpublish(assignment.stream))
            case 4: messages.append(.subscribe(stream))
            case 5: messages.append(.unsubscribe(stream))
            case 6: messages.append(.setMuted(assignment.stream, flag != (copy & 1 == 1)))
            case 7:
                let destination = number & 15
                messages.append(
                    .send(
                        destination: destination == 0 ? nil : ParticipantID(rawValue: UInt32(destination)),
                        bytes: [UInt8](repeating: number, count: copies == 1 ? Int(number) * 4 : 1)))
            case 8: messages.append(.interrupt(stream))
            case 9: messages.append(copy == copies - 1 ? .leave : .subscribe(stream))
            default: messages.append(.ping(microseconds: UInt64(number)))
            }
        }
        send(who, messages)
    }

    private mutating func rawFrames(_ who: Int, _ choices: inout Choices) {
        var datagram = ControlDatagram(
            association: people[who].association, acknowledged: people[who].awaited, frames: []
        ).encoded()
        let type = choices.byte()
        let body = choices.bytes(Int(choices.byte()))
        let sequence = people[who].next &+ UInt32(choices.byte() & 3)
        datagram +=
            [type, 0, UInt8(body.count)] + (0..<4).map { UInt8(truncatingIfNeeded: sequence >> (24 - 8 * $0)) } + body
        people[who].next = sequence &+ 1
        deliver(datagram, from: who)
    }

    private mutating func media(_ who: Int, _ choices: inout Choices) {
        let source = Self.address(of: choices.byte() & 1 == 0 ? who : choices.number(below: members))
        let sender =
            people[choices.number(below: members)].grant?.streams.first?.synchronizationSource ?? choices.word()
        forwarding.spend {
            _ = directory.forward(source: source, synchronizationSource: sender, repeats: choices.byte() & 1 == 1)
            _ = directory.forwardReport(source: source, synchronizationSource: sender)
        }
    }

    private mutating func pass(_ amount: UInt8) {
        switch amount {
        case 253: directory.shutDown(now: now)
        case 254: directory.remove(ParticipantID(rawValue: UInt32(amount % 16)), now: now)
        case 255: directory.setServerMute(true, stream: StreamID(rawValue: 1), now: now)
        default: now += .milliseconds(Int64(amount) * Int64(amount))
        }
        ticking.spend {
            directory.handleTimeout(now: now)
            drain()
        }
    }

    // MARK: The way to the server and back

    private mutating func send(_ who: Int, _ messages: [RoomMessage]) {
        var frames: [ControlDatagram.Frame] = []
        for message in messages {
            if case .ping = message {
                frames.append(ControlDatagram.Frame(sequence: 0, message: message))
            } else {
                frames.append(ControlDatagram.Frame(sequence: people[who].next, message: message))
                people[who].next &+= 1
            }
        }
        let datagram = ControlDatagram(
            association: people[who].association, acknowledged: people[who].listens ? people[who].awaited : 1,
            frames: frames
        ).encoded()
        deliver(datagram, from: who)
    }

    private mutating func deliver(_ datagram: [UInt8], from who: Int) {
        handling.spend {
            _ = try? directory.handle(datagram: datagram.span, from: Self.address(of: who), now: now)
            directory.handleTimeout(now: now)
            drain()
        }
        precondition(directory.participantCount <= members, "more participants than people")
        precondition(directory.roomNames.count <= 2, "more rooms than were asked for")
    }

    private mutating func drain() {
        while let request = directory.pollVerification() {
            let who = Int(request.token.first ?? 0)
            let verdict: TokenVerdict =
                request.token.count == 1 && who < members
                ? .granted(TokenGrants(identity: "\(who)", room: Self.room(of: who))) : .refused(.badSignature)
            entropy += 1
            directory.answer(request.id, verdict, entropy: makeEntropy(entropy), now: now)
        }
        var sent = 0
        while let (destination, bytes) = directory.pollDatagram(now: now) {
            sent += 1
            precondition(bytes.count <= RoomProtocol.datagramLimit, "a datagram beyond the protocol's limit")
            precondition(sent <= mostDatagrams, "one datagram makes the server send without end")
            hear(bytes, at: Int(destination.low))
        }
        while directory.pollEvent() != nil {}
    }

    private mutating func hear(_ bytes: [UInt8], at who: Int) {
        guard who < members, let datagram = try? ControlDatagram(decoding: bytes.span) else {
            preconditionFailure("the server sends what nobody can read")
        }
        guard datagram.association == people[who].association else { return }
        for frame in datagram.frames where frame.sequence == people[who].awaited {
            people[who].awaited &+= 1
            if case .joined(let grant) = frame.message { people[who].grant = grant }
        }
    }
}

private func makeEntropy(_ number: UInt64) -> JoinEntropy {
    JoinEntropy(
        secret: RejoinSecret(high: number, low: 2), synchronizationSource: UInt32(truncatingIfNeeded: number &* 77),
        challengeKey: ChallengeKey(high: number, low: 5))
}
