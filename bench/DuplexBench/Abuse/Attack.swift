import VoicePeers
import VoiceRealtime
import VoiceRooms
import VoiceWire

/// Ways of doing harm to a room, each of datagrams that anybody may send who has what it needs.
enum Attack: CaseIterable {
    case nothing
    case sequenceSteps
    case lossPatterns
    case inventedListeners
    case repeatedRequests
    case muteToggles
    case messagesAndInterruptions
    case strangersHellos
    case forgedJoins

    var name: String {
        switch self {
        case .nothing: "nothing"
        case .sequenceSteps: "sound whose numbers step by 399"
        case .lossPatterns: "reports full of loss patterns"
        case .inventedListeners: "reports of invented listeners"
        case .repeatedRequests: "requests for what is so already"
        case .muteToggles: "mute and unmute"
        case .messagesAndInterruptions: "messages and interruptions"
        case .strangersHellos: "hellos of strangers"
        case .forgedJoins: "joins with forged tokens"
        }
    }

    /// Whether it is one on the room's messages: then the room is full, else only the attacker is there besides the
    /// call.
    var needsFullRoom: Bool {
        switch self {
        case .repeatedRequests, .muteToggles, .messagesAndInterruptions: true
        case .nothing, .sequenceSteps, .lossPatterns, .inventedListeners, .strangersHellos, .forgedJoins: false
        }
    }

    /// Whether its datagrams come from many addresses, and not from a member's.
    var isOfStrangers: Bool { self == .strangersHellos || self == .forgedJoins }

    /// What its sender asks of the room. Interrupting others takes no right to speak.
    var capabilities: RoomCapabilities {
        self == .messagesAndInterruptions ? [.subscribe, .autoSubscribe] : .conversation
    }
}

/// Makes the datagrams of an attack.
final class AttackDatagrams {
    let attack: Attack
    private let member: HostileMember
    /// Whom it is against.
    private let victim: StreamAssignment
    private var requests: RequestDatagram?
    /// For which stay in the room they were made: another has another stream.
    private var requestsStay = 0
    private var lastRecord: [UInt8]?
    private var strangers: Strangers
    private var count = 0

    /// - Parameters:
    ///   - strangers: how many there are.
    ///   - forgedToken: one that is signed with another key.
    init(
        _ attack: Attack, by member: HostileMember, against victim: StreamAssignment, strangers: Int,
        forgedToken: String
    ) {
        self.attack = attack
        self.member = member
        self.victim = victim
        self.strangers = Strangers(count: strangers, joins: attack == .forgedJoins, token: forgedToken)
    }

    /// The next one, of a stranger where it is strangers that attack; nil while the attacker is not in the room and has
    /// to be.
    func next(from stranger: Int) -> [UInt8]? {
        count += 1
        return switch attack {
        case .nothing: nil
        case .sequenceSteps: member.ownStream.flatMap(steppingPacket).flatMap { member.path.protect($0, .sound) }
        case .lossPatterns: member.ownStream.flatMap(patterns).flatMap { member.path.protect($0, .report) }
        case .inventedListeners: member.ownStream.flatMap(inventions).flatMap { member.path.protect($0, .report) }
        case .repeatedRequests, .muteToggles, .messagesAndInterruptions: requestDatagram()
        case .strangersHellos, .forgedJoins: strangers.next(from: stranger)
        }
    }

    /// Whether the next one is what the attack is about, and not what leads to it.
    func isReady(_ stranger: Int) -> Bool { !attack.isOfStrangers || strangers.isReady(stranger) }

    /// Takes what the server says to a stranger.
    func take(_ datagrams: [[UInt8]], at stranger: Int) { strangers.take(datagrams, at: stranger) }

    // MARK: Requests

    private var messages: [RoomMessage] {
        let own = member.ownStream
        return switch attack {
        case .repeatedRequests:
            own.map {
                [.subscribe(victim.stream), .publish($0, interruptibleBy: .publisher), .setMuted($0.stream, false)]
            } ?? []
        case .muteToggles: own.map { [.setMuted($0.stream, true), .setMuted($0.stream, false)] } ?? []
        case .messagesAndInterruptions:
            [.send(destination: nil, bytes: [1, 2, 3]), .interrupt(victim.stream)]
        default: []
        }
    }

    private func requestDatagram() -> [UInt8]? {
        // Who was put out goes on with what was sent last.
        guard member.hasSettled else { return lastRecord }
        if requestsStay != member.stays {
            requestsStay = member.stays
            requests = messages.isEmpty ? nil : RequestDatagram(messages)
        }
        guard let count = requests?.count else { return nil }
        let control = requests?.bytes(acknowledged: member.awaited, from: member.takeSequence(count))
        lastRecord = control.flatMap { member.path.record(of: $0) } ?? lastRecord
        return lastRecord
    }

    // MARK: Media

    private static let packetBytes = 73
    /// Of the numbers, and of the timestamps with them: each packet is early by less than a second.
    private static let step = 399
    /// 2.5 ms.
    private static let packetFrames = 120

    /// Sound of a stream of its own; each packet looks as if 398 had been lost before it. Packets are as short as Opus
    /// has them: of these a receiver remembers most.
    private func steppingPacket(of own: StreamAssignment) -> [UInt8]? {
        let header = RTPHeader(
            payloadType: RoomProtocol.payloadType, marker: false,
            sequenceNumber: UInt16(truncatingIfNeeded: count * Self.step),
            timestamp: UInt32(truncatingIfNeeded: count * Self.step * Self.packetFrames),
            synchronizationSource: own.synchronizationSource)
        var bytes = [UInt8](repeating: 0, count: Self.packetBytes)
        var span = bytes.mutableSpan
        guard let length = try? header.write(into: &span, audioLevel: AudioLevel(voiceActivity: true, level: 26)) else {
            return nil
        }
        // Opus: 2.5 ms of silence in one frame, padded to the packet's end (RFC 6716, sections 3.1 and 3.2.5).
        let silence: [UInt8] = [0xE0 | 3, 0x41, UInt8(bytes.count - length - 5), 0xFF, 0xFE]
        for index in silence.indices { bytes[length + index] = silence[index] }
        return bytes
    }

    /// A report about the victim with as many patterns as are looked at; each says that 256 packets were lost.
    private func patterns(from own: StreamAssignment) -> [UInt8]? {
        var pattern = LossPattern(firstSequenceNumber: UInt16(truncatingIfNeeded: count))
        for _ in 0..<LossPattern.capacity { pattern.append(false) }
        return compound { span in
            var length = try report(of: own.synchronizationSource, lost: 255, into: &span, at: 0)
            length += try SourceDescription.write(
                canonicalName: Self.name.span, of: own.synchronizationSource, into: &span, at: length)
            var writer = ExtendedReportWriter(
                synchronizationSource: own.synchronizationSource, at: length, limit: span.count)
            for _ in 0..<LossPatterns.blockLimit {
                guard writer.append(pattern, of: victim.synchronizationSource, to: &span) else { break }
            }
            return length + writer.byteCount
        }
    }

    /// A report of its own, and after it those of listeners that nobody has ever seen: half of the packets are lost
    /// there, and a queue grows.
    private func inventions(from own: StreamAssignment) -> [UInt8]? {
        compound { span in
            var length = try ReceiverReport(synchronizationSource: own.synchronizationSource).write(into: &span)
            length += try SourceDescription.write(
                canonicalName: Self.name.span, of: own.synchronizationSource, into: &span, at: length)
            var listener: UInt32 = 0x1000_0000
            while length + 8 + ReportBlock.byteCount <= span.count {
                length += try report(of: listener, lost: 128, into: &span, at: length)
                listener += 1
            }
            return length
        }
    }

    private static let name: [UInt8] = Array("listener".utf8)
    /// What a path carries whole, nearly.
    private static let reportBytes = 1_400

    private func compound(_ write: (inout MutableSpan<UInt8>) throws -> Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: Self.reportBytes)
        var span = bytes.mutableSpan
        guard let length = try? write(&span) else { return nil }
        return Array(bytes[..<length])
    }

    /// One receiver's report about the victim. Its round trips are short at first and long afterwards.
    private func report(
        of listener: UInt32, lost: UInt8, into span: inout MutableSpan<UInt8>, at offset: Int
    ) throws -> Int {
        let trip: Duration = count < 10 ? .milliseconds(5) : .seconds(2)
        let asked = NetworkTime(sinceUnixEpoch: MonotonicTime.now().sinceEpoch - trip)
        let block = ReportBlock(
            synchronizationSource: victim.synchronizationSource, fractionLost: lost,
            cumulativeLost: Int32(count & 0xFFFF),
            extendedHighestSequenceNumber: UInt32(truncatingIfNeeded: count * 50), interarrivalJitter: 0,
            lastSenderReport: asked.compact, delaySinceLastSenderReport: 0)
        return try ReceiverReport(synchronizationSource: listener).write(
            into: &span, at: offset, reportBlocks: [block].span)
    }
}

/// A datagram full of requests, whose numbers alone change from one to the next.
struct RequestDatagram {
    /// Requests in it.
    let count: Int
    private var template: [UInt8]
    /// Where each request begins.
    private let frames: [Int]

    /// As many of `messages`, again and again, as fit and as a server reads.
    init(_ messages: [RoomMessage]) {
        func encoded(_ messages: [RoomMessage]) -> [UInt8] {
            let frames = messages.map { ControlDatagram.Frame(sequence: 1, message: $0) }
            return ControlDatagram(acknowledged: 0, frames: frames).encoded()
        }
        var all: [RoomMessage] = []
        var starts: [Int] = []
        while all.count < RoomProtocol.frameLimit {
            let more = all + [messages[all.count % messages.count]]
            let bytes = encoded(more)
            guard bytes.count <= RoomProtocol.datagramLimit else { break }
            starts.append(encoded(all).count)
            all = more
        }
        count = all.count
        frames = starts
        template = encoded(all)
    }

    /// The datagram with its requests numbered from `first` on.
    mutating func bytes(acknowledged: UInt32, from first: UInt32) -> [UInt8] {
        store(acknowledged, at: 0)
        for (index, start) in frames.enumerated() {
            store(first &+ UInt32(index), at: start + 3)
        }
        return template
    }

    private mutating func store(_ value: some FixedWidthInteger, at offset: Int) {
        let count = value.bitWidth / 8
        for index in 0..<count {
            template[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - index)))
        }
    }
}
