import VoicePeers
import VoiceRealtime
import VoiceTransport

/// SRTP's transforms against libsrtp2's, on voice packets of several talkers in turn.
enum SRTPBenchmark {
    static let talkers = 20
    /// Opus at 40 kbit/s in packets of 20 ms.
    static let payloadLength = 100
    static let rounds = 201
    static let packetsPerRound = 2_000

    /// Who does it, and with which profile.
    private struct Contestant {
        let name: String
        let profile: SRTPProfile
        let isOurs: Bool

        func candidate(unprotects: Bool) throws -> Candidate {
            if isOurs {
                let traffic = try SRTPTraffic(profile, unprotects: unprotects)
                return Candidate(name: name) { traffic.run($0) }
            }
            let traffic = try LibSRTPTraffic(profile, unprotects: unprotects)
            return Candidate(name: name) { traffic.run($0) }
        }
    }

    private static let contestants = SRTPProfile.allCases.flatMap { profile in
        [
            Contestant(name: "ours, \(profile.shortName)", profile: profile, isOurs: true),
            Contestant(name: "libsrtp2, \(profile.shortName)", profile: profile, isOurs: false),
        ]
    }

    static func run() throws -> BenchmarkResult {
        // Both ways and protection alone, of each.
        let both = try contestants.map { try $0.candidate(unprotects: true) }
        let protection = try contestants.map { try $0.candidate(unprotects: false) }
        let measured = InterleavedRounds(both + protection, rounds: rounds, iterations: packetsPerRound)
        let allocations = try both.map { try allocationsPerPacket($0) }

        var table = MarkdownTable(
            "\(payloadLength) bytes of Opus, protected and unprotected", "ns/packet", "p10", "p90", "protect",
            "vs libsrtp2", "p10", "p90", "allocations")
        var ours: [(profile: SRTPProfile, nanoseconds: Double, ratio: Double)] = []
        for (place, contestant) in contestants.enumerated() {
            // Two calls each time.
            let times = measured.samples(of: place)
            func each(_ quantile: Double) -> String { (times.quantile(quantile) / 2).fixed(0) }
            let ratio = contestant.isOurs ? measured.ratio(of: place, to: place + 1) : nil
            table.add(
                contestant.name, each(0.5), each(0.1), each(0.9),
                measured.samples(of: contestants.count + place).median.fixed(0), ratio?.median.fixed(3) ?? "",
                ratio?.quantile(0.1).fixed(3) ?? "", ratio?.quantile(0.9).fixed(3) ?? "", allocations[place].fixed(2))
            if let ratio { ours.append((contestant.profile, times.median / 2, ratio.median)) }
        }
        guard let best = ours.min(by: { $0.nanoseconds < $1.nanoseconds }) else { throw SecureFailure("no profile") }
        let ourAllocations = zip(contestants, allocations).filter(\.0.isOurs).map(\.1).max() ?? .nan
        return BenchmarkResult(
            description: """
                CPU time of one call, the mean of protecting and unprotecting, of \(payloadLength) bytes of payload behind a header of 20, by \
                \(talkers) talkers in turn: medians of \(rounds) interleaved rounds of \(packetsPerRound) packets. Ratios are taken round by \
                round. Allocations are those of a call, once each SSRC has been seen.
                """,
            table: table,
            summary: [
                ("srtp_ns_per_packet", .number(best.nanoseconds, digits: 1)),
                ("srtp_allocations", .number(ourAllocations, digits: 4)),
                ("srtp_profile", .text(best.profile.openSSLName)),
            ]
                + ours.flatMap { one in
                    [
                        ("srtp_ns_per_packet_\(one.profile.key)", SummaryValue.number(one.nanoseconds, digits: 1)),
                        ("ratio_srtp_vs_libsrtp2_\(one.profile.key)", .number(one.ratio, digits: 4)),
                    ]
                })
    }

    /// How many allocations a call makes.
    private static func allocationsPerPacket(_ candidate: Candidate) throws -> Double {
        guard let before = RealtimeWatch.allocations else { throw SecureFailure("nobody counts allocations") }
        candidate.work(packetsPerRound)
        return Double((RealtimeWatch.allocations ?? 0) - before) / Double(2 * packetsPerRound)
    }
}

extension SRTPProfile {
    fileprivate var shortName: String {
        switch self {
        case .aeadAES128GCM: "AES-GCM"
        case .aes128CounterHMACSHA1: "AES-CM, HMAC-SHA1-80"
        }
    }

    fileprivate var key: String {
        switch self {
        case .aeadAES128GCM: "gcm"
        case .aes128CounterHMACSHA1: "cm"
        }
    }
}
