import Testing

@testable import VoicePeers

/// A server and clients whose addresses change, on a simulated clock, 20 ms apart.
final class MovingPeers {
    final class End {
        var table: PeerTable<SignedPlaintext>
        var address: EndpointAddress
        var events: [PeerEvent] = []
        /// A client's path.
        var peer: PeerID?

        init(_ address: EndpointAddress, seed: UInt64, takesStrangers: Bool) {
            self.address = address
            table = PeerTable(
                security: SignedPlaintext(key: CookieKey(high: seed, low: 1)), cookieKey: CookieKey(high: seed, low: 2),
                capacity: 64, takesStrangers: takesStrangers)
        }

        var nextTimeout: Duration? { table.nextTimeout }

        func take(_ bytes: [UInt8], from source: EndpointAddress, now: Duration) -> (Received, answer: [UInt8]) {
            var bytes = bytes
            var span = bytes.mutableSpan
            let received = table.receive(&span, from: source, now: now)
            takeEvents(now: now)
            guard case .answer(let count) = received else { return (received, []) }
            return (received, Array(bytes[..<count]))
        }

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

        private func takeEvents(now: Duration) {
            while let event = table.pollEvent() {
                events.append(event)
                if case .opened(let peer) = event { table.accept(peer, now: now) }
            }
        }

        /// Sends control on a client's path.
        func send(_ control: [UInt8]) -> Bool { peer.map { table.send(control: control.span, to: $0) } ?? false }
        func credentials(of peer: PeerID) -> STUNCredentials? { table.credentials(of: peer) }
        func address(of peer: PeerID) -> EndpointAddress? { table.address(of: peer) }
        func isOpen(_ peer: PeerID) -> Bool { table.isOpen(peer) }
    }

    struct Flight {
        let sent: Duration
        let source: EndpointAddress
        let destination: EndpointAddress
        let bytes: [UInt8]
        var arrival: Duration { sent + .milliseconds(20) }
    }

    private(set) var now: Duration = .seconds(1_000)
    let server = End(EndpointAddress(high: 0, low: 1, port: 7_900), seed: 1, takesStrangers: true)
    private(set) var clients: [End] = []
    /// All that was ever sent.
    private(set) var sent: [Flight] = []
    private var delivered = 0
    /// Whether what the server sends is lost.
    var isServerSilent = false

    /// A client whose path is open, and the server's peer.
    func join(_ number: Int, isFollowed: Bool = true) throws -> (client: End, guest: PeerID) {
        let client = End(.of(number), seed: UInt64(1_000 + number), takesStrangers: false)
        clients.append(client)
        let connected = client.table.connect(to: server.address, now: now)
        let peer = try #require(connected)
        client.peer = peer
        run(for: .milliseconds(80))
        let opened = server.events.compactMap { if case .opened(let peer) = $0 { peer } else { nil } }
        let guest = try #require(opened.last)
        if isFollowed {
            let credentials = try #require(server.credentials(of: guest))
            client.table.follow(peer, credentials, now: now)
        }
        return (client, guest)
    }

    func post(_ bytes: [UInt8], from source: EndpointAddress, to destination: EndpointAddress) {
        sent.append(Flight(sent: now, source: source, destination: destination, bytes: bytes))
    }

    /// The binding requests (RFC 8489 section 5) that came from an address since a time.
    func requests(from address: EndpointAddress, since start: Duration = .zero) -> [Flight] {
        sent.filter { $0.source == address && $0.sent >= start && $0.bytes.starts(with: [0, 1]) }
    }

    /// Lets time pass. Each timer that was handled must lie ahead afterwards.
    func run(for duration: Duration) {
        let end = now + duration
        let ends = [server] + clients
        while true {
            for one in ends {
                for (bytes, destination) in one.transmissions() { post(bytes, from: one.address, to: destination) }
            }
            for one in ends {
                guard let timeout = one.nextTimeout, timeout <= now else { continue }
                one.handleTimeout(now: now)
                for (bytes, destination) in one.transmissions() { post(bytes, from: one.address, to: destination) }
                if let next = one.nextTimeout, next <= now {
                    Issue.record("a timer of \(next) is not handled at \(now)")
                    return
                }
            }
            let arrival = delivered < sent.count ? sent[delivered].arrival : nil
            guard let next = (ends.compactMap { $0.nextTimeout } + [arrival].compactMap { $0 }).min(), next <= end
            else { break }
            now = max(now, next)
            while delivered < sent.count, sent[delivered].arrival <= now {
                let flight = sent[delivered]
                delivered += 1
                if isServerSilent, flight.source == server.address { continue }
                guard let destination = ends.first(where: { $0.address == flight.destination }) else { continue }
                let (_, answer) = destination.take(flight.bytes, from: flight.source, now: now)
                if !answer.isEmpty { post(answer, from: destination.address, to: flight.source) }
            }
        }
        now = end
    }
}
