import VoicePeers
import VoiceRealtime
import VoiceRooms
import VoiceTransport

/// A member of a room on a socket of its own, whatever protects its path. Driven from one thread.
protocol RoomMember: AnyObject {
    /// Whether it is in the room, with its stream published.
    var isPresent: Bool { get }
    /// Media packets of others that have come, protection taken off.
    var packetsHeard: Int { get }
    /// Allocations made so far for the media of this member.
    var mediaAllocations: Int64 { get }
    /// Takes what has come, at most a batch, and says what the protocol asks for.
    func pump()
    /// Says the next packet of its stream. False while it is not in the room.
    func say() -> Bool
    /// Waits until one more packet is heard; false where none comes.
    func hearOne(withinMilliseconds patience: Int32) -> Bool
}

/// A member behind a table of peers of its own, as a client's network thread has it.
final class LoopbackMember<Security: PeerSecurity & ~Copyable>: RoomMember {
    private let socket: LoopbackSocket
    private var guest: RoomGuest<Security>
    private var packet: VoicePacket?
    private var buffer = [UInt8](repeating: 0, count: 1_500)
    private(set) var packetsHeard = 0
    private(set) var mediaAllocations: Int64 = 0

    init(token: String, port: UInt16, security: consuming Security) throws {
        socket = try LoopbackSocket(to: port)
        var session = try RoomSession(token: Array(token.utf8), publishing: .publisher)
        try session.join(now: MonotonicTime.now().sinceEpoch)
        guest = RoomGuest(
            session: session, server: .loopback(port: port), security: security, cookieKey: .random())
    }

    var isPresent: Bool { guest.session.state == .joined && guest.session.path == 1 }

    func pump() {
        let now = MonotonicTime.now().sinceEpoch
        hear(now: now)
        guest.handleTimeout(now: now)
        while guest.session.pollEvent() != nil {}
        transmit(now: now)
        // A second path would mean that the first was lost, which `isPresent` tells.
        if guest.wantsSocket, guest.session.path == 1 {
            guest.connect(now: now)
            transmit(now: now)
        }
    }

    private func hear(now: Duration) {
        for datagram in socket.receive() {
            var datagram = datagram
            // What makes the copy that may be changed is this program's own.
            var bytes = datagram.mutableSpan
            let before = RealtimeWatch.allocations ?? 0
            guard case .media = guest.receive(&bytes, now: now) else { continue }
            packetsHeard += 1
            mediaAllocations += (RealtimeWatch.allocations ?? 0) - before
        }
    }

    private func transmit(now: Duration) {
        while true {
            var span = buffer.mutableSpan
            guard let count = guest.pollTransmit(into: &span, now: now) else { return }
            socket.send([Array(buffer[..<count])])
        }
    }

    func say() -> Bool {
        if packet == nil {
            packet = guest.session.grant?.streams.first.map { VoicePacket(of: $0.synchronizationSource) }
        }
        guard packet?.writeNext(to: &buffer) != nil else { return false }
        var span = buffer.mutableSpan
        let before = RealtimeWatch.allocations ?? 0
        guard let count = guest.protect(&span, count: VoicePacket.length, .sound) else { return false }
        mediaAllocations += (RealtimeWatch.allocations ?? 0) - before
        return socket.send([Array(buffer[..<count])]) == 1
    }

    func hearOne(withinMilliseconds patience: Int32) -> Bool {
        let before = packetsHeard
        while packetsHeard == before {
            guard socket.wait(milliseconds: patience) else { return false }
            pump()
        }
        return true
    }
}

/// The packets of one talker: a header with an audio level, and Opus at 40 kbit/s in packets of 20 ms.
struct VoicePacket {
    static let length = 20 + SRTPBenchmark.payloadLength
    private let source: UInt32
    private var number: UInt16 = 0

    init(of source: UInt32) { self.source = source }

    /// Writes the next one to the front of a buffer.
    mutating func writeNext(to buffer: inout [UInt8]) {
        number &+= 1
        let timestamp = UInt32(number) &* 960
        buffer[0] = 0x90
        buffer[1] = RoomProtocol.payloadType
        (buffer[2], buffer[3]) = (UInt8(number >> 8), UInt8(truncatingIfNeeded: number))
        for place in 0..<4 {
            buffer[4 + place] = UInt8(truncatingIfNeeded: timestamp >> (24 - 8 * place))
            buffer[8 + place] = UInt8(truncatingIfNeeded: source >> (24 - 8 * place))
        }
        let levels: InlineArray<8, UInt8> = [0xBE, 0xDE, 0, 1, 0x10, 0x80 | 30, 0, 0]
        for place in levels.indices { buffer[12 + place] = levels[place] }
        for place in 0..<SRTPBenchmark.payloadLength { buffer[20 + place] = UInt8(truncatingIfNeeded: place &* 31) }
    }
}
