import Synchronization
import VoicePeers
import VoiceRealtime
import VoiceRooms
import VoiceTransport

/// The other members of an attacked room: they follow the protocol, on a path of ordinary length, and speak no word.
/// And one who comes later.
final class Bystanders: Sendable {
    /// What became of them.
    struct Report: Sendable {
        /// Members that have come in.
        var present = 0
        /// Those who were put out since, for a while or for good.
        var putOut = 0
        /// How long the newcomer took to come in.
        var newcomerJoined: Duration?
    }

    private final class State: Sendable {
        let report = Mutex(Report())
        let newcomerBegins = Atomic<Bool>(false)
    }

    /// How often they look at their sockets, microseconds.
    private static let periodMicroseconds: Int64 = 1_000
    /// Where the newcomer is: in a network that neither members nor attackers are in.
    private static let newcomerAddress = "127.2.0.1"
    private let state: State
    private let thread: RealtimeThread

    /// Members with these tokens join at once, the newcomer when ``admitNewcomer()`` says so.
    init(tokens: [String], newcomer: String, port: AttackedPort) throws {
        let state = State()
        self.state = state
        thread = try RealtimeThread(name: "bystanders", priority: 0) { stop in
            guard let members = try? tokens.map({ try port.bystander(token: $0, from: "127.0.0.1") }),
                let late = try? port.bystander(token: newcomer, from: Self.newcomerAddress)
            else { return }
            var lateBegan: Duration?
            while !stop.isRaised {
                let now = MonotonicTime.now().sinceEpoch
                for member in members { member.pump(now: now) }
                if lateBegan == nil, state.newcomerBegins.load(ordering: .acquiring) { lateBegan = now }
                if lateBegan != nil { late.pump(now: now) }
                state.report.withLock { report in
                    report.present = members.count { $0.hasJoined }
                    report.putOut = members.count { $0.wasPutOut }
                    if let lateBegan, late.hasJoined, report.newcomerJoined == nil {
                        report.newcomerJoined = now - lateBegan
                    }
                }
                sleepMicroseconds(Self.periodMicroseconds)
            }
        }
    }

    var report: Report { state.report.withLock { $0 } }

    /// Has the newcomer join from now on.
    func admitNewcomer() { state.newcomerBegins.store(true, ordering: .releasing) }

    func stop() { thread.stop() }
}

/// One of them.
private protocol Bystander: AnyObject {
    var hasJoined: Bool { get }
    var wasPutOut: Bool { get }
    /// Takes what has come, and says what the protocol asks for.
    func pump(now: Duration)
}

extension AttackedPort {
    fileprivate func bystander(token: String, from address: String) throws -> any Bystander {
        guard let fingerprint else {
            return try SecuredBystander(
                token: token, from: address, port: number, security: Plaintext(key: .random()))
        }
        return try SecuredBystander(
            token: token, from: address, port: number, security: try DTLSSecurity(trusting: .fingerprint(fingerprint)))
    }
}

private final class SecuredBystander<Security: PeerSecurity & ~Copyable>: Bystander {
    /// One way to the server and one back.
    private static var travel: Duration { .milliseconds(50) }

    private let address: String
    private let port: UInt16
    private var socket: LoopbackSocket
    private var guest: RoomGuest<Security>
    private var hasBegun = false
    private var buffer = [UInt8](repeating: 0, count: 1_500)
    /// Datagrams on their way, with the time at which they arrive.
    private var arriving: [(Duration, [UInt8])] = []
    private var departing: [(Duration, [UInt8])] = []
    private(set) var hasJoined = false
    private(set) var wasPutOut = false

    init(token: String, from address: String, port: UInt16, security: consuming Security) throws {
        (self.address, self.port) = (address, port)
        socket = try LoopbackSocket(from: address, to: port)
        guest = RoomGuest(
            session: try RoomSession(token: Array(token.utf8)), server: .loopback(port: port),
            security: security, cookieKey: .random())
    }

    func pump(now: Duration) {
        if !hasBegun {
            hasBegun = true
            try? guest.session.join(now: now)
        }
        for datagram in socket.receive() { arriving.append((now + Self.travel, datagram)) }
        let due = arriving.prefix { $0.0 <= now }
        for (_, datagram) in due {
            var datagram = datagram
            var bytes = datagram.mutableSpan
            _ = guest.receive(&bytes, now: now)
        }
        arriving.removeFirst(due.count)
        guest.handleTimeout(now: now)
        while let event = guest.session.pollEvent() { take(event) }
        depart(now: now)
        if guest.wantsSocket {
            // What is on its way through the former socket is lost with it.
            if guest.session.path > 1, let fresh = try? LoopbackSocket(from: address, to: port) { socket = fresh }
            guest.connect(now: now)
            depart(now: now)
        }
        let ready = departing.prefix { $0.0 <= now }
        for (_, datagram) in ready { socket.send([datagram]) }
        departing.removeFirst(ready.count)
    }

    private func depart(now: Duration) {
        while true {
            var span = buffer.mutableSpan
            guard let count = guest.pollTransmit(into: &span, now: now) else { return }
            departing.append((now + Self.travel, Array(buffer[..<count])))
        }
    }

    private func take(_ event: RoomSessionEvent) {
        switch event {
        case .joined(let grant, _):
            hasJoined = true
            if let own = grant.streams.first { try? guest.session.ask(.publish(own)) }
        case .reconnecting, .ended: wasPutOut = true
        default: break
        }
    }
}
