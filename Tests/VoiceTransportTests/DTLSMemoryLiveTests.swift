import CAllocationCounter
import Testing
import VoicePeers

@testable import VoiceTransport

/// Counts the process's memory: a test beside it would be counted too.
@Suite("What a peer costs", .serialized)
struct DTLSMemoryLiveTests {
    private let identity = TestIdentity.localhost.identity

    /// A server that has the cookie of a client, and nothing after it.
    private func admitted() throws -> DTLSEnd {
        let server = DTLSEnd.server(identity)
        let client = try DTLSEnd.client(.fingerprint(identity.fingerprint))
        let hello = try #require(client.records().first)
        client.receive(try #require(server.receive(hello).answer))
        server.receive(try #require(client.records().first))
        try #require(server.state == .opening)
        _ = server.records()
        return server
    }

    @Test(
        "whoever shakes hands has no room made for long messages that it announces",
        .enabled(if: dv_heap_bytes() >= 0, "needs glibc's allocator"))
    func announced() throws {
        let server = try admitted()
        let before = dv_heap_bytes()
        // When it sends the first byte of messages of 16,000, the next one and ten behind it
        for number in 2...12 as ClosedRange<UInt8> {
            let message: [UInt8] = [16, 0, 0x3E, 0x80, 0, number, 0, 0, 0, 0, 0, 1, 0xA5]
            server.receive([22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 1, number, 0, UInt8(message.count)] + message)
        }
        let kept = Int(dv_heap_bytes() - before)
        #expect(kept <= 40_000, "\(kept) bytes")
        #expect(server.state == .opening)
    }

    @Test(
        "whoever shakes hands has eight early records kept at most, in however few datagrams they come, or inside of others",
        .enabled(if: dv_heap_bytes() >= 0, "needs glibc's allocator"), arguments: [false, true])
    func early(isInside: Bool) throws {
        let server = try admitted()
        // When it sends datagrams of thirty records that are of the keys to come
        let before = dv_heap_bytes()
        for datagram in 0..<8 as Range<UInt8> {
            let records = (0..<30 as Range<UInt8>).flatMap { number -> [UInt8] in
                [22, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 0, 30 * datagram + number, 0, 24]
                    + [UInt8](repeating: 0xA5, count: 24)
            }
            let length = [UInt8(records.count >> 8), UInt8(records.count & 255)]
            server.receive(isInside ? [22, 0xFE, 0xFF, 0, 0, 0, 0, 0, 0, 1, datagram] + length + records : records)
        }
        // Then no more of them are kept than may be
        let kept = Int(dv_heap_bytes() - before)
        #expect(kept <= 8 * 20_000, "\(kept) bytes")
        #expect(server.state == .opening)
    }

    @Test("an open peer keeps at most 60 kB", .enabled(if: dv_heap_bytes() >= 0, "needs glibc's allocator"))
    func memory() throws {
        let count = 64
        let server = DTLSEnd.server(identity)
        let client = try DTLSEnd.client(.fingerprint(identity.fingerprint))
        func open(_ slot: Int) throws {
            server.move(to: slot)
            client.move(to: slot)
            client.connect()
            exchange(client, server)
            try #require(client.state == .open && server.state == .open)
            // Media of one SSRC each way, and control
            let packet: [UInt8] = [0x80, 111, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4] + [UInt8](repeating: 1, count: 80)
            for (from, to) in [(client, server), (server, client)] {
                var buffer = packet + [UInt8](repeating: 0, count: DTLSSecurity.mediaOverhead)
                var room = buffer.mutableSpan
                let count = try #require(from.security.protect(&room, count: packet.count, .sound, at: slot))
                #expect(to.security.unprotect(&room, count: count, .sound, at: slot) != nil)
                #expect(from.send([1, 2, 3]))
            }
            exchange(client, server)
            _ = (client.controls(), server.controls())
        }
        // What is made once: places, the first use of OpenSSL's tables
        for slot in 0..<count { try open(slot) }
        func end(_ end: DTLSEnd) -> Int {
            let before = dv_heap_bytes()
            for slot in 0..<count { end.security.end(slot) }
            return Int(before - dv_heap_bytes()) / count + MemoryLayout<DTLSPeer>.stride
        }
        let (clientBytes, serverBytes) = (end(client), end(server))
        print(
            "bytes of an open peer: server \(serverBytes), client \(clientBytes), place \(MemoryLayout<DTLSPeer>.stride)"
        )
        #expect(clientBytes > 1000 && serverBytes > 1000)
        #expect(clientBytes <= 60_000)
        #expect(serverBytes <= 60_000)
        // Nothing is left behind by those that come and go. What glibc keeps ready of small pieces counts as used, and
        // varies.
        let before = dv_heap_bytes()
        for slot in 0..<count { try open(slot) }
        _ = (end(client), end(server))
        let left = Int(dv_heap_bytes() - before) / count
        #expect(abs(left) < 1000, "\(left) bytes a peer")
    }
}
