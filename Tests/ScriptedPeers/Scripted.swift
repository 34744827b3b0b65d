package import VoicePeers

/// A security in simulated time, with the flights, the sizes and the timers of our DTLS 1.2, and a toy in the place of
/// its cryptography.
///
///     client ── hello 180 ──────────────────────────► server
///            ◄─ question for the cookie 44 ──────────          nothing is kept
///            ── hello with the cookie 196 ───────────►         a peer
///            ◄─ hello, certificate, key, done 745 ───
///            ── key, finished 133 ───────────────────►         open
///     open   ◄─ finished 75 ─────────────────────────
///
/// As OpenSSL: each end repeats its last flight by its own timer, 200 ms at first, twice as long each time up to 1 s,
/// anew with each flight that has come; a copy of an earlier flight is not answered, but for the last of the client's,
/// which the open server answers again; twelve repetitions are enough. Each flight is one datagram. Keys come of both
/// ends' numbers; what is protected has a tag that is checked. Copies of media pass, unlike SRTP's.
package struct Scripted: PeerSecurity {
    /// As those of DTLS.
    package static let recordBytes: ClosedRange<UInt8> = 20...63
    /// As that of AEAD_AES_128_GCM.
    package static let mediaOverhead = 16

    /// Bytes of a datagram of each flight, as bench/RESULTS.md counts them.
    private enum Size {
        static let hello = 180
        static let question = 44
        static let helloWithCookie = 196
        static let serverFlight = 745
        static let clientFinished = 133
        static let serverFinished = 75
        /// What a protected record has besides its content.
        static let record = 37
    }

    private enum Flight: UInt8 {
        case hello = 1, question, helloWithCookie, server, clientFinished, serverFinished, data, goodbye
    }

    private static let firstTimeout: Duration = .milliseconds(200)
    private static let longestTimeout: Duration = .seconds(1)
    private static let repetitionLimit = 12
    private static let tagOffset = 10

    private struct Path: Sendable {
        var role = PeerRole.server
        var state = PeerSecurityState.closed(.here)
        /// The client's number, and the server's.
        var nonce: UInt64 = 0
        var answer: UInt64 = 0
        var cookie: [UInt8] = []
        /// What is repeated until it is answered.
        var flight: [UInt8] = []
        var timeout = Scripted.firstTimeout
        var repeatsAt: Duration?
        var repetitions = 0
        var sent: UInt64 = 0
        var mediaCount = 0
        /// The highest number that came, and which of the 64 up to it did.
        var highest: UInt64 = 0
        var window: UInt64 = 0
        var records: [[UInt8]] = []
        var controls: [[UInt8]] = []
    }

    /// Media packets that a path protects; its keys are used up then.
    package var mediaLimit = Int.max

    private let key: UInt64
    private var numbers: UInt64 = 0
    private var paths: [Path] = []

    /// - Parameter seed: differs from end to end.
    package init(seed: UInt64) { key = Toy.hash([seed, 0x5EED]) }

    // MARK: Strangers

    package func greet(_ record: Span<UInt8>, cookie: AddressCookie, answer: inout MutableSpan<UInt8>) -> Greeting {
        switch Self.flight(of: record) {
        case .helloWithCookie where record.count == Size.helloWithCookie:
            if cookie.accepts(record.extracting(10..<26)) { return .admitted }
        case .hello where record.count == Size.hello: break
        default: return .unknown
        }
        for index in 0..<Size.question { answer[index] = index < 10 ? record[index] : 0 }
        answer[1] = Flight.question.rawValue
        let bytes = cookie.bytes
        for index in bytes.indices { answer[10 + index] = bytes[index] }
        return .answered(count: Size.question)
    }

    // MARK: Handshakes

    package mutating func begin(_ slot: Int, as role: PeerRole, now: Duration) {
        while paths.count <= slot { paths.append(Path()) }
        numbers += 1
        paths[slot] = Path(role: role, state: .opening)
        guard role == .client else { return }
        paths[slot].nonce = Toy.hash([key, numbers])
        start(Self.record(.hello, paths[slot].nonce, size: Size.hello), at: slot, now: now)
    }

    /// Sends a flight, and repeats it until the next one comes.
    private mutating func start(_ flight: [UInt8], at slot: Int, now: Duration) {
        paths[slot].flight = flight
        paths[slot].timeout = Self.firstTimeout
        paths[slot].repetitions = 0
        paths[slot].repeatsAt = now + Self.firstTimeout
        paths[slot].records.append(flight)
    }

    private mutating func open(_ slot: Int) {
        paths[slot].state = .open
        paths[slot].repeatsAt = nil
    }

    package mutating func receive(_ record: Span<UInt8>, at slot: Int, now: Duration) -> Bool {
        guard let flight = Self.flight(of: record) else { return false }
        let path = paths[slot]
        switch (flight, path.role, path.state) {
        case (.helloWithCookie, .server, .opening) where path.flight.isEmpty:
            numbers += 1
            paths[slot].nonce = Toy.number(record, at: 2)
            paths[slot].answer = Toy.hash([key, numbers])
            var server = Self.record(.server, paths[slot].nonce, size: Size.serverFlight)
            Toy.put(paths[slot].answer, into: &server, at: 10)
            start(server, at: slot, now: now)
            return true
        // A copy of the hello that began it; another one is for somebody else to judge, as in DTLSPeer.
        case (.helloWithCookie, .server, _): return Toy.number(record, at: 2) == path.nonce
        case (_, _, .opening) where Toy.number(record, at: 2) != path.nonce, (.helloWithCookie, _, _): return false
        case (.question, .client, .opening) where path.cookie.isEmpty:
            paths[slot].cookie = (10..<26).map { record[$0] }
            var hello = Self.record(.helloWithCookie, path.nonce, size: Size.helloWithCookie)
            hello.replaceSubrange(10..<26, with: paths[slot].cookie)
            start(hello, at: slot, now: now)
        case (.server, .client, .opening) where path.answer == 0:
            paths[slot].answer = Toy.number(record, at: 10)
            var finished = Self.record(.clientFinished, path.nonce, size: Size.clientFinished)
            Toy.put(Toy.hash([keys(slot), 1]), into: &finished, at: 10)
            start(finished, at: slot, now: now)
        case (.clientFinished, .server, .opening), (.clientFinished, .server, .open):
            guard Toy.number(record, at: 2) == path.nonce, Toy.number(record, at: 10) == Toy.hash([keys(slot), 1])
            else { return false }
            var finished = Self.record(.serverFinished, path.nonce, size: Size.serverFinished)
            Toy.put(Toy.hash([keys(slot), 2]), into: &finished, at: 10)
            paths[slot].records.append(finished)
            open(slot)
        case (.serverFinished, .client, .opening):
            guard path.answer != 0, Toy.number(record, at: 10) == Toy.hash([keys(slot), 2]) else { return false }
            open(slot)
        case (.data, _, .open), (.goodbye, _, .open): return takeProtected(record, flight, at: slot)
        default: return path.state == .opening
        }
        return true
    }

    package func state(at slot: Int) -> PeerSecurityState { paths[slot].state }
    package func nextTimeout(at slot: Int) -> Duration? { paths[slot].repeatsAt }

    package mutating func handleTimeout(at slot: Int, now: Duration) {
        guard let due = paths[slot].repeatsAt, now >= due else { return }
        paths[slot].repetitions += 1
        guard paths[slot].repetitions <= Self.repetitionLimit else {
            paths[slot].repeatsAt = nil
            paths[slot].state = .closed(.handshakeFailed)
            return
        }
        paths[slot].timeout = min(paths[slot].timeout * 2, Self.longestTimeout)
        paths[slot].repeatsAt = now + paths[slot].timeout
        paths[slot].records.append(paths[slot].flight)
    }

    package mutating func close(_ slot: Int) {
        if paths[slot].state == .open { paths[slot].records.append(protected(.goodbye, [], at: slot)) }
        paths[slot].state = .closed(.here)
        paths[slot].repeatsAt = nil
    }

    package mutating func end(_ slot: Int) { paths[slot] = Path() }

    // MARK: Control

    package mutating func send(control: Span<UInt8>, at slot: Int) -> Bool {
        guard paths[slot].state == .open else { return false }
        paths[slot].records.append(protected(.data, control.indices.map { control[$0] }, at: slot))
        return true
    }

    private mutating func protected(_ flight: Flight, _ content: [UInt8], at slot: Int) -> [UInt8] {
        paths[slot].sent += 1
        var record = Self.record(flight, paths[slot].sent, size: Size.record) + content
        let tag = tag(of: record.span, from: paths[slot].role, at: slot)
        Toy.put(tag, into: &record, at: Self.tagOffset)
        return record
    }

    private mutating func takeProtected(_ record: Span<UInt8>, _ flight: Flight, at slot: Int) -> Bool {
        guard record.count >= Size.record else { return false }
        let sender: PeerRole = paths[slot].role == .client ? .server : .client
        guard Toy.number(record, at: Self.tagOffset) == tag(of: record, from: sender, at: slot) else { return false }
        let number = Toy.number(record, at: 2)
        if number > paths[slot].highest {
            let step = number - paths[slot].highest
            paths[slot].window = (step < 64 ? paths[slot].window << step : 0) | 1
            paths[slot].highest = number
        } else {
            let age = paths[slot].highest - number
            guard age < 64, paths[slot].window & 1 << age == 0 else { return false }
            paths[slot].window |= 1 << age
        }
        if flight == .goodbye {
            paths[slot].state = .closed(.byPeer)
        } else {
            paths[slot].controls.append((Size.record..<record.count).map { record[$0] })
        }
        return true
    }

    package mutating func pollControl(at slot: Int, into buffer: inout MutableSpan<UInt8>) -> Int? {
        paths[slot].controls.isEmpty ? nil : Toy.copy(paths[slot].controls.removeFirst(), into: &buffer)
    }

    package mutating func pollRecord(at slot: Int, into buffer: inout MutableSpan<UInt8>) -> Int? {
        paths[slot].records.isEmpty ? nil : Toy.copy(paths[slot].records.removeFirst(), into: &buffer)
    }

    // MARK: Media

    package mutating func protect(
        _ packet: inout MutableSpan<UInt8>, count: Int, _ kind: MediaKind, at slot: Int
    ) -> Int? {
        guard paths[slot].state == .open, packet.count >= count + Self.mediaOverhead else { return nil }
        guard paths[slot].mediaCount < mediaLimit else {
            close(slot)
            paths[slot].state = .closed(.keysUsedUp)
            return nil
        }
        paths[slot].mediaCount += 1
        let tag = Toy.hash(packet.span.extracting(..<count), key: mediaKey(of: paths[slot].role, at: slot))
        for index in 0..<Self.mediaOverhead {
            packet[count + index] = UInt8(truncatingIfNeeded: tag >> UInt64(index % 8 * 8))
        }
        return count + Self.mediaOverhead
    }

    package mutating func unprotect(
        _ packet: inout MutableSpan<UInt8>, count: Int, _ kind: MediaKind, at slot: Int
    ) -> Int? {
        let length = count - Self.mediaOverhead
        guard paths[slot].state == .open, length > 0 else { return nil }
        let sender: PeerRole = paths[slot].role == .client ? .server : .client
        let tag = Toy.hash(packet.span.extracting(..<length), key: mediaKey(of: sender, at: slot))
        for index in 0..<Self.mediaOverhead {
            guard packet[length + index] == UInt8(truncatingIfNeeded: tag >> UInt64(index % 8 * 8)) else { return nil }
        }
        return length
    }

    // MARK: The toy

    private func keys(_ slot: Int) -> UInt64 { Toy.hash([paths[slot].nonce, paths[slot].answer]) }

    private func mediaKey(of sender: PeerRole, at slot: Int) -> UInt64 {
        Toy.hash([keys(slot), sender == .client ? 3 : 4])
    }

    private func tag(of record: Span<UInt8>, from sender: PeerRole, at slot: Int) -> UInt64 {
        let key = Toy.hash([keys(slot), sender == .client ? 5 : 6])
        return Toy.hash(record.extracting((Self.tagOffset + 8)...), key: Toy.hash([key, Toy.number(record, at: 2)]))
    }

    private static func flight(of record: Span<UInt8>) -> Flight? {
        record.count >= 18 ? Flight(rawValue: record[1]) : nil
    }

    private static func record(_ flight: Flight, _ number: UInt64, size: Int) -> [UInt8] {
        var record = [UInt8](repeating: 0, count: size)
        record[0] = 22
        record[1] = flight.rawValue
        Toy.put(number, into: &record, at: 2)
        return record
    }

    package func hmacSHA1(key: Span<UInt8>, _ first: Span<UInt8>, _ second: Span<UInt8>) -> InlineArray<20, UInt8>? {
        let sum = Toy.hash(second, key: Toy.hash(first, key: Toy.hash(key, key: 0)))
        return InlineArray { UInt8(truncatingIfNeeded: sum >> UInt64($0 % 8 * 8)) }
    }
}

/// A sum in the place of a hash (FNV-1a), and numbers in bytes.
private enum Toy {
    static func hash(_ bytes: Span<UInt8>, key: UInt64) -> UInt64 {
        var sum = 0xCBF2_9CE4_8422_2325 ^ key
        for index in bytes.indices { sum = (sum ^ UInt64(bytes[index])) &* 0x100_0000_01B3 }
        return sum ^ sum >> 32
    }

    static func hash(_ words: [UInt64]) -> UInt64 {
        var bytes = [UInt8](repeating: 0, count: words.count * 8)
        for (index, word) in words.enumerated() { put(word, into: &bytes, at: index * 8) }
        return hash(bytes.span, key: 0)
    }

    static func number(_ bytes: Span<UInt8>, at offset: Int) -> UInt64 {
        (offset..<offset + 8).reduce(0) { $0 << 8 | UInt64(bytes[$1]) }
    }

    static func put(_ number: UInt64, into bytes: inout [UInt8], at offset: Int) {
        for index in 0..<8 { bytes[offset + index] = UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * index)) }
    }

    static func copy(_ bytes: [UInt8], into buffer: inout MutableSpan<UInt8>) -> Int? {
        guard bytes.count <= buffer.count else { return nil }
        for index in bytes.indices { buffer[index] = bytes[index] }
        return bytes.count
    }
}
