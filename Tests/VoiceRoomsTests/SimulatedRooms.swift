import Testing
import VoicePeers

@testable import VoiceRooms

/// SplitMix64 (Steele, Lea, Flood 2014): a seeded generator for tests.
struct Seeded: RandomNumberGenerator {
    var state: UInt64
    init(_ seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
    mutating func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &self) < probability }
}

/// How the network between clients and server behaves.
struct Weather {
    var loss = 0.0
    var duplication = 0.0
    var delay: ClosedRange<Int64> = 20...20  // milliseconds

    static let calm = Weather()
    static let stormy = Weather(loss: 0.3, duplication: 0.1, delay: 10...150)
}

/// A client in the simulation.
struct SimulatedClient {
    var session: RoomSession
    /// Where its socket is bound.
    var endpoint: EndpointAddress
    /// Where its machine is since its network has changed: the socket is dead, and a fresh one will be bound there.
    var home: EndpointAddress?
    /// The association that the socket was opened for.
    var opened: UInt64?
    var isAlive = true
    var events: [RoomSessionEvent] = []

    var grant: JoinGrant? { session.grant }
    var stream: StreamAssignment {
        session.grant?.streams.first ?? .init(stream: .init(rawValue: 0), synchronizationSource: 0)
    }
    /// Whether nothing reaches the socket any more.
    var isStranded: Bool { home.map { $0 != endpoint } ?? false }

    /// A socket for each association, as the network thread has it.
    mutating func openSocket() {
        guard opened != session.association else { return }
        opened = session.association
        if let home { endpoint = home }
    }

    var participant: ParticipantID { session.grant?.participant ?? ParticipantID(rawValue: 0) }
}

/// A server and its clients, on a simulated clock and network.
///
/// Tokens are texts here, `identity@room` and then rights: `-join`, `-publish`, `-subscribe`; or `!n` for a token that
/// the verifier refuses with code n.
struct SimulatedRooms {
    struct Flight {
        let arrival: Duration
        let order: Int
        let source: EndpointAddress
        let destination: EndpointAddress
        let bytes: [UInt8]
    }

    static let server = EndpointAddress(high: 0, low: 1, port: 7000)

    var now: Duration = .seconds(1000)
    var directory: RoomDirectory
    var serverIsAlive = true
    /// From now on the verifier refuses every token so.
    var tokenRefusal: RoomRefusal?
    var clients: [SimulatedClient] = []
    var weather: Weather
    var random: Seeded
    var flights: [Flight] = []
    var directoryEvents: [RoomDirectoryEvent] = []
    var sent = 0
    private var order = 0

    init(seed: UInt64 = 1, weather: Weather = .calm, configuration: RoomDirectoryConfiguration = .init()) {
        directory = RoomDirectory(configuration: configuration)
        self.weather = weather
        random = Seeded(seed)
    }

    static func endpoint(_ number: Int) -> EndpointAddress {
        EndpointAddress(high: 0, low: 0xFFFF_0A00_0000 + UInt64(number), port: 40000)
    }

    @discardableResult
    mutating func addClient(
        _ token: String, room: String = "", capabilities: RoomCapabilities = .conversation
    ) throws -> Int {
        var session = try RoomSession(
            token: Array(token.utf8), room: room, capabilities: capabilities, association: random.next())
        try session.join(now: now)
        clients.append(SimulatedClient(session: session, endpoint: Self.endpoint(clients.count + 1)))
        return clients.count - 1
    }

    /// What a verifier would say of a token of the simulation.
    static func verdict(_ token: [UInt8]) -> TokenVerdict {
        let text = String(decoding: token, as: UTF8.self)
        if text.hasPrefix("!") {
            return .refused(UInt8(text.dropFirst()).flatMap(RoomRefusal.init(rawValue:)) ?? .malformed)
        }
        let words = text.split(separator: " ")
        let parts = (words.first ?? "").split(separator: "@")
        guard parts.count == 2 else { return .refused(.malformed) }
        return .granted(
            TokenGrants(
                identity: String(parts[0]), name: String(parts[0]).uppercased(), room: String(parts[1]),
                canJoin: !words.contains("-join"), canPublish: !words.contains("-publish"),
                canSubscribe: !words.contains("-subscribe")))
    }

    mutating func run(for duration: Duration) {
        let end = now + duration
        while true {
            drain()
            let timers =
                clients.filter(\.isAlive).compactMap(\.session.nextTimeout)
                + (serverIsAlive ? [directory.nextTimeout].compactMap { $0 } : [])
            let next = (timers + flights.map(\.arrival)).min() ?? end
            guard next < end else { break }
            now = max(now, next)
            deliver()
            for index in clients.indices where clients[index].isAlive { clients[index].session.handleTimeout(now: now) }
            if serverIsAlive { directory.handleTimeout(now: now) }
        }
        now = end
    }

    private mutating func drain() {
        for index in clients.indices {
            if let bytes = clients[index].session.pollFarewell(), !clients[index].isStranded {
                post(bytes, from: clients[index].endpoint, to: Self.server)
            }
            clients[index].openSocket()
            while let bytes = clients[index].session.pollDatagram(now: now) {
                guard clients[index].isAlive, !clients[index].isStranded else { continue }
                post(bytes, from: clients[index].endpoint, to: Self.server)
            }
            while let event = clients[index].session.pollEvent() { clients[index].events.append(event) }
        }
        guard serverIsAlive else { return }
        while let request = directory.pollVerification() {
            let entropy = JoinEntropy(
                secret: RejoinSecret(high: random.next(), low: random.next()),
                synchronizationSource: UInt32(truncatingIfNeeded: random.next()),
                challengeKey: ChallengeKey(high: random.next(), low: random.next()))
            let verdict = tokenRefusal.map { TokenVerdict.refused($0) } ?? Self.verdict(request.token)
            directory.answer(request.id, verdict, entropy: entropy, now: now)
        }
        while let (destination, bytes) = directory.pollDatagram(now: now) {
            post(bytes, from: Self.server, to: destination)
        }
        while let event = directory.pollEvent() { directoryEvents.append(event) }
    }

    mutating func post(_ bytes: [UInt8], from source: EndpointAddress, to destination: EndpointAddress) {
        sent += 1
        for _ in 0..<(random.chance(weather.duplication) ? 2 : 1) where !random.chance(weather.loss) {
            order += 1
            let delay = Duration.milliseconds(Int64.random(in: weather.delay, using: &random))
            flights.append(
                Flight(arrival: now + delay, order: order, source: source, destination: destination, bytes: bytes))
        }
    }

    private mutating func deliver() {
        let arrived = flights.filter { $0.arrival <= now }
            .sorted { ($0.arrival, $0.order) < ($1.arrival, $1.order) }
        flights.removeAll { $0.arrival <= now }
        for flight in arrived {
            if flight.destination == Self.server {
                if serverIsAlive {
                    try? directory.handle(datagram: flight.bytes.span, from: flight.source, now: now)
                }
            } else if let index = clients.lastIndex(where: {
                $0.endpoint == flight.destination && $0.isAlive && !$0.isStranded
            }) {
                try? clients[index].session.handle(datagram: flight.bytes.span, now: now)
            }
        }
    }
}

/// A room "kitchen" with these members, all joined and publishing, whom everybody may interrupt.
func kitchen(_ identities: String..., seed: UInt64 = 1, weather: Weather = .calm) throws -> SimulatedRooms {
    var rooms = SimulatedRooms(seed: seed, weather: weather)
    for identity in identities {
        let index = try rooms.addClient("\(identity)@kitchen")
        rooms.run(for: .seconds(1))
        try #require(rooms.clients[index].session.state == .joined)
        try rooms.clients[index].session.publish(rooms.clients[index].stream, interruptibleBy: .anyone)
        rooms.run(for: .seconds(1))
    }
    for index in rooms.clients.indices { rooms.clients[index].events = [] }
    return rooms
}
