import Glibc
import TestCases
import Testing
import VoiceRealtime
import VoiceRooms

@testable import VoiceTransport

/// A client over loopback with the media thread's ends of its rings in the test's hand.
final class LoopbackParticipant {
    let client: RoomClient
    private var sending: PacketProducer
    private var received: PacketConsumer
    private let wake: WakeSignal
    private var events: AsyncStream<RoomClientEvent>.Iterator
    var grant: JoinGrant?
    var roster = RoomRoster()

    convenience init(
        url: String, token: String, configuration: RoomClientConfiguration = RoomClientConfiguration()
    ) throws {
        try self.init(RoomEndpoint(url: url, token: token), configuration: configuration)
    }

    init(_ endpoint: RoomEndpoint, configuration: RoomClientConfiguration = RoomClientConfiguration()) throws {
        let inward = PacketRing(minimumSlots: 256)
        let outward = PacketRing(minimumSlots: 256)
        wake = try WakeSignal()
        sending = outward.producer
        received = inward.consumer
        let link = PacketLink(received: inward.producer, sending: outward.consumer, wake: wake)
        client = try RoomClient(joining: endpoint, configuration: configuration, link: link)
        events = client.events.makeAsyncIterator()
    }

    /// The next event that `wanted` makes something of; nil when the events end before.
    func next<Found>(_ wanted: (RoomClientEvent) -> Found?) async -> Found? {
        while let event = await events.next(isolation: nil) {
            if let found = wanted(event) { return found }
        }
        return nil
    }

    func nextEnd() async -> RoomClientEnd? {
        await next { if case .ended(let end) = $0 { end } else { nil } }
    }

    /// Waits for the join, and for the confirmation of its stream when it may publish.
    func join() async throws {
        let joined = await next { if case .room(.joined(let grant, let roster)) = $0 { (grant, roster) } else { nil } }
        let (grant, roster) = try #require(joined, "ended: \(String(describing: client.end))")
        self.grant = grant
        self.roster = roster
        guard grant.capabilities.contains(.publish) else { return }
        try client.publish(grant.streams[0])
        let published = await next { event -> Bool? in
            if case .room(.published(grant.participant, _)) = event { true } else { nil }
        }
        try #require(published == true)
    }

    /// An RTP packet of this participant's stream.
    func packet(_ sequence: UInt16, payload: [UInt8]) -> [UInt8] {
        let source = grant?.streams.first?.synchronizationSource ?? 0
        let header: [UInt8] = [0x80, 111, UInt8(sequence >> 8), UInt8(sequence & 0xFF), 0, 0, 0, 0]
        return header + (0..<4).map { UInt8(truncatingIfNeeded: source >> (24 - 8 * $0)) } + payload
    }

    func send(_ packet: [UInt8]) -> Bool {
        guard sending.push(packet.span, tag: PacketTag(time: .now())) else { return false }
        wake.signal()
        return true
    }

    /// The next media packet, where one is there.
    func takeReceived() -> [UInt8]? { received.available > 0 ? received.take().0 : nil }

    /// The next media packet and its tag; nil when none comes within a minute.
    func receive() async throws -> ([UInt8], PacketTag)? {
        try await eventually { received.available > 0 } ? received.take() : nil
    }
}

/// Waits until `condition` holds, which is asked every millisecond; false where it does not hold within a minute.
func eventually(_ condition: () -> Bool) async throws -> Bool {
    let deadline = MonotonicTime.now().sinceEpoch + .seconds(60)
    while !condition() {
        guard MonotonicTime.now().sinceEpoch < deadline else { return false }
        try await Task.sleep(for: .milliseconds(1))
    }
    return true
}

/// A started server on loopback, and tokens for it.
struct LoopbackServer {
    let server: RoomServer
    let place: LoopbackPlace
    var host: String { place.host }
    var port: UInt16 { place.port }
    var url: String { "udp://\(host):\(port)" }

    /// - Parameter former: whose place it takes.
    init(
        replacing former: LoopbackServer? = nil, directory: RoomDirectoryConfiguration = RoomDirectoryConfiguration(),
        key: TokenKey? = nil
    ) throws {
        place = former?.place ?? LoopbackPlace()
        server = RoomServer(
            configuration: RoomServerConfiguration(host: place.host, port: place.port, directory: directory),
            verifier: TokenVerifier(keys: [try key ?? testKey()]))
        _ = try server.start()
    }

    func participant(
        _ identity: String, configuration: RoomClientConfiguration = RoomClientConfiguration()
    ) throws -> LoopbackParticipant {
        let token = try Self.token(TokenGrants(identity: identity, room: "kitchen"))
        return try LoopbackParticipant(url: url, token: token, configuration: configuration)
    }

    /// A participant who has joined.
    func joined(
        _ identity: String, configuration: RoomClientConfiguration = RoomClientConfiguration()
    ) async throws -> LoopbackParticipant {
        let participant = try participant(identity, configuration: configuration)
        try await participant.join()
        return participant
    }

    static func token(
        _ grants: TokenGrants, from: Int64 = -10, until: Int64 = 3600, key: TokenKey? = nil
    ) throws -> String {
        let now = Int64(time(nil))
        return try TokenIssuer(key: key ?? testKey()).token(for: grants, notBefore: now + from, expires: now + until)
    }
}

extension PacketConsumer {
    /// The oldest packet, copied out.
    mutating func take() -> ([UInt8], PacketTag) {
        let tag = tag()
        let packet = acquire()
        var bytes: [UInt8] = []
        for index in packet.indices { bytes.append(packet[index]) }
        release()
        return (bytes, tag)
    }
}
