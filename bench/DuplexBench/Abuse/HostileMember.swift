import VoiceRooms

/// A member of a room that follows the protocol only as far as serves it: joins, acknowledges, learns who speaks, and
/// comes back when it is put out. What it sends besides is an attack's.
final class HostileMember {
    let socket: LoopbackSocket
    let path: any HostilePath
    private let token: [UInt8]
    private let capabilities: RoomCapabilities

    /// How often it has begun to join.
    private(set) var stays = 0
    /// What it says itself is numbered from here on.
    private(set) var next: UInt32 = 1
    /// What the server awaits next of it, and since when.
    private(set) var acknowledged: UInt32 = 1
    private var progressAt: Duration = .zero
    /// What it awaits next of the server.
    private(set) var awaited: UInt32 = 1
    private(set) var grant: JoinGrant?
    /// Who publishes what, those included who have gone.
    private(set) var publishers: [StreamAssignment: String] = [:]
    /// How often the server has put it out.
    private(set) var timesPutOut = 0

    private var identities: [ParticipantID: String] = [:]
    private var owesAcknowledgement = false
    private var connectAgainAt: Duration = .zero
    private var joinAgainAt: Duration = .zero
    /// Durable messages that came during this stay.
    private var handled: UInt32 = 0
    private var isConnected = false
    private var pingAt: Duration = .zero

    private static let joinInterval: Duration = .milliseconds(200)
    private static let pingInterval: Duration = .seconds(1)
    /// What is not acknowledged for so long is sent again from there.
    private static let patience: Duration = .milliseconds(20)

    init(token: String, capabilities: RoomCapabilities = .conversation, port: AttackedPort) throws {
        socket = try LoopbackSocket(to: port.number)
        self.token = Array(token.utf8)
        self.capabilities = capabilities
        path = try port.path()
    }

    /// Whether it is in the room and speaks there, as far as it may.
    var hasSettled: Bool { grant != nil && hasPublished }
    private var hasPublished = false

    /// The stream that was set aside for it.
    var ownStream: StreamAssignment? { grant?.streams.first }

    /// Takes what has come and says what the protocol asks for; call at least every few milliseconds.
    func pump(now: Duration) {
        for datagram in socket.receive() {
            for bytes in path.receive(datagram, now: now) {
                if let control = try? ControlDatagram(decoding: bytes.span) { take(control, now: now) }
            }
        }
        if path.hasEnded(now: now) { startOver() }
        if !isConnected, now >= connectAgainAt {
            connectAgainAt = now + Self.joinInterval
            joinAgainAt = .zero
            isConnected = true
            stays += 1
            path.connect(now: now)
        }
        defer { for record in path.takeRecords() { socket.send([record]) } }
        guard path.isOpen else { return }
        if grant == nil, now >= joinAgainAt {
            joinAgainAt = now + Self.joinInterval
            let join = RoomMessage.join(JoinRequest(capabilities: capabilities, room: "", token: token))
            say([ControlDatagram.Frame(sequence: 1, message: join)])
            next = 2
        } else if let own = ownStream, !hasPublished {
            hasPublished = true
            if capabilities.contains(.publish) { request(.publish(own, interruptibleBy: .publisher)) }
        } else if grant != nil, now >= pingAt {
            pingAt = now + Self.pingInterval
            say([ControlDatagram.Frame(sequence: 0, message: .ping(microseconds: 1))])
        } else if owesAcknowledgement {
            say([])
        }
        if acknowledged < next, now - progressAt > Self.patience, grant != nil {
            next = acknowledged
            progressAt = now
        }
    }

    private func request(_ message: RoomMessage) {
        say([ControlDatagram.Frame(sequence: next, message: message)])
        next += 1
    }

    /// Takes the next `count` numbers for messages of an attack.
    func takeSequence(_ count: Int) -> UInt32 {
        defer { next += UInt32(count) }
        return next
    }

    private func say(_ frames: [ControlDatagram.Frame]) {
        owesAcknowledgement = false
        let control = ControlDatagram(acknowledged: awaited, frames: frames).encoded()
        if let record = path.record(of: control) { socket.send([record]) }
    }

    private func take(_ control: ControlDatagram, now: Duration) {
        if control.acknowledged > acknowledged {
            acknowledged = control.acknowledged
            progressAt = now
        }
        for frame in control.frames {
            guard frame.sequence != 0 else { continue }
            owesAcknowledgement = true
            guard frame.sequence == awaited else { continue }
            awaited += 1
            switch frame.message {
            case .removed, .refused: return startOver()
            default: learn(frame.message)
            }
            countHandled(frame.message)
        }
    }

    /// Tells the server in time what it need not keep.
    private func countHandled(_ message: RoomMessage) {
        switch message {
        case .message, .interrupted, .generationStarted, .requestRefused: handled &+= 1
        default: return
        }
        if handled % 16 == 0 { request(.handled(count: handled)) }
    }

    private func learn(_ message: RoomMessage) {
        switch message {
        case .joined(let grant): self.grant = grant
        case .participantJoined(let entry):
            identities[entry.participant] = entry.identity
            for stream in entry.streams { publishers[stream.assignment] = entry.identity }
        case .published(let participant, let stream): publishers[stream.assignment] = identities[participant]
        default: break
        }
    }

    private func startOver() {
        if grant != nil { timesPutOut += 1 }
        grant = nil
        hasPublished = false
        isConnected = false
        path.close()
        (next, acknowledged, awaited) = (1, 1, 1)
        handled = 0
    }
}
