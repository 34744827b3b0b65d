import Testing
import VoiceSimulation

@testable import VoicePeers

/// What protects the paths of these tests.
protocol KeyedSecurity: PeerSecurity { init(key: CookieKey) }

extension Plaintext: KeyedSecurity {}
extension SignedPlaintext: KeyedSecurity {}

typealias PeerEnd = PeerEndOver<Plaintext>
typealias PeerNetwork = PeerNetworkOver<Plaintext>
/// A network whose paths follow a client to another address.
typealias MovingPeers = PeerNetworkOver<SignedPlaintext>

/// A table of peers at an address, with what came out of it.
final class PeerEndOver<Security: KeyedSecurity> {
    var table: PeerTable<Security>
    var address: EndpointAddress
    var events: [PeerEvent] = []
    var controls: [[UInt8]] = []
    var media: [[UInt8]] = []
    /// Whether it lets in whoever has a path.
    var acceptsAll = true
    /// A client's path to the server of its network.
    var peer: PeerID?

    init(_ address: EndpointAddress, seed: UInt64, capacity: Int = 1_024, takesStrangers: Bool) {
        self.address = address
        table = PeerTable(
            security: Security(key: CookieKey(high: seed, low: 1)), cookieKey: CookieKey(high: seed, low: 2),
            capacity: capacity, takesStrangers: takesStrangers)
    }

    static func server(capacity: Int = 1_024) -> PeerEndOver {
        PeerEndOver(EndpointAddress(high: 0, low: 1, port: 7_900), seed: 1, capacity: capacity, takesStrangers: true)
    }

    static func client(_ number: Int) -> PeerEndOver {
        PeerEndOver(.of(number), seed: UInt64(1_000 + number), takesStrangers: false)
    }

    var opened: [PeerID] { events.compactMap { if case .opened(let peer) = $0 { peer } else { nil } } }

    // What the macros of a test cannot ask of a table that is not copied.

    var count: Int { table.count }
    var nextTimeout: Duration? { table.nextTimeout }
    var statistics: PeerTableStatistics { table.statistics }

    func isOpen(_ peer: PeerID) -> Bool { table.isOpen(peer) }
    func address(of peer: PeerID) -> EndpointAddress? { table.address(of: peer) }
    func credentials(of peer: PeerID) -> STUNCredentials? { table.credentials(of: peer) }
    func connect(to server: EndpointAddress, now: Duration) -> PeerID? { table.connect(to: server, now: now) }
    func send(_ control: [UInt8], to peer: PeerID) -> Bool { table.send(control: control.span, to: peer) }
    func close(_ peer: PeerID) { table.close(peer) }

    /// Takes a datagram and all that follows from it. What is to be sent back at once.
    @discardableResult
    func take(_ bytes: [UInt8], from source: EndpointAddress, now: Duration) -> (outcome: Received, answer: [UInt8]) {
        var bytes = bytes
        var span = bytes.mutableSpan
        let outcome = table.receive(&span, from: source, now: now)
        switch outcome {
        case .control(let peer):
            while let control = nextControl(of: peer) { controls.append(control) }
        case .media(_, let count, _, _): media.append(Array(bytes[..<count]))
        case .answer(let count): return (outcome, Array(bytes[..<count]))
        case .consumed, .dropped: break
        }
        takeEvents(now: now)
        return (outcome, [])
    }

    private func takeEvents(now: Duration) {
        while let event = table.pollEvent() {
            events.append(event)
            if acceptsAll, case .opened(let peer) = event { table.accept(peer, now: now) }
        }
    }

    func nextControl(of peer: PeerID) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 1_500)
        var span = bytes.mutableSpan
        return table.pollControl(of: peer, into: &span).map { Array(bytes[..<$0]) }
    }

    /// What is to be sent, until nothing is left.
    func transmissions() -> [(bytes: [UInt8], to: EndpointAddress)] {
        var all: [(bytes: [UInt8], to: EndpointAddress)] = []
        var bytes = [UInt8](repeating: 0, count: 1_500)
        while true {
            var span = bytes.mutableSpan
            guard let (count, destination) = table.pollTransmit(into: &span) else { return all }
            all.append((Array(bytes[..<count]), destination))
        }
    }

    func handleTimeout(now: Duration) {
        table.handleTimeout(now: now)
        takeEvents(now: now)
    }

    func protect(_ packet: [UInt8], for peer: PeerID) -> [UInt8]? {
        var packet = packet
        let count = packet.count
        var span = packet.mutableSpan
        return table.protect(&span, count: count, .sound, for: peer).map { Array(packet[..<$0.count]) }
    }
}

extension EndpointAddress {
    /// The address of a client; each is a network of its own.
    static func of(_ number: Int, port: UInt16 = 40_000) -> EndpointAddress {
        EndpointAddress(high: 0, low: 0xFFFF_0A00_0000 + UInt64(number), port: port)
    }
}

/// A server and its clients on a simulated clock, with a network between them.
final class PeerNetworkOver<Security: KeyedSecurity> {
    typealias End = PeerEndOver<Security>

    struct Datagram: Sendable {
        let sentAt: Duration
        let source: EndpointAddress
        let destination: EndpointAddress
        let bytes: [UInt8]
    }

    private(set) var now: Duration = .seconds(1_000)
    let server: End
    private(set) var clients: [End] = []
    private var link: SimulatedLink<Datagram>
    /// All that was ever sent.
    private(set) var sent: [Datagram] = []
    /// Whether what the server sends from now on is lost.
    var isServerSilent = false

    init(seed: UInt64 = 1, _ conditions: NetworkConditions = .steady, capacity: Int = 1_024) throws {
        link = try SimulatedLink(conditions, seed: seed)
        server = .server(capacity: capacity)
    }

    /// Adds a client that begins a conversation with the server.
    func connect(as number: Int? = nil) throws -> (end: End, peer: PeerID) {
        let client = End.client(number ?? clients.count + 1)
        clients.append(client)
        let peer = try #require(client.connect(to: server.address, now: now))
        client.peer = peer
        return (client, peer)
    }

    /// A client whose path is open and followed, and the server's peer.
    func join(as number: Int? = nil) throws -> (client: End, guest: PeerID) {
        let (client, peer) = try connect(as: number)
        run(for: .milliseconds(80))
        let guest = try #require(server.opened.last)
        client.table.follow(peer, try #require(server.credentials(of: guest)), now: now)
        return (client, guest)
    }

    func post(_ bytes: [UInt8], from source: EndpointAddress, to destination: EndpointAddress) {
        let datagram = Datagram(sentAt: now, source: source, destination: destination, bytes: bytes)
        sent.append(datagram)
        if isServerSilent, source == server.address { return }
        link.send(datagram, byteCount: bytes.count, now: now)
    }

    /// The binding requests (RFC 8489 section 5) that came from an address since a time.
    func requests(from address: EndpointAddress, since start: Duration = .zero) -> [Datagram] {
        sent.filter { $0.source == address && $0.sentAt >= start && $0.bytes.starts(with: [0, 1]) }
    }

    /// Lets time pass. Each timer that was handled must lie ahead afterwards.
    func run(for duration: Duration) {
        let end = now + duration
        let ends = [server] + clients
        while true {
            for one in ends {
                for (bytes, destination) in one.transmissions() { post(bytes, from: one.address, to: destination) }
            }
            guard let next = (ends.map(\.nextTimeout) + [link.nextArrival]).compactMap({ $0 }).min(), next <= end
            else { break }
            now = max(now, next)
            while let datagram = link.receive(now: now)?.datagram {
                guard let destination = ends.first(where: { $0.address == datagram.destination }) else { continue }
                let (_, answer) = destination.take(datagram.bytes, from: datagram.source, now: now)
                if !answer.isEmpty { post(answer, from: destination.address, to: datagram.source) }
            }
            for one in ends {
                one.handleTimeout(now: now)
                guard let timeout = one.nextTimeout, timeout <= now else { continue }
                Issue.record("a timer of \(timeout) is not handled at \(now)")
                return
            }
        }
        now = end
    }
}

/// Records of a path without protection, as anybody can write them.
enum RawRecord {
    static let noCookie = [UInt8](repeating: 0, count: 16)

    static func header(_ kind: UInt8, _ nonce: UInt64) -> [UInt8] {
        [13, kind] + (0..<8).map { UInt8(truncatingIfNeeded: nonce >> (56 - 8 * UInt64($0))) }
    }

    static func hello(_ nonce: UInt64, cookie: [UInt8] = noCookie) -> [UInt8] { header(0, nonce) + cookie }
    static func control(_ nonce: UInt64, _ bytes: [UInt8]) -> [UInt8] { header(1, nonce) + bytes }
    static func retry(_ nonce: UInt64, cookie: [UInt8]) -> [UInt8] { header(2, nonce) + cookie }
    static func welcome(_ nonce: UInt64) -> [UInt8] { header(3, nonce) }
    static func goodbye(_ nonce: UInt64) -> [UInt8] { header(4, nonce) }
    static let unknownPeer: [UInt8] = [13, 5]
    /// Sound, the fewest bytes of it.
    static let sound: [UInt8] = [0x80, 111, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7, 1]
}

extension PeerEnd {
    /// What the server tells an address that asks.
    func cookie(for address: EndpointAddress, now: Duration) -> [UInt8] {
        Array(take(RawRecord.hello(0xC00C1E), from: address, now: now).answer.dropFirst(10))
    }

    /// Opens a path as a client at an address would.
    func admit(_ address: EndpointAddress, nonce: UInt64, now: Duration) -> Received {
        take(RawRecord.hello(nonce, cookie: cookie(for: address, now: now)), from: address, now: now).outcome
    }
}
