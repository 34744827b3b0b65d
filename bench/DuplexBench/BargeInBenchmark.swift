import SimulatedCalls
import VoiceEngine
import VoiceSimulation

extension Benchmark {
    /// Speech events and the canceller's readiness while an agent talks and is interrupted.
    static let bargeIn = Benchmark(
        name: "barge-in",
        purpose:
            "beginnings of speech told for an echo, before and after the canceller is ready, and interruptions told",
        options: ["--seeds"],
        run: BargeInBenchmark.run)
}

/// An agent at side B talks over a loudspeaker at side A, whose person interrupts it now and then.
private enum BargeInBenchmark {
    private static let seeds: ClosedRange<UInt64> = BenchmarkLength.seeds ?? 1...8
    private static let rooms: [(name: String, room: RoomConditions)] = [
        ("office", .office), ("living room", .livingRoom), ("car", .car), ("headset", .headset),
    ]
    private static let backends: [ProcessingBackend] = [.native, .webRTC]

    static func run() throws -> BenchmarkResult {
        var table = MarkdownTable(
            "canceller, room", "ready after s", "false before", "min", "false after", "min ", "told", "of", "after ms",
            "90 %", "worst")
        var falseTable = MarkdownTable("canceller, room", "seed", "at s")
        var summary: [(key: String, value: SummaryValue)] = []
        for backend in backends {
            for (name, room) in rooms {
                var tally = BargeInTally()
                for seed in seeds {
                    let call = try BargeInCall(backend: backend, room: room, seed: seed)
                    tally.add(call)
                    for time in call.falseStarts {
                        falseTable.add("\(backend.name), \(name)", String(seed), time.fixed(2))
                    }
                }
                table.add(
                    "\(backend.name), \(name)", tally.readiness, String(tally.falseBefore),
                    (tally.secondsBefore / 60).fixed(2), String(tally.falseAfter), (tally.secondsAfter / 60).fixed(2),
                    String(tally.delays.count), String(tally.interruptions), tally.delay(0.5), tally.delay(0.9),
                    tally.delay(1))
                let key = "\(backend.name)_\(name.split(separator: " ").joined(separator: "_"))".lowercased()
                summary += [
                    (
                        "\(key)_ready_s",
                        .number(tally.readyTimes.isEmpty ? .nan : Samples(tally.readyTimes).median, digits: 2)
                    ),
                    ("\(key)_false_before", .integer(tally.falseBefore)),
                    ("\(key)_false_after", .integer(tally.falseAfter)),
                    ("\(key)_told", .integer(tally.delays.count)),
                    ("\(key)_interruptions", .integer(tally.interruptions)),
                    (
                        "\(key)_told_p90_ms",
                        .number(tally.delays.isEmpty ? .nan : Samples(tally.delays).quantile(0.9) * 1_000, digits: 0)
                    ),
                ]
            }
        }
        return BenchmarkResult(
            description: """
                Calls of \(Int(BargeInCall.length)) s in simulated rooms, seeds \(seeds.lowerBound) to \(seeds.upperBound): an \
                agent talks from \(BargeInCall.agent.lowerBound.fixed(1)) s on and a person says something of \
                \(BargeInCall.turn.fixed(1)) s at \(BargeInCall.turns.map { $0.fixed(0) }.joined(separator: ", ")) s, both at \
                \(Int(BargeInCall.level)) dBFS. "Ready": median of the time from the agent's first word until the canceller \
                is told to be trusted. "False": beginnings of speech that were told while the person was silent, before that \
                and after, in so many minutes. "Told": interruptions whose beginning was told within a second, and the median, \
                90 % and the worst of the times of these from the first sound to the telling.
                """,
            table: table, summary: summary,
            further: [
                (
                    "False beginnings", "Each beginning of speech that was told while the person was silent.",
                    falseTable
                )
            ])
    }
}

/// What many calls add up to.
private struct BargeInTally {
    var readyTimes: [Double] = []
    var calls = 0
    var falseBefore = 0
    var falseAfter = 0
    var secondsBefore = 0.0
    var secondsAfter = 0.0
    var interruptions = 0
    var delays: [Double] = []

    mutating func add(_ call: BargeInCall) {
        calls += 1
        let ready = call.ready ?? BargeInCall.length
        if let ready = call.ready { readyTimes.append(ready - BargeInCall.agent.lowerBound) }
        let trusted = max(ready, BargeInCall.agent.lowerBound)
        secondsBefore += BargeInCall.secondsOfSilence(in: BargeInCall.agent.lowerBound...trusted)
        secondsAfter += BargeInCall.secondsOfSilence(in: trusted...BargeInCall.length)
        falseBefore += call.falseStarts.count { $0 < ready }
        falseAfter += call.falseStarts.count { $0 >= ready }
        interruptions += BargeInCall.turns.count
        delays += call.delays
    }

    var readiness: String {
        guard !readyTimes.isEmpty else { return "never" }
        let median = Samples(readyTimes).median.fixed(2)
        return readyTimes.count == calls ? median : "\(median) (\(readyTimes.count)/\(calls))"
    }

    /// From the first sound to the telling, ms.
    func delay(_ quantile: Double) -> String {
        delays.isEmpty ? "-" : (Samples(delays).quantile(quantile) * 1_000).fixed(0)
    }
}

/// One call, watched 10 ms at a time so that it is known when each event was told.
private struct BargeInCall {
    static let length = 30.0
    static let agent = 0.5...30.0
    static let turns = [12.0, 17.0, 22.0]
    static let turn = 1.5
    static let level = -26.0
    /// Events of a turn may be told this much after it.
    private static let slack = 0.4
    /// An interruption that was not told within this was missed.
    private static let patience = 1.0

    /// For how long the person is silent within a time.
    static func secondsOfSilence(in time: ClosedRange<Double>) -> Double {
        turns.reduce(time.upperBound - time.lowerBound) { rest, start in
            let spoken = (start...start + Self.turn).clamped(to: time)
            return rest - (spoken.upperBound - spoken.lowerBound)
        }
    }

    /// When the canceller was first told to be trusted.
    private(set) var ready: Double?
    /// When beginnings were told that were none.
    private(set) var falseStarts: [Double] = []
    /// From the first sound of each interruption that was told to the telling.
    private(set) var delays: [Double] = []

    init(backend: ProcessingBackend, room: RoomConditions, seed: UInt64) throws {
        let (person, onsets) = Self.person(seed: seed)
        let agent = SyntheticSpeech.samples(
            frames: Int(Self.length * 48_000), seed: seed &+ 1_000, voice: .low, levelDecibels: Self.level)
        let silence = [Float](repeating: 0, count: Int(Self.agent.lowerBound * 48_000))
        var configuration = SimulatedCall.Configuration(talkers: [
            SpeechSource(person, repetition: .once), SpeechSource(silence + agent, repetition: .once),
        ])
        configuration.seed = seed
        configuration.rooms = [room, .headset]
        configuration.longest = .seconds(Self.length)
        configuration.recorded = .seconds(1)
        configuration.engine = .voiceAgent
        configuration.engine.backend = backend
        let call = try SimulatedCall(configuration)
        var seen = 0
        var told: [Double] = []
        for step in 1...Int(Self.length * 100) {
            call.run(for: .milliseconds(10))
            let events = call.events(.a)
            for event in events[seen...] { note(event, at: Double(step) / 100, &told) }
            seen = events.count
        }
        judge(told, onsets)
    }

    private mutating func note(_ event: EngineEvent, at time: Double, _ told: inout [Double]) {
        switch event {
        case .echoReadinessChanged(let readiness): if readiness.isReady, ready == nil { ready = time }
        case .speechStarted: told.append(time)
        default: break
        }
    }

    private mutating func judge(_ told: [Double], _ onsets: [Double]) {
        falseStarts = told.filter { time in
            !Self.turns.contains { time > $0 && time < $0 + Self.turn + Self.slack }
        }
        for onset in onsets {
            if let time = told.first(where: { $0 > onset && $0 < onset + Self.patience }) {
                delays.append(time - onset)
            }
        }
    }

    /// What the person says, and when each turn's first sound is.
    private static func person(seed: UInt64) -> (samples: [Float], onsets: [Double]) {
        let speech = SyntheticSpeech.samples(
            frames: Int(length * 48_000), seed: seed, voice: .high, levelDecibels: level)
        var said = [Float](repeating: 0, count: speech.count)
        var onsets: [Double] = []
        var source = 0
        for start in turns.map({ Int($0 * 48_000) }) {
            for frame in start..<start + Int(turn * 48_000) {
                said[frame] = speech[source]
                source += 1
            }
            // -40 dBFS: above a room's noise, below a voice
            let first = (start..<start + Int(turn * 48_000)).first { abs(said[$0]) > 0.01 } ?? start
            onsets.append(Double(first) / 48_000)
        }
        return (said, onsets)
    }
}
