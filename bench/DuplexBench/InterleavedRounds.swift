import VoiceRealtime

/// One of the things that are measured against each other.
struct Candidate {
    let name: String
    /// Does `iterations` units of work.
    let work: (_ iterations: Int) -> Void
}

/// Which time is taken: of the calling thread's CPU, which other processes disturb little, or of the wall, where
/// several threads work.
enum BenchmarkClock {
    case threadCPU
    case wall

    var nanoseconds: Int64 {
        switch self {
        case .threadCPU: RealtimeWatch.cpuNanoseconds()
        case .wall: MonotonicTime.now().nanoseconds
        }
    }
}

/// Runs candidates in turn, round after round, in changing order, so that whatever changes on the machine meanwhile
/// meets all of them alike.
struct InterleavedRounds {
    /// Nanoseconds per iteration, by candidate and round.
    private var nanoseconds: [[Double]]

    init(_ candidates: [Candidate], rounds: Int, iterations: Int, clock: BenchmarkClock = .threadCPU) {
        precondition(rounds > 0 && iterations > 0 && !candidates.isEmpty)
        nanoseconds = candidates.map { _ in [] }
        for candidate in candidates { candidate.work(iterations) }
        for round in 0..<rounds {
            for place in candidates.indices {
                // Forwards in even rounds, backwards in odd ones: nobody always runs after the same neighbour.
                let index = round % 2 == 0 ? place : candidates.count - 1 - place
                let start = clock.nanoseconds
                candidates[index].work(iterations)
                nanoseconds[index].append(Double(clock.nanoseconds - start) / Double(iterations))
            }
        }
    }

    /// All rounds of one candidate, in nanoseconds per iteration.
    func samples(of candidate: Int) -> Samples { Samples(nanoseconds[candidate]) }

    /// How much time one candidate takes for each unit of the other's, round by round.
    func ratio(of candidate: Int, to other: Int) -> Samples {
        Samples(zip(nanoseconds[candidate], nanoseconds[other]).map { $0 / $1 })
    }
}
