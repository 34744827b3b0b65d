import CRing
import VoiceRealtime

#if canImport(Glibc)
    import Glibc
#endif

extension Benchmark {
    /// The frame ring against the same ring in C11.
    static let rings = Benchmark(
        name: "rings", purpose: "the frame ring against the same ring written in C11", run: RingBenchmark.run)
}

private enum RingBenchmark {
    static let frames = 480
    static let capacity = 8_192
    static let rounds = 401
    static let blocksPerRound = 20_000
    static let threadRounds = 41
    static let blocksPerThreadRound = 50_000

    static func run() throws -> BenchmarkResult {
        let oneThread = try measureOneThread()
        let twoThreads = try measureTwoThreads()
        let ratio = oneThread.ratio(of: 0, to: 1)
        let threadRatio = twoThreads.ratio(of: 0, to: 1)

        var table = MarkdownTable(
            "480 frames with their time, in and out", "ns/block", "p10", "p90", "vs C", "p10", "p90")
        func add(_ name: String, _ samples: Samples, _ ratio: Samples?) {
            table.add(
                name, samples.median.fixed(1), samples.quantile(0.1).fixed(1), samples.quantile(0.9).fixed(1),
                ratio?.median.fixed(3) ?? "", ratio?.quantile(0.1).fixed(3) ?? "", ratio?.quantile(0.9).fixed(3) ?? "")
        }
        add("Swift, acquire/copy/commit", oneThread.samples(of: 0), ratio)
        add("C11, acquire/copy/commit", oneThread.samples(of: 1), nil)
        add("Swift, write/read", oneThread.samples(of: 2), oneThread.ratio(of: 2, to: 1))
        add("the two copies alone", oneThread.samples(of: 3), oneThread.ratio(of: 3, to: 1))
        add("Swift, two threads", twoThreads.samples(of: 0), threadRatio)
        add("C11, two threads", twoThreads.samples(of: 1), nil)

        return BenchmarkResult(
            description: """
                Medians of \(rounds) interleaved rounds of \(blocksPerRound) blocks (two threads: \(threadRounds) of \
                \(blocksPerThreadRound)); ratios are taken round by round. One thread is measured in CPU time, two in wall time.
                """,
            table: table,
            summary: [
                ("ratio_vs_c", .number(ratio.median, digits: 4)),
                ("ratio_vs_c_p10", .number(ratio.quantile(0.1), digits: 4)),
                ("ratio_vs_c_p90", .number(ratio.quantile(0.9), digits: 4)),
                ("ratio_two_threads_vs_c", .number(threadRatio.median, digits: 4)),
                ("swift_ns_per_block", .number(oneThread.samples(of: 0).median, digits: 2)),
                ("c_ns_per_block", .number(oneThread.samples(of: 1).median, digits: 2)),
                ("copies_ns_per_block", .number(oneThread.samples(of: 3).median, digits: 2)),
                ("frames_per_block", .integer(frames)), ("rounds", .integer(rounds)),
                ("blocks_per_round", .integer(blocksPerRound)),
            ])
    }

    // MARK: One thread

    private static func measureOneThread() throws -> InterleavedRounds {
        let ring = try FrameRing(minimumCapacity: capacity)
        let ends = RingEnds(ring.producer, ring.consumer)
        let cRing = try CRingOwner(capacity: capacity)
        let block = (0..<frames).map { Float($0) / Float(frames) }
        var out = [Float](repeating: 0, count: frames)
        var times: Int64 = 0
        let measured = InterleavedRounds(
            [
                Candidate(name: "swift") { times += ends.pushPop(block.span, &out, count: $0) },
                Candidate(name: "c") { count in
                    times += unsafe cring_push_pop(cRing.ring, block, &out, frames, Int64(count))
                },
                Candidate(name: "write/read") { times += ends.writeRead(block.span, &out, count: $0) },
                Candidate(name: "copies") { count in
                    unsafe cring_copy_only(cRing.ring, block, &out, frames, Int64(count))
                },
            ], rounds: rounds, iterations: blocksPerRound)
        // Both rings carried every block's number as its time, so a ring that lost one is found out.
        let expected = Int64(blocksPerRound) * Int64(blocksPerRound - 1) / 2 * Int64(rounds + 1) * 3
        precondition(times == expected && out == block, "a ring lost frames or times")
        return measured
    }

    // MARK: Two threads

    private static func measureTwoThreads() throws -> InterleavedRounds {
        let block = (0..<frames).map { Float($0) / Float(frames) }
        var out = [Float](repeating: 0, count: frames)
        var times: Int64 = 0
        let measured = InterleavedRounds(
            [
                Candidate(name: "swift") { count in
                    do throws(any Error) { times += try swiftAcross(block, &out, count: count) } catch {
                        fatalError("\(error)")
                    }
                },
                Candidate(name: "c") { count in
                    do throws(any Error) { times += try cAcross(block, &out, count: count) } catch {
                        fatalError("\(error)")
                    }
                },
            ], rounds: threadRounds, iterations: blocksPerThreadRound, clock: .wall)
        let perRound = Int64(blocksPerThreadRound) * Int64(blocksPerThreadRound - 1) / 2
        precondition(times == perRound * Int64(threadRounds + 1) * 2 && out == block, "a ring lost frames or times")
        return measured
    }

    private static func swiftAcross(_ block: [Float], _ out: inout [Float], count: Int) throws -> Int64 {
        let ring = try FrameRing(minimumCapacity: capacity)
        var consumer = ring.consumer
        let writer = try RealtimeThread(name: "bench-writer", priority: 0, state: ring.producer) { producer, _ in
            RingEnds.push(block.span, into: &producer, count: count)
        }
        let times = RingEnds.pop(from: &consumer, into: &out, count: count)
        writer.stop()
        return times
    }

    private static func cAcross(_ block: [Float], _ out: inout [Float], count: Int) throws -> Int64 {
        let owner = try CRingOwner(capacity: capacity)
        let writer = try RealtimeThread(name: "bench-writer", priority: 0) { _ in
            unsafe cring_push(owner.ring, block, frames, Int64(count))
        }
        let times = unsafe cring_pop(owner.ring, &out, frames, Int64(count))
        writer.stop()
        return times
    }
}

/// Frees the C ring when it goes.
@safe
private final class CRingOwner: @unchecked Sendable {
    let ring: OpaquePointer

    init(capacity: Int) throws(RingError) {
        guard let made = unsafe cring_create(capacity, 48_000) else { throw .memoryRefused(errno: errno) }
        unsafe ring = made
    }

    deinit { unsafe cring_destroy(ring) }
}
