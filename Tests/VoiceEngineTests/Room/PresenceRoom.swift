import TestCases
import Testing
import VoicePeers
import VoiceSimulation

@testable import VoiceEngine
@testable import VoiceRooms

/// A room server and members who change their minds, on a simulated clock and network. A token is the identity, with a
/// `-` before it where it does not let its bearer publish.
struct PresenceRoom {
    private struct Datagram: Sendable {
        let source: EndpointAddress
        let destination: EndpointAddress
        let bytes: [UInt8]
    }

    /// A server, which cannot be copied.
    private final class Server {
        var host: RoomHost<Plaintext>

        init(_ key: CookieKey) { host = RoomHost(security: Plaintext(key: key), cookieKey: key) }
    }

    static let server = EndpointAddress(high: 0, low: 1, port: 7000)

    private(set) var now: Duration = .seconds(1000)
    var serverIsAlive = true
    private(set) var members: [PresenceMember] = []
    private var serving: Server
    private var link: SimulatedLink<Datagram>
    var random: SeededNumbers
    private var sockets: UInt16 = 0

    init(seed: UInt64) {
        random = SeededNumbers(seed: seed)
        link = SimulatedLink(seed: seed)
        serving = Server(CookieKey(high: random.next(), low: random.next()))
        conditions = .steady
    }

    var conditions: NetworkConditions {
        get { link.conditions }
        set {
            do { try link.change(to: newValue) } catch { Issue.record(error) }
        }
    }

    mutating func add(
        _ token: String, role: RoomRole = .talker, takesAll: Bool = true, requested: PresenceMember.Requested = .init()
    ) throws {
        members.append(
            try PresenceMember(
                token, number: members.count, role: role, takesAll: takesAll, requested: requested, seed: random.next(),
                now: now))
    }

    /// Another server in the place of this one, which knows nobody.
    mutating func restartServer() { serving = Server(CookieKey(high: random.next(), low: random.next())) }

    /// Tells everybody that another server will be here.
    func announceRestart() { serving.host.directory.shutDown(telling: .restarting, now: now) }

    // MARK: What the server knows

    func record(_ member: PresenceMember) -> RoomParticipant? {
        guard let participant = member.guest.session.grant?.participant else { return nil }
        guard let record = serving.host.directory.participants[participant] else { return nil }
        return record.secret == member.guest.session.grant?.secret ? record : nil
    }

    /// What others may hear of a member, by line: the names that the streams have.
    private func heard(_ member: PresenceMember) -> [UInt64: String] {
        guard member.guest.session.state == .joined, serverIsAlive, let record = record(member), let peer = record.peer
        else { return [:] }
        return member.sent.compactMapValues { sending in
            let source = sending.source
            guard let stream = record.streams.first(where: { $0.assignment.synchronizationSource == source }),
                stream.isPublished,
                case .forward = serving.host.directory.forward(from: peer, synchronizationSource: source)
            else { return nil }
            return stream.name
        }
    }

    /// Notes what is on the air and not wanted there.
    private func listen() {
        for member in members {
            for (line, name) in heard(member) {
                let wanted = line == 0 ? member.requested.name : member.requested.lines[line]
                if member.isListener {
                    member.faults.append("\(now) \(line) is heard of a listener")
                } else if wanted == nil {
                    member.faults.append("\(now) \(line) is heard as \(name) and not to be published")
                } else if name != wanted, name != member.sent[line]?.name {
                    member.faults.append("\(now) \(line) is heard as \(name) and wants to be \(wanted ?? "")")
                }
            }
        }
    }

    // MARK: Time

    mutating func run(for duration: Duration) {
        let end = now + duration
        var (last, turns) = (now, 0)
        while true {
            drain()
            listen()
            (last, turns) = last == now ? (last, turns + 1) : (now, 0)
            guard turns < 10_000 else {
                Issue.record("no time passes after \(now)")
                break
            }
            let timers = members.flatMap { [$0.guest.nextTimeout, $0.nextHop] } + [link.nextArrival]
            let next = (timers + (serverIsAlive ? [serving.host.nextTimeout] : [])).compactMap { $0 }.min() ?? end
            guard next < end else { break }
            now = max(now, next)
            deliver()
            for member in members { member.guest.handleTimeout(now: now) }
            if serverIsAlive { serving.host.handleTimeout(now: now) }
        }
        now = end
    }

    private mutating func drain() {
        for member in members {
            member.runThreads(now: now)
            transmit(from: member)
            if member.guest.wantsSocket || member.guest.suspectsSocket(now: now) {
                sockets += 1
                member.address = EndpointAddress(high: 0, low: member.address.low, port: 40_000 + sockets)
                if member.guest.wantsSocket {
                    member.guest.connect(now: now)
                } else {
                    member.guest.socketReplaced(now: now)
                }
                transmit(from: member)
            }
            member.runThreads(now: now)
        }
        guard serverIsAlive else { return }
        while let request = serving.host.directory.pollVerification() {
            let text = String(decoding: request.token, as: UTF8.self)
            let grants = TokenGrants(identity: text, room: "kitchen", canPublish: !text.hasPrefix("-"))
            let entropy = JoinEntropy(
                secret: RejoinSecret(high: random.next(), low: random.next()),
                synchronizationSource: UInt32(truncatingIfNeeded: random.next()))
            serving.host.directory.answer(request.id, .granted(grants), entropy: entropy, unixTime: 0, now: now)
        }
        var bytes = [UInt8](repeating: 0, count: 1500)
        while true {
            var buffer = bytes.mutableSpan
            guard let (count, destination) = serving.host.pollTransmit(into: &buffer, now: now) else { break }
            post(Array(bytes[..<count]), from: Self.server, to: destination)
        }
        while serving.host.directory.pollEvent() != nil {}
    }

    private mutating func transmit(from member: PresenceMember) {
        var bytes = [UInt8](repeating: 0, count: 1500)
        while true {
            var buffer = bytes.mutableSpan
            guard let count = member.guest.pollTransmit(into: &buffer, now: now) else { return }
            post(Array(bytes[..<count]), from: member.address, to: Self.server)
        }
    }

    private mutating func post(_ bytes: [UInt8], from source: EndpointAddress, to destination: EndpointAddress) {
        link.send(Datagram(source: source, destination: destination, bytes: bytes), byteCount: bytes.count, now: now)
    }

    private mutating func deliver() {
        while let flight = link.receive(now: now)?.datagram {
            var bytes = flight.bytes
            var datagram = bytes.mutableSpan
            if flight.destination == Self.server {
                guard serverIsAlive else { continue }
                if case .answer(let count) = serving.host.receive(&datagram, from: flight.source, now: now) {
                    post(Array(bytes[..<count]), from: Self.server, to: flight.source)
                }
            } else if let member = members.first(where: { $0.address == flight.destination }) {
                _ = member.guest.receive(&datagram, now: now)
            }
        }
    }
}
