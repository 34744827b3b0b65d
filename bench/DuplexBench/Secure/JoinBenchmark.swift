import CAllocationCounter
import Foundation
import VoiceTransport

/// How many round trips a protected join takes, and what those who have joined keep of the server's memory.
enum JoinBenchmark {
    private static let peers = 200
    private static let talkersOfRoom = 3
    private static let mostTrips = 20

    /// In a folder that is gone afterwards.
    private static func identity() throws -> ServerIdentity {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("duplex-bench-join-\(getpid())")
        defer { try? FileManager.default.removeItem(at: folder) }
        return try ServerIdentitySource.kept(directory: folder.path, names: ["localhost"]).load()
    }

    /// Counts trips until a packet comes through to somebody who is there.
    static func runTrips() throws -> BenchmarkResult {
        let rooms = RoomsInMemory(try identity())
        let listener = try rooms.addMember(of: "bench")
        while !listener.hasJoined { _ = rooms.trip(of: listener) }
        try rooms.settle()

        var table = MarkdownTable("Round trip", "datagrams there", "bytes", "datagrams back", "bytes")
        let newcomer = try rooms.addMember(of: "bench")
        var trips = 0
        while !newcomer.hasJoined {
            guard trips < mostTrips else { throw SecureFailure("nobody comes into the room") }
            trips += 1
            let (there, back) = rooms.trip(of: newcomer)
            table.add("\(trips)", "\(there.datagrams)", "\(there.bytes)", "\(back.datagrams)", "\(back.bytes)")
        }
        guard try rooms.say(by: newcomer) == 1 else { throw SecureFailure("the first packet is not forwarded") }
        return BenchmarkResult(
            description: """
                A client and a room server in one memory, DTLS-SRTP between them, counted: round trips before the client's first packet of voice goes out, \
                which is forwarded and heard. The certificate is a self-signed one, as `duplex room serve` makes it, and the token is short.
                """,
            table: table, summary: [("rtt_to_first_media", .integer(trips))])
    }

    /// Measures what the process gets back where a server goes.
    static func runMemory() throws -> BenchmarkResult {
        let identity = try identity()
        guard dv_heap_bytes() >= 0 else { throw SecureFailure("nobody counts the heap") }
        let empty = RoomsInMemory(identity)
        let base = heapOf { empty.endServer() }
        let rooms = RoomsInMemory(identity)
        for number in 0..<peers {
            let member = try rooms.addMember(of: "room \(number / ServedRoom.members)")
            for _ in 0..<mostTrips where !member.hasJoined { _ = rooms.trip(of: member) }
            guard member.hasJoined else { throw SecureFailure("member \(number) does not come into the room") }
        }
        try rooms.settle()
        for round in 0..<10 {
            for (number, member) in rooms.members.enumerated() where number % ServedRoom.members < talkersOfRoom {
                guard try rooms.say(by: member) == ServedRoom.members - 1 else {
                    throw SecureFailure("packet \(round) of member \(number) is not heard by everybody")
                }
            }
        }
        let kilobytes = heapOf { rooms.endServer() } / 1_000
        let each = (kilobytes - base / 1_000) / Double(peers)

        var table = MarkdownTable("Server's memory", "kB")
        table.add("without peers", (base / 1_000).fixed(1))
        table.add("with \(peers) peers", kilobytes.fixed(1))
        table.add("a peer", each.fixed(1))
        return BenchmarkResult(
            description: """
                What a server's state gives back to the heap where it goes, with \(peers) peers over DTLS-SRTP that have joined rooms of \
                \(ServedRoom.members), in each of which \(talkersOfRoom) have spoken: handshakes, keys, what is remembered of each SSRC, and the rooms. 1 kB \
                is 1000 bytes.
                """,
            table: table, summary: [("kb_per_peer", .number(each, digits: 1))])
    }

    /// Bytes that something frees.
    private static func heapOf(_ end: () -> Void) -> Double {
        let before = dv_heap_bytes()
        end()
        return Double(before - dv_heap_bytes())
    }
}
