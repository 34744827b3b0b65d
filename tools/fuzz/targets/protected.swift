// modules: CLinuxRealtime CDTLS VoiceRealtime VoiceQueue VoiceWire VoicePeers VoiceRooms VoiceTransport
// length: 64
//
// What somebody on the path makes of a recorded session: control, sound, reports and binding requests over DTLS-SRTP by
// both profiles, to a server's table of peers and to a client's, each of which has taken half of what was sent. Records
// are changed, cut, prolonged, put together anew, repeated and sent from elsewhere. Nothing may trap, nothing is taken
// but what was sent and has not come, no answer is longer than its question, nobody moves, and no path ends.

import VoicePeers

@testable import VoiceTransport

/// One datagram that is no good, without what OpenSSL does with it.
private let refusing = Budget("a forged datagram", limit: 5_000)

/// libFuzzer's entry: one input, always answered 0; a precondition that fails is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes = unsafe bytes else { return 0 }
    story.go(on: unsafe Span(_unsafeStart: bytes, count: count)) { session, choices in session.step(&choices) }
    return 0
}

private let story = Story { Session() }

/// Each change, to something of each kind, in both directions.
func makeSeeds() -> [[UInt8]] {
    var seeds: [[UInt8]] = []
    for change in 0..<UInt8(8) {
        for place in stride(from: UInt8(0), to: 240, by: 7) { seeds.append([place, change, 3, 1, 5, 0x80]) }
    }
    return seeds
}

/// Two tables with an open path between them, and all that went over it.
private final class Session {
    private struct Sent {
        var bytes: [UInt8]
        var isForServer: Bool
        var hasCome: Bool
    }

    private static let identity: ServerIdentity = {
        guard let text = try? SelfSignedCertificate(names: ["localhost"]).text,
            let identity = try? ServerIdentity(certificates: text, key: text, place: ("fuzz", "fuzz"))
        else { fatalError("no identity") }
        return identity
    }()
    private static let here = EndpointAddress(high: 0, low: 0xFFFF_7F00_0001, port: 1_000)
    private static let elsewhere = EndpointAddress(high: 0, low: 0xFFFF_7F00_0002, port: 1_001)
    private static let server = EndpointAddress(high: 0, low: 0xFFFF_7F00_0001, port: 2_000)

    private var server: PeerTable<DTLSSecurity>
    private var client: PeerTable<DTLSSecurity>
    private var sent: [Sent] = []
    private var (clientPeer, serverPeer): (PeerID?, PeerID?)
    private var now = Duration.seconds(1)

    init() {
        guard let trusting = try? DTLSSecurity(trusting: .fingerprint(Self.identity.fingerprint)) else {
            fatalError("no security")
        }
        let key = CookieKey(high: 1, low: 2)
        server = PeerTable(
            security: DTLSSecurity(serving: Self.identity), cookieKey: key, capacity: 8, takesStrangers: true)
        client = PeerTable(security: trusting, cookieKey: key, capacity: 8, takesStrangers: false)
        clientPeer = client.connect(to: Self.server, now: now)
        for _ in 0..<10 { exchange() }
        guard let clientPeer, let serverPeer, client.isOpen(clientPeer), server.isOpen(serverPeer),
            let credentials = server.credentials(of: serverPeer),
            client.follow(clientPeer, credentials, now: now)
        else { fatalError("the path does not open") }
        for number in 0..<UInt8(40) { talk(number) }
    }

    // MARK: What is genuine

    /// Carries what both have to say.
    private func exchange() {
        for record in records(of: &client) { carry(record, toServer: true) }
        for record in records(of: &server) { carry(record, toServer: false) }
    }

    private func records(of table: inout PeerTable<DTLSSecurity>) -> [[UInt8]] {
        var all: [[UInt8]] = []
        var bytes = [UInt8](repeating: 0, count: 1_500)
        var span = bytes.mutableSpan
        while let (count, _) = table.pollTransmit(into: &span) { all.append((0..<count).map { span[$0] }) }
        return all
    }

    private func carry(_ datagram: [UInt8], toServer: Bool) {
        // A handshake in the clear that brings a good cookie is taken for another that begins, as it must be; the
        // target `hello` and DTLSForgeryTests have it.
        if datagram[0] != 22 || datagram[4] != 0 {
            sent.append(Sent(bytes: datagram, isForServer: toServer, hasCome: true))
        }
        _ = receive(datagram, toServer: toServer, from: Self.here)
    }

    /// One of everything, of which every other arrives.
    private func talk(_ number: UInt8) {
        guard let clientPeer, let serverPeer else { return }
        let control = [UInt8](repeating: number, count: 20 + Int(number))
        precondition(client.send(control: control.span, to: clientPeer))
        precondition(server.send(control: control.span, to: serverPeer))
        now += .milliseconds(200)
        client.handleTimeout(now: now)
        let said =
            records(of: &client).map { Sent(bytes: $0, isForServer: true, hasCome: false) }
            + records(of: &server).map { Sent(bytes: $0, isForServer: false, hasCome: false) }
            + [MediaKind.sound, .report].flatMap { kind in
                [
                    protected(kind, number, by: &client, for: clientPeer, isForServer: true),
                    protected(kind, number, by: &server, for: serverPeer, isForServer: false),
                ]
            }
        for var one in said {
            one.hasCome = number & 1 == 0
            if one.hasCome {
                precondition(
                    receive(one.bytes, toServer: one.isForServer, from: Self.here), "what is genuine is refused")
            }
            sent.append(one)
        }
    }

    private func protected(
        _ kind: MediaKind, _ number: UInt8, by table: inout PeerTable<DTLSSecurity>, for peer: PeerID, isForServer: Bool
    ) -> Sent {
        let source: [UInt8] = [1, 2, 3, 4]
        // Sound as it is sent: with level and generation, every other pair of packets also with a place in an
        // utterance.
        let extensions: [UInt8] =
            number & 2 == 0
            ? [0xBE, 0xDE, 0, 1, 0x10, 0x85, 0x20, number]
            : [0xBE, 0xDE, 0, 3, 0x10, 0x85, 0x28, number, 0, 0, 0, 1, 0, 0, 3, 0xC0]
        let clear: [UInt8] =
            kind == .sound
            ? [0x90, 111, 0, number, 0, 0, 0, number] + source + extensions + [1, 2, 3] : [0x80, 201, 0, 1] + source
        var bytes = clear + [UInt8](repeating: 0, count: DTLSSecurity.mediaOverhead)
        var span = bytes.mutableSpan
        guard let (count, _) = table.protect(&span, count: clear.count, kind, for: peer) else {
            fatalError("nothing is protected")
        }
        return Sent(bytes: Array(bytes[..<count]), isForServer: isForServer, hasCome: false)
    }

    /// Gives a datagram to one side; whether anything of it was taken.
    private func receive(_ datagram: [UInt8], toServer: Bool, from source: EndpointAddress) -> Bool {
        var bytes = datagram
        var span = bytes.mutableSpan
        let received =
            toServer
            ? server.receive(&span, from: source, now: now)
            : client.receive(&span, from: Self.server, now: now)
        switch received {
        case .dropped: break
        case .answer(let count):
            precondition(count <= datagram.count, "an answer that is longer than its question")
            // A binding request is taken by who answers it; a stranger's record or notice is not.
            if (bytes.first ?? 0xFF) < 4 { return true }
            let answer = Array(bytes[..<count])
            if toServer, serverPeer == nil { _ = receive(answer, toServer: false, from: Self.server) }
        default:
            if case .control(let peer) = received { takeControl(of: peer, toServer: toServer) }
            takeEvents()
            return true
        }
        takeEvents()
        return false
    }

    private func takeControl(of peer: PeerID, toServer: Bool) {
        var bytes = [UInt8](repeating: 0, count: 1_500)
        var span = bytes.mutableSpan
        if toServer {
            while server.pollControl(of: peer, into: &span) != nil {}
        } else {
            while client.pollControl(of: peer, into: &span) != nil {}
        }
    }

    private func takeEvents() {
        while let event = server.pollEvent() {
            switch event {
            case .opened(let peer):
                precondition(serverPeer == nil, "a second path")
                serverPeer = peer
                server.accept(peer, now: now)
            case .spoke: break
            case .moved, .doubted, .confirmed, .closed: preconditionFailure("the server's side: \(event)")
            }
        }
        while let event = client.pollEvent() {
            switch event {
            case .opened, .spoke, .doubted, .confirmed: break
            case .moved, .closed: preconditionFailure("the client's side: \(event)")
            }
        }
    }

    // MARK: What is not

    /// One datagram, as somebody on the path has made it.
    func step(_ choices: inout Choices) {
        let place = (Int(choices.byte()) << 1 | Int(choices.byte() >> 7)) % sent.count
        let original = sent[place]
        var bytes = original.bytes
        var source = Self.here
        var toServer = original.isForServer
        switch choices.number(below: 8) {
        case 0:
            for _ in 0...choices.number(below: 4) { bytes[position(&choices, bytes)] ^= max(1, choices.byte()) }
        case 1: bytes.removeLast(1 + position(&choices, bytes))
        case 2: bytes += choices.bytes(1 + choices.number(below: 40))
        case 3:
            let other = sent[choices.number(below: sent.count)].bytes
            let head = min(choices.number(below: 64), bytes.count)
            bytes = Array(bytes.prefix(head) + other.dropFirst(head))
        case 4: toServer.toggle()
        // A client looks at what comes from its server alone.
        case 5 where toServer: source = Self.elsewhere
        case 6: bytes = [bytes[0]] + choices.bytes(choices.number(below: 64))
        // As it was.
        default: break
        }
        forge(bytes, toServer: toServer, from: source)
    }

    private func position(_ choices: inout Choices, _ bytes: [UInt8]) -> Int {
        (Int(choices.byte()) << 8 | Int(choices.byte())) % bytes.count
    }

    /// Whether it is that datagram, as far as that is signed: of a binding request neither the length nor the checksum
    /// at the end is (RFC 8489 section 14.5).
    private func isSame(_ bytes: [UInt8], as original: [UInt8]) -> Bool {
        guard (bytes.first ?? 0xFF) < 4, original.count > 28, bytes.count >= original.count - 8 else {
            return bytes.starts(with: original)
        }
        return bytes[..<2] == original[..<2] && bytes.dropFirst(4).starts(with: original.dropFirst(4).dropLast(8))
    }

    private func forge(_ bytes: [UInt8], toServer: Bool, from source: EndpointAddress) {
        // What was sent and has not come may come, also with something behind it that is no record. A binding request
        // is answered as often as it comes from its path's address, and from elsewhere where its number is new.
        let isGenuine = sent.contains {
            $0.isForServer == toServer && isSame(bytes, as: $0.bytes)
                && ((bytes.first ?? 0xFF) < 4 ? source == Self.here || !$0.hasCome : source == Self.here && !$0.hasCome)
        }
        guard !isGenuine else { return }
        refusing.spend {
            precondition(!receive(bytes, toServer: toServer, from: source), "taken, and never sent: \(bytes)")
        }
        guard let clientPeer, let serverPeer else { fatalError("no path") }
        precondition(client.isOpen(clientPeer) && server.isOpen(serverPeer), "a path has ended")
        precondition(server.address(of: serverPeer) == Self.here, "a path has moved")
        precondition(server.count == 1, "a stranger is kept")
    }
}
