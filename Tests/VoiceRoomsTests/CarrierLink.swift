import TestCases
import VoicePeers

@testable import VoiceRooms

/// A path with a carrier at each end, of one kind or the other: static dispatch to both.
struct CarrierLink {
    enum Ends {
        case datagrams(client: DatagramCarrier, server: DatagramCarrier)
        case stream(client: StreamCarrier, server: StreamCarrier)
    }

    let peer: PeerID
    var ends: Ends
    /// Bytes on their way.
    private var flights: [(arrival: Duration, isForServer: Bool, bytes: [UInt8])] = []

    init(peer: PeerID, isStream: Bool) {
        self.peer = peer
        ends =
            isStream
            ? .stream(client: StreamCarrier(), server: StreamCarrier())
            : .datagrams(client: DatagramCarrier(), server: DatagramCarrier())
    }

    /// Has both ends speak, as a driver does.
    mutating func exchange(_ session: inout RoomSession, _ directory: inout RoomDirectory, now: Duration) {
        switch ends {
        case .datagrams(var client, var server):
            client.handleTimeout(now: now)
            server.handleTimeout(now: now)
            session.exchange(through: &client, now: now)
            directory.exchange(with: peer, through: &server, now: now)
            ends = .datagrams(client: client, server: server)
        case .stream(var client, var server):
            session.exchange(through: &client, now: now)
            directory.exchange(with: peer, through: &server, now: now)
            ends = .stream(client: client, server: server)
        }
    }

    /// Moves bytes: datagrams get lost, doubled and out of order; of a stream some come now, and the rest later.
    mutating func move(
        _ session: inout RoomSession, _ directory: inout RoomDirectory, _ random: inout SeededNumbers, loss: Double,
        now: Duration
    ) {
        switch ends {
        case .datagrams(var client, var server):
            while let bytes = client.nextDatagram(now: now) { post(bytes, forServer: true, &random, loss, now: now) }
            while let bytes = server.nextDatagram(now: now) { post(bytes, forServer: false, &random, loss, now: now) }
            for flight in flights where flight.arrival <= now {
                if flight.isForServer {
                    if (try? server.receive(flight.bytes.span, now: now)) != nil {
                        directory.heard(from: peer, now: now)
                    }
                } else if (try? client.receive(flight.bytes.span, now: now)) != nil {
                    session.heard(now: now)
                }
            }
            flights.removeAll { $0.arrival <= now }
            ends = .datagrams(client: client, server: server)
        case .stream(var client, var server):
            let up = client.write(upTo: Int.random(in: 0...400, using: &random))
            let down = server.write(upTo: Int.random(in: 0...400, using: &random))
            server.read(up)
            client.read(down)
            if !up.isEmpty { directory.heard(from: peer, now: now) }
            if !down.isEmpty { session.heard(now: now) }
            ends = .stream(client: client, server: server)
        }
    }

    private mutating func post(
        _ bytes: [UInt8], forServer: Bool, _ random: inout SeededNumbers, _ loss: Double, now: Duration
    ) {
        for _ in 0..<(random.chance(0.1) ? 2 : 1) where !random.chance(loss) {
            flights.append((now + .milliseconds(Int64.random(in: 5...80, using: &random)), forServer, bytes))
        }
    }
}
