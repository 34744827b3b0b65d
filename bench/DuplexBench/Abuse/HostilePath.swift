import VoicePeers
import VoiceRooms
import VoiceTransport

/// A path to the server that is opened as the protocol has it; then anything is said through it.
protocol HostilePath: AnyObject {
    /// Whether control and media pass.
    var isOpen: Bool { get }
    /// Begins a conversation in the place of the one before.
    func connect(now: Duration)
    /// Says goodbye.
    func close()
    /// Takes what has arrived: the control datagrams in it.
    func receive(_ datagram: [UInt8], now: Duration) -> [[UInt8]]
    /// Repeats what may have been lost. Whether the conversation is over, or somebody at the server's address says so.
    func hasEnded(now: Duration) -> Bool
    /// A control datagram as a record of this path; nil while it is not open.
    func record(of control: [UInt8]) -> [UInt8]?
    /// A media packet as it goes through this path; nil while it is not open.
    func protect(_ packet: [UInt8], _ kind: MediaKind) -> [UInt8]?
    /// What the path itself has to say.
    func takeRecords() -> [[UInt8]]
}

/// A server's port, and its certificate where it protects what is said.
struct AttackedPort: Sendable {
    let number: UInt16
    let fingerprint: CertificateFingerprint?

    /// What calls call.
    var url: String {
        fingerprint.map { "duplex://127.0.0.1:\(number)/?fingerprint=\($0)" } ?? "udp://127.0.0.1:\(number)"
    }

    /// A path to it.
    func path() throws -> any HostilePath {
        guard let fingerprint else {
            return SecuredHostilePath(security: Plaintext(key: .random()), port: number)
        }
        return SecuredHostilePath(security: try DTLSSecurity(trusting: .fingerprint(fingerprint)), port: number)
    }
}

private final class SecuredHostilePath<Security: PeerSecurity & ~Copyable>: HostilePath {
    private var peers: PeerTable<Security>
    private var peer: PeerID?
    private let server: EndpointAddress
    private var buffer = [UInt8](repeating: 0, count: 1_500)
    private var unsent: [[UInt8]] = []

    init(security: consuming Security, port: UInt16) {
        server = .loopback(port: port)
        peers = PeerTable(security: security, cookieKey: .random(), capacity: 8, takesStrangers: false)
    }

    var isOpen: Bool { peer.map { peers.isOpen($0) } ?? false }

    func connect(now: Duration) {
        close()
        peer = peers.connect(to: server, now: now)
    }

    func close() {
        if let peer { peers.close(peer) }
        peer = nil
    }

    func receive(_ datagram: [UInt8], now: Duration) -> [[UInt8]] {
        var datagram = datagram
        var bytes = datagram.mutableSpan
        guard case .control(let sender) = peers.receive(&bytes, from: server, now: now) else { return [] }
        var controls: [[UInt8]] = []
        var span = buffer.mutableSpan
        while let count = peers.pollControl(of: sender, into: &span) {
            controls.append((0..<count).map { span[$0] })
        }
        return sender == peer ? controls : []
    }

    func hasEnded(now: Duration) -> Bool {
        peers.handleTimeout(now: now)
        var hasEnded = false
        while let event = peers.pollEvent() {
            switch event {
            case .closed(let closed, _) where closed == peer: hasEnded = true
            case .doubted(let doubted) where doubted == peer: hasEnded = true
            default: break
            }
        }
        return hasEnded
    }

    func record(of control: [UInt8]) -> [UInt8]? {
        guard let peer, peers.send(control: control.span, to: peer) else { return nil }
        // What else there was to say waits for `takeRecords`.
        var last: [UInt8]?
        while let record = pollTransmit() {
            if let last { unsent.append(last) }
            last = record
        }
        return last
    }

    func protect(_ packet: [UInt8], _ kind: MediaKind) -> [UInt8]? {
        guard let peer else { return nil }
        for index in packet.indices { buffer[index] = packet[index] }
        var span = buffer.mutableSpan
        guard let (count, _) = peers.protect(&span, count: packet.count, kind, for: peer) else { return nil }
        return Array(buffer[..<count])
    }

    func takeRecords() -> [[UInt8]] {
        while let record = pollTransmit() { unsent.append(record) }
        defer { unsent = [] }
        return unsent
    }

    private func pollTransmit() -> [UInt8]? {
        var span = buffer.mutableSpan
        guard let (count, _) = peers.pollTransmit(into: &span) else { return nil }
        return Array(buffer[..<count])
    }
}

extension EndpointAddress {
    /// A port of 127.0.0.1, mapped into IPv6.
    static func loopback(port: UInt16) -> EndpointAddress {
        EndpointAddress(high: 0, low: 0xFFFF_7F00_0001, port: port)
    }
}

extension CookieKey {
    /// A key from the system's random source.
    static func random() -> CookieKey {
        CookieKey(high: .random(in: 0...UInt64.max), low: .random(in: 0...UInt64.max))
    }
}
