import CAllocationCounter
import CLinuxRealtime
import Testing
import VoicePeers

@testable import VoiceTransport

/// Handshakes through memory that loses nothing: OpenSSL's timers, which run in real time, have nothing to do.
@Suite("A DTLS handshake")
struct DTLSHandshakeTests {
    private let identity = TestIdentity.localhost.identity

    @Test("opens both ends, who have the same keys, and control passes with its borders")
    func opens() throws {
        // Given
        let server = DTLSEnd.server(identity)
        let client = try DTLSEnd.client(.fingerprint(identity.fingerprint))
        #expect(client.state == .opening)
        // When
        var longest = 0
        exchange(client, server) { longest = max(longest, $0.count) }
        // Then
        #expect(client.state == .open)
        #expect(server.state == .open)
        #expect(server.answered == 1)
        #expect(longest <= 1200)
        #expect(client.nextTimeout == nil)
        #expect(server.nextTimeout == nil)
        // And datagrams of all lengths arrive as they were, in order, both ways
        for count in [1, 2, 100, 1199, 1200] {
            let datagram = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            for (from, to) in [(client, server), (server, client)] {
                #expect(from.send(datagram))
                #expect(from.send([1, 2, 3]))
                for record in from.records() {
                    #expect(record.count <= 1200 + 37)
                    #expect(to.receive(record).isTaken)
                }
                #expect(to.controls() == [datagram, [1, 2, 3]])
            }
        }
        #expect(!client.send([]))
        #expect(!client.send([UInt8](repeating: 0, count: 1201)))
        #expect(client.state == .open)
    }

    /// Both ends, open.
    private func pair() throws -> (client: DTLSEnd, server: DTLSEnd) {
        let server = DTLSEnd.server(identity)
        let client = try DTLSEnd.client(.fingerprint(identity.fingerprint))
        exchange(client, server)
        try #require(client.state == .open && server.state == .open)
        return (client, server)
    }

    @Test("protects media in place, both ways, and takes it once")
    func media() throws {
        let (client, server) = try pair()
        let packet: [UInt8] = [0x80, 111, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4, 9, 8, 7]
        for (from, to) in [(client, server), (server, client)] {
            var buffer = packet + [UInt8](repeating: 0, count: DTLSSecurity.mediaOverhead)
            var room = buffer.mutableSpan
            let count = try #require(from.security.protect(&room, count: packet.count, .sound, at: 0))
            let sent = Array(buffer[..<count])
            #expect(sent.count == packet.count + 16 && sent[..<12] == packet[..<12] && sent[12..<15] != packet[12...])
            buffer = sent
            room = buffer.mutableSpan
            #expect(to.security.unprotect(&room, count: count, .sound, at: 0) == packet.count)
            #expect(Array(buffer[..<packet.count]) == packet)
            buffer = sent
            room = buffer.mutableSpan
            #expect(to.security.unprotect(&room, count: count, .sound, at: 0) == nil)
        }
        // Without keys there is none.
        client.security.close(0)
        var buffer = packet + [UInt8](repeating: 0, count: DTLSSecurity.mediaOverhead)
        var room = buffer.mutableSpan
        #expect(client.security.protect(&room, count: packet.count, .sound, at: 0) == nil)
        #expect(client.security.unprotect(&room, count: packet.count, .sound, at: 0) == nil)
        let opening = try DTLSEnd.client(.fingerprint(identity.fingerprint))
        #expect(opening.security.protect(&room, count: packet.count, .sound, at: 0) == nil)
    }

    @Test("is not begun without the cookie of the client's address, and nothing is kept of who has none")
    func cookies() throws {
        let client = try DTLSEnd.client(.fingerprint(identity.fingerprint))
        let server = DTLSEnd.server(identity)
        let hello = try #require(client.records().first)
        // The question is shorter than the hello, and the same each time
        let question = try #require(server.receive(hello).answer)
        #expect(question.count < hello.count)
        #expect(server.receive(hello).answer == question)
        #expect(!server.hasPeer)
        // and nothing is allocated for it
        var answer = [UInt8](repeating: 0, count: 128)
        let before = dv_thread_allocations()
        var room = answer.mutableSpan
        for _ in 0..<100 { _ = server.security.greet(hello.span, cookie: server.cookie, answer: &room) }
        let allocations = dv_thread_allocations() - before
        #expect(allocations == 0)
        #expect(Array(answer[..<question.count]) == question)
        // The hello with a cookie of somewhere else is asked again
        client.receive(question)
        let second = try #require(client.records().first)
        let elsewhere = DTLSEnd.server(identity, cookieKey: 8)
        #expect(elsewhere.receive(second).answer != nil)
        #expect(!elsewhere.hasPeer)
        // And with its own it is a peer
        #expect(server.receive(second).isTaken)
        #expect(server.hasPeer && server.state == .opening)
        exchange(client, server)
        #expect(client.state == .open && server.state == .open)
    }

    /// What a server with such a key asks a client that says this hello.
    private func question(_ hello: [UInt8], cookieKey: UInt64) throws -> [UInt8] {
        try #require(DTLSEnd.server(identity, cookieKey: cookieKey).receive(hello).answer)
    }

    @Test("begins anew where its server was started anew, and asks for another cookie than the client has brought")
    func serverStartedAnew() throws {
        // Given a client that was asked for a cookie by a server that is gone, twice the same
        let client = try DTLSEnd.client(.fingerprint(identity.fingerprint))
        let hello = try #require(client.records().first)
        let former = try question(hello, cookieKey: 8)
        client.receive(former)
        client.receive(former)
        // When its successor gets the answer
        let server = DTLSEnd.server(identity)
        exchange(client, server)
        // Then it asks for its own cookie once more than usual, and the path opens
        #expect(server.answered == 2)
        #expect(client.state == .open && server.state == .open)
        // A copy alone has made nothing begin anew
        let other = try DTLSEnd.client(.fingerprint(identity.fingerprint))
        let otherHello = try #require(other.records().first)
        let same = try question(otherHello, cookieKey: 8)
        for _ in 0..<3 { other.receive(same) }
        #expect(other.records().count == 1)
    }

    @Test("answers so many questions for a cookie and no more, and none once the server has gone on")
    func endlessQuestions() throws {
        // Given somebody who asks for another cookie each time
        let client = try DTLSEnd.client(.fingerprint(identity.fingerprint))
        let hello = try #require(client.records().first)
        var hellos = 0
        for key in 0..<100 as Range<UInt64> {
            client.receive(try question(hello, cookieKey: key))
            hellos += client.records().count
        }
        // Then it gets one hello for each cookie, and for each but the first one without, which began anew
        #expect(hellos == 2 * PeerLimits.cookieAnswers - 1)
        #expect(client.state == .opening)
        // Given a server that has answered the hello with its cookie
        let late = try DTLSEnd.client(.fingerprint(identity.fingerprint))
        let server = DTLSEnd.server(identity)
        let first = try #require(late.records().first)
        late.receive(try #require(server.receive(first).answer))
        server.receive(try #require(late.records().first))
        for record in server.records() { late.receive(record) }
        // When somebody asks for another one
        late.receive(try question(first, cookieKey: 8))
        // Then the handshake goes on
        exchange(late, server)
        #expect(late.state == .open && server.state == .open && server.answered == 1)
    }

    @Test("goes on where its hellos come twice, and another hello is not its own")
    func repeatedHello() throws {
        let client = try DTLSEnd.client(.fingerprint(identity.fingerprint))
        let server = DTLSEnd.server(identity)
        let first = try #require(client.records().first)
        client.receive(try #require(server.receive(first).answer))
        let second = try #require(client.records().first)
        #expect(server.receive(second).isTaken)
        // Given the same again, while it shakes hands
        #expect(server.receive(second) == (true, nil))
        #expect(server.receive(first) == (true, nil))
        // When somebody else begins at the same address
        let other = try DTLSEnd.client(.fingerprint(identity.fingerprint))
        let question = server.receive(try #require(other.records().first))
        // Then it is asked as a stranger is
        #expect(!question.isTaken && question.answer != nil)
        exchange(client, server)
        #expect(client.state == .open && server.state == .open)
        #expect(server.receive(second) == (true, nil))
        #expect(server.state == .open && server.records().isEmpty)
        let late = server.receive(try #require(try DTLSEnd.client(.fingerprint(identity.fingerprint)).records().first))
        #expect(!late.isTaken && late.answer != nil)
        // And the path goes on
        #expect(client.send([5]))
        exchange(client, server)
        #expect(server.controls() == [[5]])
    }

    @Test("ends for both where one says goodbye")
    func goodbye() throws {
        let (client, server) = try pair()
        server.security.close(0)
        #expect(server.state == .closed(.here))
        let records = server.records()
        #expect(records.count == 1)
        server.security.close(0)
        #expect(server.records().isEmpty)
        #expect(client.receive(records[0]).isTaken)
        #expect(client.state == .closed(.byPeer))
        #expect(!client.send([1]) && !server.send([1]))
        #expect(!server.receive(try #require(client.records().first)).isTaken)
        // Before it is open there is nobody to say it to.
        let opening = try DTLSEnd.client(.fingerprint(identity.fingerprint))
        _ = opening.records()
        opening.security.close(0)
        #expect(opening.state == .closed(.here) && opening.records().isEmpty)
        #expect(opening.nextTimeout == nil)
    }

    @Test("keeps so much each way and no more")
    func bounds() throws {
        let (client, server) = try pair()
        // A driver that does not send
        var sent = 0
        while sent < 100, client.send([UInt8(sent)]) { sent += 1 }
        #expect(sent == 64)
        // and one that does not read: what comes beyond is lost
        for record in client.records() { server.receive(record) }
        #expect(client.send([99]))
        for record in client.records() { server.receive(record) }
        #expect(server.controls() == (0..<64).map { [UInt8($0)] })
        #expect(client.send([100]))
        exchange(client, server)
        #expect(server.controls() == [[100]])
    }

    @Test("takes several records in a datagram, and what comes behind the last of the handshake")
    func joined() throws {
        let (client, server) = try pair()
        for number in 0..<10 as Range<UInt8> { #expect(client.send([number])) }
        #expect(server.receive(Array(client.records().joined())).isTaken)
        #expect(server.controls() == (0..<10).map { [$0] })
    }

    @Test("looks at so many records of a datagram and no more")
    func manyRecords() throws {
        let (client, server) = try pair()
        let limit = DTLSPeer.recordLimit
        for number in 0..<2 * limit { #expect(client.send([UInt8(number)])) }
        #expect(server.receive(Array(client.records().joined())).isTaken)
        #expect(server.controls() == (0..<limit).map { [UInt8($0)] })
    }

    @Test("has places of their own for many peers, used again")
    func places() throws {
        // Given one server's security with peers in places that are far apart
        var server = DTLSSecurity(serving: identity)
        #expect(server.state(at: 1000) == .closed(.here))
        #expect(server.nextTimeout(at: 1000) == nil)
        for round in 0..<2 {
            for slot in [30, 3, 31] {
                server.begin(slot, as: .server, now: .zero)
                #expect(server.state(at: slot) == .opening, "\(round)")
            }
            server.end(3)
            #expect(server.state(at: 3) == .closed(.here))
            #expect(server.state(at: 30) == .opening)
        }
    }
}
