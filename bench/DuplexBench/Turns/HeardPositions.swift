import SimulatedCalls
import VoiceEngine
import VoiceSimulation

/// How well a listener knows how far an utterance from the room was heard, against what its loudspeaker played: at 5 %
/// loss and 60 ms of jitter, through a stall of 120 ms in each utterance, a change of device and a drifting clock.
struct HeardPositions {
    private static let seconds = 12
    /// When utterances begin, seconds.
    private static let starts = [1.0, 4.5, 8.0]
    static let description = """
        Calls of \(seconds) s in which a talker says three utterances at 5 % loss and 60 ± 20 ms of jitter, and the listener's loudspeaker stands still for 120 ms in each of \
        them, drifts by 150 ppm in two of three calls, and gets another period in the second utterance. "Compared": of what was told each quarter of a second, where the \
        loudspeaker plays on evenly, so that its sound tells the position (not while it repeats, skips, conceals or stands still), wherever in the whole of what was \
        said that is.
        """

    /// By how much what was told differs from what the loudspeaker was playing, ms, where that can be told.
    private(set) var errors: [Double] = []
    /// Readings whose error exceeds the bound that was told with them.
    private(set) var beyond: [Reading] = []
    var beyondBound: Int { beyond.count }
    private(set) var readings = 0
    private(set) var bounds: [Double] = []

    /// What was told at a time, and what the loudspeaker played.
    struct Reading {
        var seed: UInt64
        /// Of the call, seconds.
        var time: Double
        var utterance: UInt32
        /// By how much what was told is ahead of what was played, ms.
        var error: Double
        var bound: Double
    }

    init(seed: UInt64) throws {
        let said = PositionSearch.samples(seconds: Self.seconds, seed: seed)
        let call = try SimulatedCall.ofUtterances(said, seconds: Self.seconds, seed: seed)
        for (index, start) in Self.starts.enumerated() {
            call.run(for: .seconds(start) - call.elapsed)
            try call.beginUtterance(UInt32(index + 1), .a)
            call.run(for: .milliseconds(1_000))
            if index == 1 { try call.changeDevice(periodFrames: seed % 2 == 0 ? 480 : 120, .b) }
            call.run(for: .milliseconds(700))
            call.interruptPlayback(periods: 24, .b)
        }
        call.run(for: .seconds(Self.seconds) - call.elapsed)
        let heard = call.recording(.b).speaker
        let search = PositionSearch(in: said)
        for case .utteranceHeard(_, let news, let time) in call.events(.b) where news.heard > .zero && !news.isFinal {
            readings += 1
            let frame = Int((time - .seconds(1)) / .seconds(1) * 48_000)
            let start = Int(Self.starts[Int(news.utterance.rawValue) - 1] * 48_000)
            let told = start + Int(news.heard / .seconds(1) * 48_000)
            guard let played = search.steadyPosition(before: frame, of: heard, near: told) else { continue }
            let reading = Reading(
                seed: seed, time: Double(frame) / 48_000, utterance: news.utterance.rawValue,
                error: Double(told - played) / 48, bound: news.bound / .milliseconds(1))
            errors.append(abs(reading.error))
            bounds.append(reading.bound)
            if abs(reading.error) > reading.bound { beyond.append(reading) }
        }
    }

    /// As many calls as the seeds of `--seeds` by themselves: `--heard`.
    static func run(_ seeds: ClosedRange<UInt64>) throws -> BenchmarkResult {
        let calls = try seeds.map { try HeardPositions(seed: $0) }
        var exceptions = MarkdownTable("seed", "s", "utterance", "off ms", "bound ms")
        for reading in calls.flatMap(\.beyond) {
            exceptions.add(
                String(reading.seed), reading.time.fixed(3), String(reading.utterance), reading.error.fixed(1),
                reading.bound.fixed(1))
        }
        return BenchmarkResult(
            description: description, table: table(calls),
            summary: [
                ("heard_error_p95_ms", .number(TurnsTally.p95(calls.flatMap(\.errors)), digits: 1)),
                ("heard_bound_p95_ms", .number(TurnsTally.p95(calls.flatMap(\.bounds)), digits: 1)),
                ("heard_compared", .integer(calls.reduce(0) { $0 + $1.errors.count })),
                ("heard_beyond_bound", .integer(calls.reduce(0) { $0 + $1.beyondBound })),
            ],
            further: [
                ("Beyond the bound", "Of what was told: positive where it is ahead of the loudspeaker.", exceptions)
            ])
    }

    /// Sums up many calls.
    static func table(_ calls: [HeardPositions]) -> MarkdownTable {
        var table = MarkdownTable("told", "compared", "off ms, 95 %", "worst", "bound ms, 95 %", "beyond the bound")
        let (errors, bounds) = (calls.flatMap(\.errors), calls.flatMap(\.bounds))
        table.add(
            String(calls.reduce(0) { $0 + $1.readings }), String(errors.count), TurnsTally.p95(errors).fixed(1),
            (errors.max() ?? .nan).fixed(1), TurnsTally.p95(bounds).fixed(1),
            String(calls.reduce(0) { $0 + $1.beyondBound }))
        return table
    }
}
