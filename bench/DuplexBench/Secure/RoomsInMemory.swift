import VoicePeers
import VoiceRooms
import VoiceTransport

/// A room server and its members over DTLS-SRTP in one memory, without sockets or time: what one end has to say is one
/// flight, and arrives whole.
final class RoomsInMemory {
    /// What went one way in one trip.
    struct Flight {
        var datagrams = 0
        var bytes = 0

        fileprivate mutating func count(_ datagram: [UInt8]) {
            datagrams += 1
            bytes += datagram.count
        }
    }

    private final class Server {
        var host: RoomHost<DTLSSecurity>
        init(_ identity: ServerIdentity) {
            host = RoomHost(security: DTLSSecurity(serving: identity), cookieKey: .random())
        }
    }

    final class Member {
        fileprivate let address: EndpointAddress
        fileprivate var guest: RoomGuest<DTLSSecurity>
        fileprivate var packet: VoicePacket?

        fileprivate init(_ session: RoomSession, at address: EndpointAddress, _ fingerprint: CertificateFingerprint)
            throws
        {
            self.address = address
            guest = RoomGuest(
                session: session, server: RoomsInMemory.address(0),
                security: try DTLSSecurity(trusting: .fingerprint(fingerprint)), cookieKey: .random())
        }

        /// Whether media may go.
        var hasJoined: Bool { guest.session.state == .joined }
    }

    private static let now: Duration = .seconds(1_000)
    private let identity: ServerIdentity
    private var server: Server?
    private(set) var members: [Member] = []
    private var places: [EndpointAddress: Member] = [:]
    private var buffer = [UInt8](repeating: 0, count: 1_500)

    init(_ identity: ServerIdentity) {
        self.identity = identity
        server = Server(identity)
    }

    /// Forgets the server, and all that it keeps.
    func endServer() { server = nil }

    /// Every one is in a network of its own.
    private static func address(_ number: Int) -> EndpointAddress {
        EndpointAddress(high: 0, low: 0xFFFF_0A00_0000 + UInt64(number), port: 7_900)
    }

    /// Somebody who wants to join and publish, and has said nothing yet.
    func addMember(of room: String) throws -> Member {
        let token = Array("\(members.count + 1)@\(room)".utf8)
        var session = try RoomSession(token: token, publishing: .publisher)
        try session.join(now: Self.now)
        let member = try Member(session, at: Self.address(members.count + 1), identity.fingerprint)
        members.append(member)
        places[member.address] = member
        return member
    }

    /// Has a member say all it has to say, and the server answer.
    func trip(of member: Member) -> (there: Flight, back: Flight) {
        var (there, back) = (Flight(), Flight())
        var answers: [[UInt8]] = []
        for datagram in wordsOf(member) {
            there.count(datagram)
            answers += deliver(datagram, from: member.address)
        }
        for datagram in answers {
            back.count(datagram)
            hand(datagram, to: member)
        }
        for (datagram, destination) in wordsOfServer() {
            if destination == member.address { back.count(datagram) }
            if let receiver = places[destination] { hand(datagram, to: receiver) }
        }
        return (there, back)
    }

    /// Has everybody talk with the server until nobody has anything to say.
    func settle() throws {
        for _ in 0..<1_000 {
            var isSilent = true
            for member in members where trip(of: member).there.datagrams > 0 { isSilent = false }
            if isSilent { return }
        }
        throw SecureFailure("the members never fall silent")
    }

    /// Says a member's next packet: how many others it is forwarded to, protected and heard.
    func say(by member: Member) throws -> Int {
        if member.packet == nil {
            member.packet = member.guest.session.grant?.streams.first.map { VoicePacket(of: $0.synchronizationSource) }
        }
        member.packet?.writeNext(to: &buffer)
        var span = buffer.mutableSpan
        guard let server, let count = member.guest.protect(&span, count: VoicePacket.length, .sound) else { return 0 }
        var datagram = Array(buffer[..<count])
        var bytes = datagram.mutableSpan
        let outcome = server.host.receive(&bytes, from: member.address, now: Self.now)
        guard case .forward(let length, let kind, .forward(let receivers)) = outcome else { return 0 }
        var heard = 0
        for receiver in receivers {
            var copy = Array(datagram[..<length]) + [UInt8](repeating: 0, count: DTLSSecurity.mediaOverhead)
            var room = copy.mutableSpan
            guard let (count, destination) = server.host.protect(&room, count: length, kind, for: receiver),
                let listener = places[destination]
            else { continue }
            var packet = Array(copy[..<count])
            var received = packet.mutableSpan
            if case .media(length) = listener.guest.receive(&received, now: Self.now) { heard += 1 }
        }
        return heard
    }

    private func wordsOf(_ member: Member) -> [[UInt8]] {
        member.guest.handleTimeout(now: Self.now)
        while member.guest.session.pollEvent() != nil {}
        var words = transmit(member)
        if member.guest.wantsSocket {
            member.guest.connect(now: Self.now)
            words += transmit(member)
        }
        return words
    }

    private func transmit(_ member: Member) -> [[UInt8]] {
        var words: [[UInt8]] = []
        while true {
            var span = buffer.mutableSpan
            guard let count = member.guest.pollTransmit(into: &span, now: Self.now) else { return words }
            words.append(Array(buffer[..<count]))
        }
    }

    private func hand(_ datagram: [UInt8], to member: Member) {
        var datagram = datagram
        var bytes = datagram.mutableSpan
        _ = member.guest.receive(&bytes, now: Self.now)
    }

    private func deliver(_ datagram: [UInt8], from source: EndpointAddress) -> [[UInt8]] {
        var datagram = datagram
        var bytes = datagram.mutableSpan
        guard case .answer(let count) = server?.host.receive(&bytes, from: source, now: Self.now) else { return [] }
        return [Array(datagram[..<count])]
    }

    private func wordsOfServer() -> [([UInt8], EndpointAddress)] {
        guard let server else { return [] }
        server.host.handleTimeout(now: Self.now)
        while let request = server.host.directory.pollVerification() {
            let parts = String(decoding: request.token, as: UTF8.self).split(separator: "@")
            let grants = TokenGrants(identity: String(parts[0]), room: String(parts[1]))
            let entropy = JoinEntropy(
                secret: RejoinSecret(high: .random(in: 0...UInt64.max), low: .random(in: 0...UInt64.max)),
                synchronizationSource: .random(in: 1...UInt32.max))
            server.host.directory.answer(request.id, .granted(grants), entropy: entropy, unixTime: 0, now: Self.now)
        }
        while server.host.directory.pollEvent() != nil {}
        var words: [([UInt8], EndpointAddress)] = []
        while true {
            var span = buffer.mutableSpan
            guard let (count, destination) = server.host.pollTransmit(into: &span, now: Self.now) else { return words }
            words.append((Array(buffer[..<count]), destination))
        }
    }
}
