import Testing
import VoicePeers

@testable import VoiceTransport

/// One table of peers over DTLS, and what came of it.
private final class TableEnd {
    var table: PeerTable<DTLSSecurity>
    private(set) var events: [PeerEvent] = []
    private(set) var controls: [[UInt8]] = []
    private(set) var media: [[UInt8]] = []

    init(_ security: consuming DTLSSecurity, takesStrangers: Bool) {
        table = PeerTable(
            security: security, cookieKey: CookieKey(high: 1, low: 2), capacity: 10,
            takesStrangers: takesStrangers)
    }

    static func client(_ identity: ServerIdentity) throws -> TableEnd {
        TableEnd(try DTLSSecurity(trusting: .fingerprint(identity.fingerprint)), takesStrangers: false)
    }

    /// Takes a datagram; what is to be answered at once.
    func receive(_ datagram: [UInt8], from source: EndpointAddress) -> [UInt8]? {
        var bytes = datagram
        var span = bytes.mutableSpan
        let received = table.receive(&span, from: source, now: .zero)
        var answer: [UInt8]?
        switch received {
        case .control(let peer):
            var room = [UInt8](repeating: 0, count: 1500)
            var span = room.mutableSpan
            while let count = table.pollControl(of: peer, into: &span) {
                controls.append((0..<count).map { span[$0] })
            }
        case .media(_, let count, _, _): media.append(Array(bytes[..<count]))
        case .answer(let count): answer = Array(bytes[..<count])
        default: break
        }
        takeEvents()
        return answer
    }

    private func takeEvents() {
        while let event = table.pollEvent() {
            events.append(event)
            if case .opened(let peer) = event { table.accept(peer, now: .zero) }
        }
    }

    var count: Int { table.count }
    var admitted: Int { table.statistics.admitted }

    func isOpen(_ peer: PeerID) -> Bool { table.isOpen(peer) }

    /// Begins a conversation with the server.
    func connect() -> PeerID? {
        table.connect(to: EndpointAddress(high: 0, low: 0xFFFF_7F00_0001, port: 2000), now: .zero)
    }

    var nextTimeout: Duration? { table.nextTimeout }

    func handleTimeout() {
        table.handleTimeout(now: .zero)
        takeEvents()
    }

    func transmissions() -> [[UInt8]] { addressedTransmissions().map(\.bytes) }

    func addressedTransmissions() -> [(bytes: [UInt8], to: EndpointAddress)] {
        var all: [(bytes: [UInt8], to: EndpointAddress)] = []
        var bytes = [UInt8](repeating: 0, count: 1500)
        while true {
            var span = bytes.mutableSpan
            guard let (count, destination) = table.pollTransmit(into: &span) else { return all }
            all.append((Array(bytes[..<count]), destination))
        }
    }

    func send(_ control: [UInt8], to peer: PeerID) -> Bool {
        table.send(control: control.span, to: peer)
    }

    /// Protects a packet of sound.
    func protect(_ packet: [UInt8], for peer: PeerID) -> [UInt8]? {
        var bytes = packet + [UInt8](repeating: 0, count: DTLSSecurity.mediaOverhead)
        var span = bytes.mutableSpan
        let count = table.protect(&span, count: packet.count, .sound, for: peer)?.count
        takeEvents()
        return count.map { Array(bytes[..<$0]) }
    }
}

@Suite("A table of peers over DTLS")
struct DTLSTableTests {
    private let identity = TestIdentity.localhost.identity
    private let clientAddress = EndpointAddress(high: 0, low: 0xFFFF_7F00_0001, port: 1000)
    private let serverAddress = EndpointAddress(high: 0, low: 0xFFFF_7F00_0001, port: 2000)

    /// Carries datagrams, each `copies` times to the server, until nobody has anything to say.
    private func run(_ client: TableEnd, _ server: TableEnd, copies: Int = 1) {
        for _ in 0..<40 {
            var isQuiet = true
            for datagram in client.transmissions() {
                isQuiet = false
                for _ in 0..<copies {
                    if let answer = server.receive(datagram, from: clientAddress) {
                        _ = client.receive(answer, from: serverAddress)
                    }
                }
            }
            server.handleTimeout()
            for datagram in server.transmissions() {
                isQuiet = false
                _ = client.receive(datagram, from: serverAddress)
            }
            if isQuiet { return }
        }
    }

    private func opened(_ events: [PeerEvent]) -> [PeerID] {
        events.compactMap { if case .opened(let peer) = $0 { peer } else { nil } }
    }

    @Test("opens, carries control and media, and tells of the goodbye", arguments: [1, 3])
    func life(copies: Int) throws {
        // Given
        let server = TableEnd(DTLSSecurity(serving: identity), takesStrangers: true)
        let client = try TableEnd.client(identity)
        let peer = try #require(client.connect())
        // When each datagram of the client comes so many times
        run(client, server, copies: copies)
        // Then there is one peer
        #expect(opened(client.events) == [peer])
        let guest = try #require(opened(server.events).first)
        #expect(opened(server.events).count == 1 && server.count == 1)
        #expect(server.admitted == 1)
        // And control and media pass once
        #expect(client.send([1, 2, 3], to: peer) && server.send([4, 5], to: guest))
        run(client, server, copies: copies)
        #expect(server.controls == [[1, 2, 3]] && client.controls == [[4, 5]])
        let packet: [UInt8] = [0x80, 111, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4, 9]
        let protected = try #require(client.protect(packet, for: peer))
        for _ in 0..<copies { _ = server.receive(protected, from: clientAddress) }
        #expect(server.media == [packet])
        client.table.close(peer)
        run(client, server)
        #expect(server.events.last == .closed(guest, .byPeer))
        #expect(client.count == 0 && server.count == 0)
    }

    @Test(
        "has a client that begins anew at its address take the place of the old, once it has shown who it is"
    )
    func replaced() throws {
        let server = TableEnd(DTLSSecurity(serving: identity), takesStrangers: true)
        let old = try TableEnd.client(identity)
        let oldPeer = try #require(old.connect())
        run(old, server)
        let first = try #require(opened(server.events).first)
        // Given a new client half way through its handshake
        let new = try TableEnd.client(identity)
        let newPeer = try #require(new.connect())
        for _ in 0..<2 {
            for datagram in new.transmissions() {
                if let answer = server.receive(datagram, from: clientAddress) {
                    _ = new.receive(answer, from: serverAddress)
                }
            }
        }
        #expect(server.count == 2)
        // When the old one speaks
        #expect(old.send([7], to: oldPeer))
        for datagram in old.transmissions() {
            #expect(server.receive(datagram, from: clientAddress) == nil)
        }
        // Then it is heard
        #expect(server.controls == [[7]])
        #expect(server.isOpen(first))
        // And when the new one is through, it is there alone
        run(new, server)
        #expect(opened(new.events) == [newPeer])
        let second = try #require(opened(server.events).last)
        #expect(second != first && !server.isOpen(first) && server.isOpen(second))
        #expect(server.events.contains(.closed(first, .replaced)))
        #expect(new.send([8], to: newPeer))
        run(new, server)
        #expect(server.controls == [[7], [8]])
        #expect(server.count == 1)
    }

    @Test("closes a path whose keys are used up: by another one the client hears whoever comes")
    func usedUp() throws {
        // Given a listener who has heard all SSRCs that a set of keys can have
        let server = TableEnd(DTLSSecurity(serving: identity), takesStrangers: true)
        let client = try TableEnd.client(identity)
        _ = try #require(client.connect())
        run(client, server)
        let guest = try #require(opened(server.events).last)
        func sound(_ source: Int) -> [UInt8] {
            [0x80, 111, 0, 1, 0, 0, 0, 0, 0, 0, UInt8(source >> 8), UInt8(source & 0xFF), 9]
        }
        for source in 0..<4_096 {
            let packet = try #require(server.protect(sound(source), for: guest))
            _ = client.receive(packet, from: serverAddress)
        }
        // What was sent already is no reason
        #expect(server.protect(sound(0), for: guest) == nil)
        #expect(server.isOpen(guest))
        // When another speaks
        #expect(server.protect(sound(4_096), for: guest) == nil)
        // Then both ends learn of it
        run(client, server)
        #expect(server.events.last == .closed(guest, .keysUsedUp))
        #expect(client.events.contains { if case .closed(_, .byPeer) = $0 { true } else { false } })
        #expect(server.count == 0)
        _ = try #require(client.connect())
        run(client, server)
        let again = try #require(opened(server.events).last)
        let packet = try #require(server.protect(sound(4_096), for: again))
        _ = client.receive(packet, from: serverAddress)
        #expect(client.media.last == sound(4_096))
    }

    @Test("takes so many handshakes before media has its turn, and the others in the order in which they came")
    func turns() throws {
        // Given clients whose hellos, cookies in them, come in one batch
        let server = TableEnd(DTLSSecurity(serving: identity), takesStrangers: true)
        let clients = try (0..<9).map { _ in try TableEnd.client(identity) }
        func address(_ number: Int) -> EndpointAddress {
            EndpointAddress(high: 0, low: 0xFFFF_0A00_0001 + UInt64(number), port: 1000)
        }
        var answered: [Int] = []
        var began: [Int] = []
        func deliver() {
            for (number, client) in clients.enumerated() {
                for datagram in client.transmissions() {
                    if let answer = server.receive(datagram, from: address(number)) {
                        _ = client.receive(answer, from: serverAddress)
                    }
                }
            }
        }
        func answer() {
            for (bytes, destination) in server.addressedTransmissions() {
                guard let number = clients.indices.first(where: { address($0) == destination }) else { continue }
                if !answered.contains(number) { answered.append(number) }
                _ = clients[number].receive(bytes, from: serverAddress)
            }
        }
        for client in clients { _ = try #require(client.connect()) }
        deliver()
        deliver()
        // Then four have begun, and the others wait
        let limit = DTLSSecurity.handshakeStepsAtOnce
        began.append(server.admitted)
        while server.admitted < clients.count, began.count < 9 {
            #expect(server.nextTimeout == .zero)
            server.handleTimeout()
            answer()
            began.append(server.admitted)
        }
        #expect(began == [limit, 2 * limit, 9])
        #expect(answered == Array(clients.indices))
        // And all of them get in
        for _ in 0..<20 {
            deliver()
            server.handleTimeout()
            answer()
        }
        #expect(opened(server.events).count == clients.count)
    }

    @Test("has whoever sends more records than it can take of a handshake wait, and nobody else")
    func crowd() throws {
        // Given one whose handshake has begun, and who sends more records for it than may wait
        let server = TableEnd(DTLSSecurity(serving: identity), takesStrangers: true)
        let (flooder, client) = (try TableEnd.client(identity), try TableEnd.client(identity))
        func address(_ number: UInt64) -> EndpointAddress {
            EndpointAddress(high: 0, low: 0xFFFF_0A00_0000 + number, port: 1000)
        }
        func begin(_ end: TableEnd, at source: EndpointAddress) throws {
            _ = try #require(end.connect())
            for _ in 0..<2 {
                for datagram in end.transmissions() {
                    if let answer = server.receive(datagram, from: source) {
                        _ = end.receive(answer, from: serverAddress)
                    }
                }
            }
        }
        try begin(flooder, at: address(1))
        #expect(server.admitted == 1)
        let record: [UInt8] = [22, 254, 253, 0, 5, 0, 0, 0, 0, 0, 9, 0, 1, 0]
        for _ in 0..<1_000 { _ = server.receive(record, from: address(1)) }
        // When somebody else begins one
        try begin(client, at: address(2))
        // Then it does in the next turn
        server.handleTimeout()
        #expect(server.admitted == 2)
    }

    @Test("tells why a client does not take its server")
    func refused() throws {
        let server = TableEnd(DTLSSecurity(serving: TestIdentity.other.identity), takesStrangers: true)
        let client = try TableEnd.client(identity)
        let peer = try #require(client.connect())
        run(client, server)
        #expect(client.events == [.closed(peer, .identityRefused(.otherFingerprint))])
        #expect(opened(server.events).isEmpty && server.count == 0)
    }
}
