import Foundation
import VoiceRealtime

/// A full room behind a server with DTLS-SRTP, and behind one without protection: what forwarding a packet costs, and
/// how long one is on its way.
enum ForwardingBenchmark {
    private static let rounds = 41
    private static let packetsPerRound = 200
    private static let trips = 3_000
    private static let patienceMilliseconds: Int32 = 500
    /// Between one trip and the next, microseconds.
    private static let pauseMicroseconds: Int64 = 1_000

    static func run() throws -> BenchmarkResult {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("duplex-bench-\(getpid())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let protected = try ServedRoom(protectedFrom: folder.path)
        let plain = try ServedRoom(protectedFrom: nil)
        let rooms = [protected, plain]
        let (served, heard) = (rooms.map(\.serverAllocations), rooms.map(\.memberAllocations))

        var costs: [[Double]] = [[], []]
        for round in 0..<rounds {
            // Each goes first as often as the other.
            for room in round % 2 == 0 ? [0, 1] : [1, 0] {
                costs[room].append(try rooms[room].nanosecondsPerCopy(packets: packetsPerRound))
            }
        }
        let times = try measureTrips(rooms)
        let ratios = Samples(zip(costs[0], costs[1]).map { $0 / $1 })
        let allocations = rooms.indices.map { room in
            Int64(rooms[room].serverAllocations - served[room]) + rooms[room].memberAllocations - heard[room]
        }

        var table = MarkdownTable(
            "Room of \(ServedRoom.members)", "ns/copy", "p10", "p90", "vs plain", "p10", "p90", "trip µs", "p10",
            "p90", "allocations")
        for (room, name) in ["DTLS-SRTP", "plaintext"].enumerated() {
            let cost = Samples(costs[room])
            let ratio = room == 0 ? [0.5, 0.1, 0.9].map { ratios.quantile($0).fixed(3) } : ["", "", ""]
            table.add(
                [name] + [0.5, 0.1, 0.9].map { cost.quantile($0).fixed(0) } + ratio
                    + [0.5, 0.1, 0.9].map { (times[room].quantile($0) / 1_000).fixed(1) } + ["\(allocations[room])"])
        }
        return BenchmarkResult(
            description: """
                A room server as it runs and \(ServedRoom.members) members on loopback sockets, \(ServedRoom.talkers) of whom speak in turn, a packet of \
                \(VoicePacket.length) bytes each ms. CPU time of the server's thread, system calls included, for each copy that goes out: medians of \
                \(rounds) stretches of \(packetsPerRound) packets, alternating with and without protection; ratios are those of neighbours. A trip is a \
                packet's time from before its protection by the talker, through the server, until the member who is served last has taken the protection \
                off: medians of \(trips) each, alternating. Allocations are all that the media paths of server and members made meanwhile.
                """,
            table: table,
            summary: [
                ("ratio_forward_srtp_vs_plain", .number(ratios.median, digits: 4)),
                ("m2e_added_ms", .number((times[0].median - times[1].median) / 1e6, digits: 4)),
                ("forward_allocations", .integer(Int(allocations[0]))),
            ])
    }

    /// Nanoseconds of each trip, by room.
    private static func measureTrips(_ rooms: [ServedRoom]) throws -> [Samples] {
        var times: [[Double]] = [[], []]
        for trip in 0..<trips {
            for room in trip % 2 == 0 ? [0, 1] : [1, 0] {
                let (talker, listener) = (rooms[room].members[0], rooms[room].members[ServedRoom.members - 1])
                let start = MonotonicTime.now().nanoseconds
                guard talker.say(), listener.hearOne(withinMilliseconds: patienceMilliseconds) else {
                    throw SecureFailure("a packet did not come through")
                }
                times[room].append(Double(MonotonicTime.now().nanoseconds - start))
                if trip % 10 == 0 { for member in rooms[room].members { member.pump() } }
                sleepMicroseconds(pauseMicroseconds)
            }
        }
        return times.map { Samples($0) }
    }
}
