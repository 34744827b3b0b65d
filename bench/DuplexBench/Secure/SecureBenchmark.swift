import Glibc

extension Benchmark {
    /// What protecting a call costs.
    static let secure = Benchmark(
        name: "secure",
        purpose: "what protecting a call costs: SRTP against libsrtp2, a server with it against one without",
        run: SecureBenchmark.run)
}

/// Measures part after part; each has a table and keys of the summary of its own.
enum SecureBenchmark {
    /// A part, and what its table is headed by.
    struct Part: Sendable {
        let heading: String
        let run: @Sendable () throws -> BenchmarkResult
    }

    static let parts = [
        Part(heading: "SRTP, packet by packet", run: SRTPBenchmark.run),
        Part(heading: "DTLS, peer by peer", run: DTLSBenchmark.run),
        Part(heading: "Forwarding, and the way through the server", run: ForwardingBenchmark.run),
        Part(heading: "Round trips to the first packet", run: JoinBenchmark.runTrips),
        Part(heading: "Memory of a peer", run: JoinBenchmark.runMemory),
    ]

    static func run() throws -> BenchmarkResult {
        // Measured is what packets cost and not whatever else the machine does; where it is not allowed it is no harm.
        _ = setpriority(Int32(PRIO_PROCESS.rawValue), 0, -15)
        let results = try parts.map { (heading: $0.heading, result: try $0.run()) }
        let first = results[0].result
        return BenchmarkResult(
            description: first.description, table: first.table, summary: results.flatMap(\.result.summary),
            further: first.further
                + results.dropFirst().flatMap { part in
                    [(part.heading, part.result.description, part.result.table)] + part.result.further
                })
    }
}
