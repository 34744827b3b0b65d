// modules: VoiceQueue VoiceWire VoicePeers VoiceRooms
// length: 24
//
// Five members of two rooms, who are in and publish when a story begins, and three strangers on a room server, on paths
// without protection: joins, requests, acknowledgements, breaks and rejoins as the protocol has them, with numbers of
// the input's choice in them; records out of their place; and any bytes besides. Nothing may trap, no datagram may cost
// more than its budget, no answer to a stranger may be longer than its question, and nothing may grow with what was not
// accepted.

import VoicePeers
import VoiceRooms
import VoiceWire

private let members = 5
/// Addresses from which nobody joins.
private let strangers = 3

/// One datagram, with everything that the server has to say afterwards, retransmissions to the four of a room among it:
/// what may be in flight to each, 11,800 bytes, of which a path without protection copies every one by itself.
private let handling = Budget("a datagram to the server", limit: 300_000)
private let ticking = Budget("a timeout of the server", limit: 300_000)
private let forwarding = Budget("a media packet at the server", limit: 800)

/// Datagrams that one input makes the server send at most: as many as may be in flight to each member, and an answer to
/// each.
private let mostDatagrams = members * 64

/// What somebody at an address knows of its conversation.
private struct Person {
    var nonce: UInt64
    /// What the server has told this address.
    var cookie = [UInt8](repeating: 0, count: 16)
    var isWelcome = false
    var next: UInt32 = 1
    var awaited: UInt32 = 1
    var grant: JoinGrant?
    var attempt: UInt32 = 0
    /// Whether it acknowledges what it gets.
    var listens = true

    mutating func startOver() {
        nonce += 1
        isWelcome = false
        (next, awaited) = (1, 1)
    }
}

/// libFuzzer's entry: one input, always answered 0; a precondition that fails is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes = unsafe bytes else { return 0 }
    story.go(on: unsafe Span(_unsafeStart: bytes, count: count)) { scene, choices in scene.step(&choices) }
    return 0
}

private let story = Story({ Scene() }, isOver: \.isOver)

/// Each kind of step is taken by each member, a few steps at a time.
func makeSeeds() -> [[UInt8]] {
    var seeds: [[UInt8]] = []
    for member in 0..<UInt8(members) {
        let who = member << 4
        for kind in 0..<UInt8(16) { seeds.append([who | kind, 1, 2, 3]) }
        // Away for 40 s and more, and back.
        seeds.append([15, 200, 15, 200, who | 1, 1, who | 2, 0, 0])
        // Silent for 9 s, and back.
        seeds.append([who | 13, 15, 95, who | 1, 1, who | 13])
    }
    // Every record of a stranger, with and without a cookie, from addresses that are nobody's and from those of
    // members.
    for kind in 0..<UInt8(10) {
        for who in 0..<UInt8(members + strangers) {
            seeds.append([14 | 128, kind, who, 0, 14 | 128, kind, who, 1])
        }
    }
    // As many requests of a kind as fit into a datagram.
    for kind in 0..<UInt8(10) {
        for flag in 0..<UInt8(2) { seeds.append([11, kind, 107, 1, flag, 11, kind, 107, 1, flag]) }
    }
    // Messages as long as may be, to all, of whom some never say what they have got.
    seeds.append((0..<3).flatMap { _ in [0x17, 0xF0, 0, 0x27, 0xF0, 0] as [UInt8] } + [15, 10])
    // Each member is muted by the server and heard again, and put out.
    for member in 1...UInt8(members) { seeds.append([15, 255, member, 15, 255, member | 128, 15, 254, member]) }
    // The server goes down, and whoever comes back is refused.
    seeds.append([15, 253, 1, 1, 15, 60, 15, 253])
    // An interruption of each member, and its answer.
    for member in 0..<UInt8(members) { seeds.append([8, member, 0, member << 4 | 8, 3, 1]) }
    return seeds
}

private final class Scene {
    private var host = RoomHost(
        security: Plaintext(key: CookieKey(high: 1, low: 2)), cookieKey: CookieKey(high: 3, low: 4),
        configuration: RoomDirectoryConfiguration(roomCapacity: members))
    private var people = (0..<members + strangers).map { Person(nonce: UInt64($0 + 1) << 32) }
    private var now = Duration.seconds(1)
    private var entropy: UInt64 = 1
    private var isShutDown = false
    /// What the server has sent and nobody has read.
    private var underWay: [(record: [UInt8], to: Int)] = []

    /// Everybody comes in and publishes.
    init() {
        for who in 0..<members {
            join(who, claims: false)
            guard let own = people[who].grant?.streams.first, people[who].isWelcome else {
                preconditionFailure("a member is not let in")
            }
            send(who, [.publish(own, interruptibleBy: .anyone)])
        }
        precondition(host.directory.participantCount == members)
    }

    /// Whether the server has shut down and nobody is left, so that everything is refused.
    var isOver: Bool { isShutDown && host.directory.isIdle }

    /// Members 0 to 3 share a room, 4 has another.
    private static func room(of member: Int) -> String { member < 4 ? "one" : "two" }

    private static func address(of person: Int) -> EndpointAddress {
        EndpointAddress(high: 0, low: UInt64(person), port: 1_000)
    }

    /// One thing that happens: the first byte says who does what.
    func step(_ choices: inout Choices) {
        let head = choices.byte()
        let who = Int(head >> 4) % members
        now += .microseconds(100)
        switch head & 15 {
        case 1: join(who, claims: choices.byte() & 1 == 1)
        case 2...10: request(who, kind: head & 15, copies: 1, &choices)
        case 11:
            let kind = choices.byte() % 10 + 2
            request(who, kind: kind, copies: 1 + Int(choices.byte()) % 108, &choices)
        case 12: media(who, &choices)
        case 13:
            people[who].listens.toggle()
            send(who, [])
        case 14 where head & 128 != 0:
            let kind = choices.byte()
            record(kind, at: choices.number(below: members + strangers), choices.byte(), &choices)
        case 14: deliver(choices.bytes(Int(choices.byte())), from: who)
        case 15: pass(&choices)
        default: rawFrames(who, &choices)
        }
    }

    // MARK: What members do

    private func join(_ who: Int, claims: Bool) {
        people[who].startOver()
        sayHello(who)
        if !people[who].isWelcome { sayHello(who) }
        people[who].attempt += 1
        let claim = people[who].grant.map {
            RejoinClaim(
                participant: $0.participant, secret: $0.secret, handledCount: $0.handledCount,
                attempt: people[who].attempt)
        }
        let request = JoinRequest(
            capabilities: who % 4 == 3 ? [.subscribe] : .conversation, room: Self.room(of: who), token: [UInt8(who)],
            publishing: who == 1 ? .anyone : nil, rejoin: claims ? claim : nil)
        send(who, [.join(request)])
    }

    private func request(_ who: Int, kind: UInt8, copies: Int, _ choices: inout Choices) {
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
            // The talker's answer to interruptions that were and to some that were not.
            case 8 where flag:
                let start = GenerationStart(
                    stream: assignment.stream, generation: UInt32(number & 7) &+ UInt32(copy) &- 2,
                    timestamp: UInt32(number))
                messages.append(.tellGeneration(start))
            case 8: messages.append(.interrupt(stream))
            case 9: messages.append(copy == copies - 1 ? .leave : .subscribe(stream))
            // Its own token, that of another, or none.
            case 10 where copies == 1 || flag: messages.append(.renew(token: [flag ? UInt8(who) : number]))
            case 11:
                let report = HeardReport(
                    stream: stream, utterance: UInt32(copy), milliseconds: UInt32(number), boundMilliseconds: 7,
                    isFinal: flag)
                messages.append(.tellHeard(report))
            default: messages.append(.ping(microseconds: UInt64(number)))
            }
        }
        send(who, messages)
    }

    private func rawFrames(_ who: Int, _ choices: inout Choices) {
        var datagram = ControlDatagram(acknowledged: people[who].awaited, frames: []).encoded()
        let type = choices.byte()
        let body = choices.bytes(Int(choices.byte()))
        let sequence = people[who].next &+ UInt32(choices.byte() & 3)
        datagram +=
            [type, 0, UInt8(body.count)] + (0..<4).map { UInt8(truncatingIfNeeded: sequence >> (24 - 8 * $0)) } + body
        people[who].next = sequence &+ 1
        deliver(header(1, people[who].nonce) + datagram, from: who)
    }

    /// The fewest bytes that are sound of a sender, or a report.
    private func media(_ who: Int, _ choices: inout Choices) {
        let source = choices.byte() & 1 == 0 ? who : choices.number(below: members)
        let sender =
            people[choices.number(below: members)].grant?.streams.first?.synchronizationSource ?? choices.word()
        let repeats = choices.byte() & 1 == 1
        let named = (0..<4).map { UInt8(truncatingIfNeeded: sender >> (24 - 8 * UInt32($0))) }
        let payloadType = repeats ? RoomProtocol.redundantPayloadType : RoomProtocol.payloadType
        forward([0x80, payloadType, 0, 1, 0, 0, 0, 0] + named + [1], from: source)
        forward([0x80, 201, 0, 1] + named, from: source)
    }

    private func forward(_ packet: [UInt8], from who: Int) {
        forwarding.spend {
            var packet = packet
            var datagram = packet.mutableSpan
            guard
                case .forward(let count, let kind, let decision) = host.receive(
                    &datagram, from: Self.address(of: who), now: now)
            else { return }
            let receivers: [PeerID]
            switch decision {
            case .forward(let all): receivers = all
            case .split(let whole, let withoutCopies): receivers = whole + withoutCopies
            case .drop: receivers = []
            }
            precondition(receivers.count < members, "a packet for more than there are")
            for receiver in receivers where host.mayReceive(receiver) {
                _ = host.protect(&datagram, count: count, kind, for: receiver)
            }
        }
    }

    /// Time, or what the server's owner does.
    private func pass(_ choices: inout Choices) {
        let amount = choices.byte()
        switch amount {
        case 253:
            isShutDown = true
            host.directory.shutDown(now: now)
        case 254: host.directory.remove(ParticipantID(rawValue: UInt32(choices.byte())), now: now)
        case 255:
            let number = choices.byte()
            host.directory.setServerMute(number & 128 == 0, stream: StreamID(rawValue: UInt32(number & 127)))
        default: now += .milliseconds(Int64(amount) * Int64(amount))
        }
        ticking.spend {
            host.handleTimeout(now: now)
            drain()
        }
        read()
    }

    // MARK: Records

    private func header(_ kind: UInt8, _ nonce: UInt64) -> [UInt8] {
        [13, kind] + (0..<8).map { UInt8(truncatingIfNeeded: nonce >> (56 - 8 * UInt64($0))) }
    }

    /// With the cookie, once the server has told it.
    private func sayHello(_ who: Int) { deliver(header(0, people[who].nonce) + people[who].cookie, from: who) }

    /// What a stranger sends, or somebody in the place of a member.
    private func record(_ kind: UInt8, at who: Int, _ number: UInt8, _ choices: inout Choices) {
        // Its own conversation, one near it, another.
        let nonce = people[who].nonce ^ UInt64(number)
        switch kind % 10 {
        case 0: deliver(header(0, nonce) + [UInt8](repeating: number, count: 16), from: who)
        case 1: deliver(header(0, nonce) + people[who].cookie, from: who)
        case 2:
            people[who].startOver()
            sayHello(who)
        // The cookie of somebody else.
        case 3: deliver(header(0, nonce) + people[(who + 1 + Int(number)) % people.count].cookie, from: who)
        case 4: deliver(header(1, nonce) + choices.bytes(choices.number(below: 64)), from: who)
        case 5: deliver(header(2, nonce) + people[who].cookie, from: who)
        case 6: deliver(header(3, nonce), from: who)
        case 7: deliver(header(4, nonce), from: who)
        case 8: deliver([13, 5], from: who)
        default: deliver(header(number, people[who].nonce) + choices.bytes(choices.number(below: 64)), from: who)
        }
    }

    // MARK: The way to the server and back

    private func send(_ who: Int, _ messages: [RoomMessage]) {
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
            acknowledged: people[who].listens ? people[who].awaited : 1, frames: frames
        ).encoded()
        deliver(header(1, people[who].nonce) + datagram, from: who)
    }

    private func deliver(_ datagram: [UInt8], from who: Int) {
        handling.spend {
            var bytes = datagram
            var span = bytes.mutableSpan
            if case .answer(let count) = host.receive(&span, from: Self.address(of: who), now: now) {
                precondition(count <= datagram.count, "an answer that is longer than its question")
                underWay.append((Array(bytes[..<count]), who))
            }
            host.handleTimeout(now: now)
            drain()
        }
        read()
        precondition(host.peerCount <= members + strangers, "more peers than addresses")
        precondition(host.directory.participantCount <= members, "more participants than people")
        precondition(host.directory.roomNames.count <= 2, "more rooms than were asked for")
        precondition(host.nextTimeout.map { $0 > now } ?? true, "a timer that is due is not handled")
    }

    private func drain() {
        let unixTime = now.components.seconds
        let end = unixTime + 20
        while let request = host.directory.pollVerification() {
            let who = Int(request.token.first ?? 0)
            let verdict: TokenVerdict =
                request.token.count == 1 && who < members
                ? .granted(TokenGrants(identity: "\(who)", room: Self.room(of: who), expiresAt: who == 0 ? nil : end))
                : .refused(.badSignature)
            entropy += 1
            host.directory.answer(request.id, verdict, entropy: makeEntropy(entropy), unixTime: unixTime, now: now)
        }
        var sent = 0
        var bytes = [UInt8](repeating: 0, count: 1_500)
        while true {
            var span = bytes.mutableSpan
            guard let (count, destination) = host.pollTransmit(into: &span, now: now) else { break }
            sent += 1
            precondition(sent <= mostDatagrams, "one datagram makes the server send without end")
            // Not byte by byte, which would count as the server's work.
            underWay.append((Array(bytes[..<count]), Int(destination.low)))
        }
        while host.directory.pollEvent() != nil {}
    }

    /// Everybody reads what is for them; what that costs is theirs.
    private func read() {
        for (record, who) in underWay { hear(record, at: who) }
        underWay = []
    }

    private func hear(_ record: [UInt8], at who: Int) {
        precondition(who < people.count, "a datagram for nobody")
        // The notice that an address is nobody's.
        if record == [13, 5] { return }
        precondition(record.count >= 10 && record[0] == 13, "the server sends what nobody can read")
        let isMine = Array(record[..<10]) == header(record[1], people[who].nonce)
        switch record[1] {
        case 1:
            let bytes = Array(record[10...])
            precondition(bytes.count <= RoomProtocol.datagramLimit, "a datagram beyond the protocol's limit")
            guard let datagram = try? ControlDatagram(decoding: bytes.span) else {
                preconditionFailure("the server sends what nobody can read")
            }
            if isMine { hear(datagram, at: who) }
        case 2: people[who].cookie = Array(record[10...])
        case 3: people[who].isWelcome = people[who].isWelcome || isMine
        case 4: break
        default: preconditionFailure("the server sends what no server says")
        }
    }

    private func hear(_ datagram: ControlDatagram, at who: Int) {
        for frame in datagram.frames where frame.sequence == people[who].awaited {
            people[who].awaited &+= 1
            if case .joined(let grant) = frame.message { people[who].grant = grant }
        }
    }
}

private func makeEntropy(_ number: UInt64) -> JoinEntropy {
    JoinEntropy(
        secret: RejoinSecret(high: number, low: 2), synchronizationSource: UInt32(truncatingIfNeeded: number &* 77))
}
