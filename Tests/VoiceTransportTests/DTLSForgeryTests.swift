import TestCases
import Testing
import VoicePeers

@testable import VoiceTransport

/// What somebody on the path can do to records: nothing is accepted that was not sent, and nothing traps.
@Suite("Forged DTLS records")
struct DTLSForgeryTests {
    private let identity = TestIdentity.localhost.identity

    /// All of what one handshake sends, and its two ends, open.
    private func session() throws -> (client: DTLSEnd, server: DTLSEnd, records: [[UInt8]]) {
        let server = DTLSEnd.server(identity)
        let client = try DTLSEnd.client(.fingerprint(identity.fingerprint))
        var records: [[UInt8]] = []
        exchange(client, server) { records.append($0) }
        try #require(client.state == .open && server.state == .open)
        return (client, server, records)
    }

    @Test("an open path takes each record once, as it was sent, and nothing else", arguments: cases(0..<16))
    func open(seed: Int) throws {
        // Given
        var (client, server, sent) = try session()
        var numbers = SeededNumbers(seed: UInt64(seed))
        for number in 0..<40 {
            for end in [client, server] {
                #expect(end.send([UInt8](repeating: UInt8(number), count: 1 + numbers.below(1200))))
            }
            sent += client.records() + server.records()
        }
        // When
        for _ in 0..<2500 {
            let record = numbers.mutated(sent[numbers.below(sent.count)], among: sent)
            let genuine = sent.contains { record.starts(with: $0) }
            for end in [client, server] {
                end.receive(record)
                // Then
                let controls = end.controls()
                if !genuine { #expect(controls.isEmpty, "seed \(seed)") }
            }
        }
        #expect(client.state == .open && server.state == .open, "seed \(seed)")
        // And what has come once does not come again
        for record in sent { server.receive(record) }
        _ = server.controls()
        for record in sent {
            server.receive(record)
            #expect(server.controls().isEmpty)
        }
        // And the path goes on
        _ = (client.records(), server.records())
        #expect(client.send([1, 2, 3]))
        for record in client.records() { server.receive(record) }
        #expect(server.controls() == [[1, 2, 3]])
    }

    @Test("no record in the right form ends an open path, however short it is, alone or inside another")
    func short() throws {
        let (client, server, _) = try session()
        for content in 20...23 as ClosedRange<UInt8> {
            for epoch in 0...2 as ClosedRange<UInt8> {
                for count in 0...40 as ClosedRange<UInt8> {
                    for minor in [0xFD, 0xFF] as [UInt8] {
                        let header: [UInt8] = [content, 0xFE, minor, 0, epoch, 0, 0, 1, 0, 0, count, 0, count]
                        let record = header + [UInt8](repeating: 0xA5, count: Int(count))
                        // OpenSSL goes on inside of a record whose version is another
                        let hidden = [content, 0xFE, 0xFF, 0, 1, 0, 0, 1, 0, 0, count, 0, UInt8(record.count)] + record
                        for end in [client, server] {
                            for datagram in [record, record + record, hidden, record + hidden] {
                                #expect(!end.receive(datagram).isTaken)
                                try #require(end.state == .open, "\(datagram)")
                            }
                        }
                    }
                }
            }
        }
    }

    @Test("a handshake ends in nothing but itself or failure", arguments: cases(0..<5))
    func handshake(seed: Int) throws {
        let sent = try session().records
        var numbers = SeededNumbers(seed: UInt64(seed))
        var outcomes = (open: 0, closed: 0, opening: 0)
        for _ in 0..<200 {
            let server = DTLSEnd.server(identity)
            let client = try DTLSEnd.client(.fingerprint(identity.fingerprint))
            // Forged records among the genuine ones, of this handshake and of another
            for _ in 0..<6 {
                for (from, to) in [(client, server), (server, client)] {
                    for record in from.records() {
                        for _ in 0..<numbers.below(3) {
                            let origin = numbers.below(2) == 0 ? record : sent[numbers.below(sent.count)]
                            to.receive(numbers.mutated(origin, among: sent))
                        }
                        if let answer = to.receive(record).answer { from.receive(answer) }
                    }
                }
            }
            for end in [client, server] {
                switch end.state {
                case .open: outcomes.open += 1
                case .opening: outcomes.opening += 1
                case .closed: outcomes.closed += 1
                }
                #expect(end.controls().isEmpty)
            }
            // Where both are open they have the same keys.
            if client.state == .open, server.state == .open {
                #expect(client.send([7]))
                exchange(client, server)
                #expect(server.controls() == [[7]], "seed \(seed)")
            }
        }
        // Both happen, or the test shows nothing.
        #expect(outcomes.open > 10 && outcomes.closed + outcomes.opening > 10, "\(outcomes)")
    }

    @Test("strangers are answered by less than they send, and nothing is kept of them", arguments: cases(0..<10))
    func strangers(seed: Int) throws {
        let sent = try session().records
        var numbers = SeededNumbers(seed: UInt64(seed))
        let server = DTLSEnd.server(identity)
        var answers = 0
        for _ in 0..<10_000 {
            let record = numbers.mutated(sent[numbers.below(sent.count)], among: sent)
            let (isTaken, answer) = server.receive(record)
            if let answer {
                answers += 1
                #expect(answer.count < record.count)
            }
            // A genuine hello with something behind it is one.
            if isTaken { server.leave() }
            #expect(server.state == .closed(.here))
        }
        #expect(answers > 0)
    }
}

extension SeededNumbers {
    /// A record that is not this one, or this one cut or prolonged.
    mutating func mutated(_ record: [UInt8], among others: [[UInt8]]) -> [UInt8] {
        var bytes = record
        switch below(6) {
        case 0: for _ in 0...below(3) { bytes[below(bytes.count)] ^= 1 << UInt8(below(8)) }
        case 1: bytes[below(bytes.count)] = UInt8(below(256))
        case 2: bytes.removeLast(1 + below(bytes.count))
        case 3: bytes += (0...below(40)).map { _ in UInt8(below(256)) }
        case 4:
            // The header of one, the contents of another
            let other = others[below(others.count)]
            bytes = Array(bytes.prefix(11) + other.dropFirst(11))
        default: bytes = (0..<1 + below(200)).map { _ in UInt8(below(256)) }
        }
        return bytes
    }
}
