import ScriptedPeers
import TestCases
import Testing
import VoicePeers
import VoiceSimulation

@testable import VoiceRooms

/// What protects the paths of the simulation.
protocol SimulatedSecurity: PeerSecurity { init(key: CookieKey, seed: UInt64) }

extension Plaintext: SimulatedSecurity {
    init(key: CookieKey, seed: UInt64) { self.init(key: key) }
}

extension Scripted: SimulatedSecurity {
    init(key: CookieKey, seed: UInt64) { self.init(seed: seed) }
}

typealias SimulatedRooms = RoomsOver<Plaintext>

/// A client in the simulation.
final class SimulatedClient<Security: SimulatedSecurity> {
    var guest: RoomGuest<Security>
    /// Where its socket is bound.
    var endpoint: EndpointAddress
    /// Where its machine is since its network has changed: the socket is dead, and a fresh one will be bound there.
    var home: EndpointAddress?
    /// Whether its machine has a network at all: without, nothing is sent, and no socket can be opened.
    var hasNetwork = true
    var isAlive = true
    var events: [RoomSessionEvent] = []

    init(_ session: RoomSession, _ servers: [EndpointAddress], endpoint: EndpointAddress, key: CookieKey) {
        guest = RoomGuest(
            session: session, server: servers[0], otherServers: Array(servers.dropFirst()),
            security: Security(key: key, seed: endpoint.low), cookieKey: key)
        self.endpoint = endpoint
    }

    var session: RoomSession {
        get { guest.session }
        set { guest.session = newValue }
    }
    var grant: JoinGrant? { session.grant }
    /// Where its path leads.
    var server: EndpointAddress { guest.server }
    var stream: StreamAssignment {
        session.grant?.streams.first ?? .init(stream: .init(rawValue: 0), synchronizationSource: 0)
    }
    /// Whether nothing reaches the socket any more.
    var isStranded: Bool { home.map { $0 != endpoint } ?? false }

    var participant: ParticipantID { session.grant?.participant ?? ParticipantID(rawValue: 0) }
}

/// A server in the simulation.
final class SimulatedServer<Security: SimulatedSecurity> {
    var host: RoomHost<Security>

    init(_ configuration: RoomDirectoryConfiguration, key: CookieKey) {
        host = RoomHost(security: Security(key: key, seed: 0), cookieKey: key, configuration: configuration)
    }
}

/// A server and its clients, on a simulated clock and network.
///
/// Tokens are texts here, `identity@room` and then rights: `-join`, `-publish`, `-subscribe`, and their end:
/// `until=1060`; or `!n` for a token that the verifier refuses with code n.
struct RoomsOver<Security: SimulatedSecurity> {
    struct Datagram: Sendable {
        let source: EndpointAddress
        let destination: EndpointAddress
        let bytes: [UInt8]
    }

    static var server: EndpointAddress { EndpointAddress(high: 0, low: 1, port: 7000) }
    /// Turns of a simulation in which no time passes, and datagrams that one side sends in one, at most.
    private static var turnsAtOnce: Int { 10_000 }
    private static var datagramsAtOnce: Int { 100_000 }

    var now: Duration = .seconds(1000)
    private var serving: SimulatedServer<Security>
    var serverIsAlive = true
    /// From now on the verifier refuses every token so.
    var tokenRefusal: RoomRefusal?
    var clients: [SimulatedClient<Security>] = []
    private var link: SimulatedLink<Datagram>
    var random: SeededNumbers
    var directoryEvents: [RoomDirectoryEvent] = []
    /// Tokens that the verifier has looked at.
    var verifications = 0
    /// Whether the network keeps a copy of every datagram.
    var keepsCopies = false
    var copies: [Datagram] = []

    init(
        seed: UInt64 = 1, _ conditions: NetworkConditions = .steady, configuration: RoomDirectoryConfiguration = .init()
    ) {
        link = SimulatedLink(seed: seed)
        random = SeededNumbers(seed: seed)
        serving = SimulatedServer(configuration, key: CookieKey(high: random.next(), low: random.next()))
        self.conditions = conditions
    }

    /// What the network does from now on.
    var conditions: NetworkConditions {
        get { link.conditions }
        set {
            do { try link.change(to: newValue) } catch { Issue.record(error) }
        }
    }

    /// How many datagrams were ever sent.
    var sent: Int { link.statistics.sent }

    var directory: RoomDirectory {
        get { serving.host.directory }
        nonmutating set { serving.host.directory = newValue }
        nonmutating _modify { yield &serving.host.directory }
    }

    /// Another server in the place of this one, which knows nobody.
    mutating func restartServer() {
        serving = SimulatedServer(
            directory.configuration, key: CookieKey(high: random.next(), low: random.next()))
    }

    /// Has the server go down.
    func shutDown(telling reason: RemovalReason) { serving.host.shutDown(telling: reason, now: now) }

    /// The wall clock of the verifier, in seconds.
    var unixTime: Int64 { now.components.seconds }

    /// A client as the server knows it.
    func peer(_ index: Int) -> PeerID {
        directory.participants[clients[index].participant]?.peer ?? PeerID(slot: .max, generation: .max)
    }

    static func endpoint(_ number: Int) -> EndpointAddress {
        EndpointAddress(high: 0, low: 0xFFFF_0A00_0000 + UInt64(number), port: 40000)
    }

    @discardableResult
    mutating func addClient(
        _ token: String, room: String = "", capabilities: RoomCapabilities = .conversation,
        role: RoomRole = .talker, publishing: InterruptionPolicy? = nil, servers: [EndpointAddress] = [server]
    ) throws -> Int {
        var session = try RoomSession(
            token: Array(token.utf8), room: room, capabilities: capabilities, role: role,
            publishing: publishing)
        try session.join(now: now)
        clients.append(
            SimulatedClient(
                session, servers, endpoint: Self.endpoint(clients.count + 1),
                key: CookieKey(high: random.next(), low: random.next())))
        return clients.count - 1
    }

    /// What a verifier would say of a token of the simulation.
    static func verdict(_ token: [UInt8], at unixTime: Int64 = 0) -> TokenVerdict {
        let text = String(decoding: token, as: UTF8.self)
        if text.hasPrefix("!") {
            return .refused(UInt8(text.dropFirst()).flatMap(RoomRefusal.init(rawValue:)) ?? .malformed)
        }
        let words = text.split(separator: " ")
        let parts = (words.first ?? "").split(separator: "@")
        guard parts.count == 2 else { return .refused(.malformed) }
        let end = words.first { $0.hasPrefix("until=") }.flatMap { Int64($0.dropFirst(6)) }
        if let end, end <= unixTime { return .refused(.expired) }
        return .granted(
            TokenGrants(
                identity: String(parts[0]), name: String(parts[0]).uppercased(), room: String(parts[1]),
                canJoin: !words.contains("-join"), canPublish: !words.contains("-publish"),
                canSubscribe: !words.contains("-subscribe"), expiresAt: end))
    }

    /// Whoever always has something to say, or to do at once, does not go on for ever: that is recorded.
    mutating func run(for duration: Duration) {
        let end = now + duration
        var (last, turns) = (now, 0)
        while true {
            drain()
            (last, turns) = last == now ? (last, turns + 1) : (now, 0)
            guard turns < Self.turnsAtOnce else {
                Issue.record("no time passes after \(now)")
                break
            }
            let timers =
                clients.filter(\.isAlive).compactMap { $0.guest.nextTimeout }
                + (serverIsAlive ? [serving.host.nextTimeout].compactMap { $0 } : [])
            let next = (timers + [link.nextArrival].compactMap { $0 }).min() ?? end
            guard next < end else { break }
            now = max(now, next)
            deliver()
            for index in clients.indices where clients[index].isAlive { clients[index].guest.handleTimeout(now: now) }
            if serverIsAlive { serving.host.handleTimeout(now: now) }
        }
        now = end
    }

    private mutating func drain() {
        for client in clients where client.isAlive {
            transmit(from: client)
            if client.guest.wantsSocket, !client.hasNetwork {
                _ = client.guest.nextServer()
                client.guest.cannotConnect(now: now)
            } else if client.guest.wantsSocket {
                _ = client.guest.nextServer()
                if let home = client.home { client.endpoint = home }
                client.guest.connect(now: now)
                transmit(from: client)
            } else if client.guest.suspectsSocket(now: now) {
                if let home = client.home { client.endpoint = home }
                client.guest.socketReplaced(now: now)
                transmit(from: client)
            }
            while let event = client.session.pollEvent() { client.events.append(event) }
        }
        guard serverIsAlive else { return }
        while let request = directory.pollVerification() {
            let entropy = JoinEntropy(
                secret: RejoinSecret(high: random.next(), low: random.next()),
                synchronizationSource: UInt32(truncatingIfNeeded: random.next()))
            verifications += 1
            let verdict = tokenRefusal.map { TokenVerdict.refused($0) } ?? Self.verdict(request.token, at: unixTime)
            directory.answer(request.id, verdict, entropy: entropy, unixTime: unixTime, now: now)
        }
        var bytes = [UInt8](repeating: 0, count: 1500)
        for number in 0...Self.datagramsAtOnce {
            if number == Self.datagramsAtOnce { Issue.record("the server sends on and on") }
            var buffer = bytes.mutableSpan
            guard let (count, destination) = serving.host.pollTransmit(into: &buffer, now: now) else { break }
            post(Array(bytes[..<count]), from: Self.server, to: destination)
        }
        while let event = directory.pollEvent() { directoryEvents.append(event) }
    }

    /// Has the server take a datagram at once: what it sends back to there.
    mutating func inject(_ bytes: [UInt8], from source: EndpointAddress) -> [UInt8] {
        var bytes = bytes
        var datagram = bytes.mutableSpan
        guard case .answer(let count) = serving.host.receive(&datagram, from: source, now: now) else { return [] }
        return Array(bytes[..<count])
    }

    /// Has a client asked for a cookie from where it is shaking hands; its hellos are kept in ``copies``.
    func askForCookie(_ index: Int, from server: EndpointAddress) throws {
        let hello = try #require(copies.last { $0.destination == server }).bytes
        var question: [UInt8] = [13, 2] + hello[2..<10] + [UInt8](repeating: 7, count: 16)
        var datagram = question.mutableSpan
        let outcome = clients[index].guest.receive(&datagram, now: now)
        #expect(outcome == .control)
    }

    /// Has the server take a control datagram of a peer, and count what it does not understand.
    func take(_ datagram: [UInt8], from peer: PeerID) { serving.host.take(datagram.span, from: peer, now: now) }

    /// The server's end of the way to a client.
    func carrier(_ index: Int) -> DatagramCarrier? { serving.host.carriers[peer(index)]?.messages }

    /// What waits at the server for a client.
    func outbox(_ index: Int) -> Outbox? { directory.connections[peer(index)]?.outbox }

    /// What the server does with a datagram.
    func outcome(
        of bytes: [UInt8], from source: EndpointAddress, at time: Duration? = nil
    ) -> RoomHost<Security>.Outcome {
        var bytes = bytes
        var datagram = bytes.mutableSpan
        return serving.host.receive(&datagram, from: source, now: time ?? now)
    }

    /// Changes what protects the server's paths.
    func reconfigure(_ change: (inout Security) -> Void) { serving.host.reconfigure(change) }

    /// Whether something has happened that the server must take now.
    var serverHasNews: Bool { serving.host.hasNews }

    /// Whether the server can protect a media packet for a client.
    func canProtect(_ packet: [UInt8], for index: Int) -> Bool {
        let receiver = peer(index)
        var bytes = packet + [UInt8](repeating: 0, count: Security.mediaOverhead)
        var span = bytes.mutableSpan
        return serving.host.protect(&span, count: packet.count, .sound, for: receiver) != nil
    }

    /// Whether the media packet that the server took last goes to a client.
    func mayReceive(_ index: Int) -> Bool {
        let receiver = peer(index)
        return serving.host.mayReceive(receiver)
    }

    private mutating func transmit(from client: SimulatedClient<Security>) {
        var bytes = [UInt8](repeating: 0, count: 1500)
        for number in 0...Self.datagramsAtOnce {
            if number == Self.datagramsAtOnce { Issue.record("a client sends on and on") }
            var buffer = bytes.mutableSpan
            guard let count = client.guest.pollTransmit(into: &buffer, now: now) else { return }
            guard !client.isStranded, client.hasNetwork else { continue }
            post(Array(bytes[..<count]), from: client.endpoint, to: client.guest.server)
        }
    }

    mutating func post(_ bytes: [UInt8], from source: EndpointAddress, to destination: EndpointAddress) {
        let datagram = Datagram(source: source, destination: destination, bytes: bytes)
        if keepsCopies { copies.append(datagram) }
        link.send(datagram, byteCount: bytes.count, now: now)
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
            } else if let client = clients.last(where: {
                $0.endpoint == flight.destination && $0.isAlive && !$0.isStranded
            }) {
                _ = client.guest.receive(&datagram, now: now)
            }
        }
    }
}

extension SimulatedRooms {
    /// Some peer, for a directory that has no table.
    static func peer(_ number: Int) -> PeerID { PeerID(slot: UInt32(number), generation: 7) }
}

extension RoomDirectory {
    /// Has a peer come and join.
    mutating func join(as number: Int, token: String, now: Duration) throws {
        let request = JoinRequest(capabilities: .conversation, room: "", token: Array(token.utf8))
        open(SimulatedRooms.peer(number), now: now)
        try handle(.join(request), from: SimulatedRooms.peer(number), now: now)
    }
}

/// The fewest bytes that are a packet of a talker, or its report.
enum RTPPacketBytes {
    static func sound(_ source: UInt32) -> [UInt8] { [0x80, 111, 0, 1, 0, 0, 0, 0] + bytes(source) + [1] }

    /// A receiver report that says nothing of anybody.
    static func report(_ source: UInt32) -> [UInt8] { [0x80, 201, 0, 1] + bytes(source) }

    /// A receiver report that says how a stream is received.
    static func report(_ source: UInt32, about stream: UInt32) -> [UInt8] {
        [0x81, 201, 0, 7] + bytes(source) + bytes(stream) + [UInt8](repeating: 0, count: 20)
    }

    /// An extended report without blocks.
    static func extendedReport(_ source: UInt32) -> [UInt8] { [0x80, 207, 0, 1] + bytes(source) }

    private static func bytes(_ source: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: source >> (24 - 8 * UInt32($0))) }
    }
}

/// A room "kitchen" with these members, all joined and publishing, whom everybody may interrupt.
func kitchen(_ identities: String..., seed: UInt64 = 1, conditions: NetworkConditions = .steady) throws
    -> SimulatedRooms
{
    var rooms = SimulatedRooms(seed: seed, conditions)
    for identity in identities {
        let index = try rooms.addClient("\(identity)@kitchen")
        rooms.run(for: .seconds(1))
        try #require(rooms.clients[index].session.state == .joined)
        try rooms.clients[index].session.ask(.publish(rooms.clients[index].stream, interruptibleBy: .anyone))
        rooms.run(for: .seconds(1))
    }
    for index in rooms.clients.indices { rooms.clients[index].events = [] }
    return rooms
}
