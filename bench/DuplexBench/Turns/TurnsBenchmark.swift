import SimulatedCalls
import VoiceEngine
import VoiceSimulation

extension Benchmark {
    /// What interruptions do to an agent's answers, and what does not interrupt them.
    static let turns = Benchmark(
        name: "turns",
        purpose:
            "answers that are spoken into: how soon quiet and silent, what is missed, what is taken for an interruption; --long: ten hours of an agent alone, with --seeds a part of them; --secure: in real time through a protected room; --heard, --spoken: what was heard, or the answers that are spoken into, by themselves; --recordings DIR: an agent whose echo was recorded on real devices",
        options: BenchmarkLength.valued + ["--secure", "--heard", "--spoken"], run: TurnsBenchmark.run)
}

/// An agent tells a story over a loudspeaker; a person speaks into it, makes another sound, or is silent.
private enum TurnsBenchmark {
    private static var rooms: [(name: String, room: RoomConditions)] { EchoPaths.rooms }
    /// One word a seed: words differ more than rooms do, so that a median takes a dozen of them.
    private static let seeds: ClosedRange<UInt64> = BenchmarkLength.seeds ?? 1...12
    /// Noise of a room 15 dB below the person, dBFS.
    private static let noise = Story.level - 15
    private static let words = 100
    private static let heardCalls: UInt64 = 40

    /// Ten hours of an agent alone with `--long`, and more than one without.
    private static let aloneHours = BenchmarkLength.isLong ? 10.0 : 1.2

    static func run() throws -> BenchmarkResult {
        if SecureTurns.isWanted { return try SecureTurns.run() }
        if let folder = BenchmarkLength.value(of: "--recordings") { return try RecordedEchoes.run(folder) }
        if CommandLine.arguments.contains("--heard") { return try HeardPositions.run(seeds) }
        if CommandLine.arguments.contains("--spoken") { return try spokenInto() }
        if BenchmarkLength.isLong, let seeds = BenchmarkLength.seeds { return try alone(seeds) }
        // First, since it fails where no voices are installed.
        let heard = try SpeechBenchmark.run().summary
        let local = try everyRoom()
        let harder = try harderScenes()
        let paths = EchoPaths()
        let (alone, byItself) = try paths.run(seeds: BenchmarkLength.seeds ?? paths.seeds(hours: aloneHours))
        let whole = try FirstWords.count(of: words)
        let heardCalls = try (1...heardCalls).map { try HeardPositions(seed: seeds.lowerBound &+ $0) }
        var all = local.tally
        for tally in harder.tallies { all.add(tally) }
        var words = local.words
        words.add(harder.words)
        func detector(_ key: String) -> (key: String, value: SummaryValue) {
            (key, heard.first { $0.key == key }?.value ?? .number(.nan, digits: 0))
        }
        let counts: [(key: String, value: SummaryValue)] = [
            ("interruptions", .integer(all.interruptions)), ("timed", .integer(all.quiet.count)),
            ("untold", .integer(all.untold)), ("self_interrupted", .integer(all.selfInterrupted)),
            ("untold_by_itself", .integer(byItself.untold)),
            ("heard_beyond_bound", .integer(heardCalls.reduce(0) { $0 + $1.beyondBound })),
        ]
        // The line ends with the keys that are asked for, in their order.
        return BenchmarkResult(
            description: description, table: local.table,
            summary: counts + ["vad_f1_10db", "vad_f1_0db", "vad_false_per_min", "vad_told_ms"].map(detector) + [
                ("barge_in_duck_noise_ms", .number(TurnsTally.median(harder.noisy.quiet), digits: 0)),
                ("barge_in_duck_ms", .number(TurnsTally.median(all.quiet), digits: 0)),
                ("barge_in_silent_ms", .number(TurnsTally.median(all.silent), digits: 0)),
                ("self_interruptions_per_h", .number(byItself.perHour, digits: 2)),
                ("missed_ratio", .number(harder.evenly.missedRatio, digits: 3)),
                ("false_confirmed_ratio", .number(local.tally.falseRatio, digits: 3)),
                ("old_samples_after_interrupt", .integer(all.old)),
                ("heard_error_p95_ms", .number(TurnsTally.p95(heardCalls.flatMap(\.errors)), digits: 1)),
                ("first_words_whole", .integer(whole)),
            ],
            further: [
                (
                    "Where the time goes",
                    """
                    Medians, ms. "Decided": from the person's first sound at the microphone to the end of the block that raised the suspicion. "Told": from there \
                    to the conversation's event, with what processing delays. "Quiet": from there until the loudspeaker is 6 dB down.
                    """, local.stages
                ),
                (
                    "What is no interruption",
                    """
                    The same stories by the kind of sound. "Softened": for how long an answer was quieter or silent for nothing, seconds a sound.
                    """, local.kinds
                ),
                (
                    "Harder",
                    """
                    Speech of 2.5 s, as above. "Noise": pink, 15 dB below the person. "0 dB", "-10 dB": the person is as loud at the microphone as the echo, \
                    or so much weaker. "Room": the agent \
                    is in another engine, at 2 % loss and 15 ± 8 ms of jitter, with that noise; the loudspeaker is compared with that of the same call whose agent \
                    does not give way.
                    """, harder.table
                ),
                ("By word", WordTable.description, words.table),
                ("What was heard", HeardPositions.description, HeardPositions.table(heardCalls)),
                (
                    "By itself", EchoPaths.description, alone
                ),
            ])
    }

    private static var description: String {
        """
        A story of \(Int(Story.length)) s in simulated rooms, seeds \(seeds.lowerBound) to \(seeds.upperBound), agent and person at \
        \(Int(Story.level)) dBFS, the person from \(Int(Story.onsets.lowerBound)) s on, in the middle of a word of the agent's: speech of 2.5 s (interruptions), a hum of 0.4 s, a blip of 80 ms, \
        a cough of 0.3 s, 3 s of keystrokes, 3 s of babble (no interruptions), or nothing. "Quiet" and "silent": medians from the first sound until the \
        loudspeaker is 6 dB down and until it is silent. "Missed": not given up within 2 s. "Old after it": samples of the story that the \
        loudspeaker sounded more than 40 ms after it was given up. "Heard off": 95 % of what was told of the heard part against the \
        loudspeaker. "Ducked", "held", "ended": how many sounds that are no interruption did that; "cut short": those after which not all of the story was heard. \
        A story that never sounded is in no figure but "untold", and one that was given up before the person spoke in none but "self-interrupted".
        """
    }

    /// The stories that are spoken into alone, which take most seeds to tell anything.
    private static func spokenInto() throws -> BenchmarkResult {
        let local = try everyRoom()
        let harder = try harderScenes()
        var all = local.tally
        for tally in harder.tallies { all.add(tally) }
        var words = local.words
        words.add(harder.words)
        return BenchmarkResult(
            description: description, table: local.table,
            summary: [
                ("barge_in_duck_noise_ms", .number(TurnsTally.median(harder.noisy.quiet), digits: 0)),
                ("barge_in_duck_ms", .number(TurnsTally.median(all.quiet), digits: 0)),
                ("barge_in_silent_ms", .number(TurnsTally.median(all.silent), digits: 0)),
                ("missed", .integer(all.missed)), ("interruptions", .integer(all.interruptions)),
                ("missed_evenly", .integer(harder.evenly.missed)),
                ("interruptions_evenly", .integer(harder.evenly.interruptions)),
                ("false_confirmed", .integer(local.tally.falselyEnded)), ("others", .integer(local.tally.others)),
                ("untold", .integer(all.untold)), ("self_interrupted", .integer(all.selfInterrupted)),
            ],
            further: [
                ("Where the time goes", "Medians, ms.", local.stages), ("What is no interruption", "", local.kinds),
                ("Harder", "", harder.table), ("By word", WordTable.description, words.table),
            ])
    }

    /// The echo paths alone, for the seeds of `--seeds`: parts of the ten hours, whose counts add up.
    private static func alone(_ seeds: ClosedRange<UInt64>) throws -> BenchmarkResult {
        let (table, all) = try EchoPaths().run(seeds: seeds)
        return BenchmarkResult(
            description: EchoPaths.description, table: table,
            summary: [
                ("self_interruptions_per_h", .number(all.perHour, digits: 2)),
                ("hours", .number(all.secondsAfter / 3_600, digits: 3)), ("ducked", .integer(all.after.ducked)),
                ("held", .integer(all.after.held)), ("ended", .integer(all.after.ended)),
                ("seconds_before", .number(all.secondsBefore, digits: 1)),
                ("held_before", .integer(all.before.held)), ("ended_before", .integer(all.before.ended)),
                ("untold", .integer(all.untold)),
            ])
    }

    private static func everyRoom() throws
        -> (table: MarkdownTable, stages: MarkdownTable, kinds: MarkdownTable, tally: TurnsTally, words: WordTable)
    {
        var table = MarkdownTable(
            "room", "quiet after ms", "of", "silent after ms", "missed", "of", "old after it", "heard off ms",
            "no interruption: ducked", "held", "ended", "cut short", "of")
        var stages = MarkdownTable("room", "decided", "told", "quiet")
        var kinds = MarkdownTable("sound", "ducked", "held", "ended", "of", "softened s")
        var byKind = [TurnsTally](repeating: TurnsTally(), count: NearSound.harmless.count)
        var all = TurnsTally()
        var words = WordTable()
        for (name, room) in rooms {
            var tally = TurnsTally()
            for seed in seeds {
                let spoken = try Story(.speech, room: room, seed: seed)
                tally.addInterruption(spoken)
                words.add(spoken, seed: seed, isNoisy: false)
                for (kind, sound) in NearSound.harmless.enumerated() {
                    let story = try Story(sound, room: room, seed: seed)
                    tally.addOther(story)
                    byKind[kind].addOther(story)
                }
            }
            table.add(
                name, TurnsTally.median(tally.quiet).fixed(0), String(tally.quiet.count),
                TurnsTally.median(tally.silent).fixed(0), String(tally.missed), String(tally.interruptions),
                String(tally.old),
                TurnsTally.p95(tally.errors).fixed(1), String(tally.falselyDucked), String(tally.falselyHeld),
                String(tally.falselyEnded), String(tally.cutShort), String(tally.others))
            stages.add(
                name, TurnsTally.median(tally.decided).fixed(0), TurnsTally.median(tally.told).fixed(0),
                TurnsTally.median(tally.carriedOut).fixed(0))
            all.add(tally)
        }
        for (sound, tally) in zip(NearSound.harmless, byKind) {
            kinds.add(
                "\(sound)", String(tally.falselyDucked), String(tally.falselyHeld), String(tally.falselyEnded),
                String(tally.others), (tally.softened / Double(max(1, tally.others))).fixed(2))
        }
        return (table, stages, kinds, all, words)
    }

    private static func harderScenes() throws
        -> (table: MarkdownTable, tallies: [TurnsTally], evenly: TurnsTally, noisy: TurnsTally, words: WordTable)
    {
        var table = MarkdownTable("scene", "quiet after ms", "of", "silent after ms", "missed", "of", "old after it")
        var tallies: [TurnsTally] = []
        var evenly = TurnsTally()
        var noisyAll = TurnsTally()
        var words = WordTable()
        func add(_ name: String, _ tally: TurnsTally, counts: Bool = true) {
            table.add(
                name, TurnsTally.median(tally.quiet).fixed(0), String(tally.quiet.count),
                TurnsTally.median(tally.silent).fixed(0), String(tally.missed), String(tally.interruptions),
                String(tally.old))
            if counts { tallies.append(tally) }
        }
        for (name, room) in rooms {
            var (noisy, even, weak, remote) = (TurnsTally(), TurnsTally(), TurnsTally(), TurnsTally())
            var (noisyRoom, evenRoom, weakRoom) = (room, room, room)
            noisyRoom.noise = AmbientNoise(.pink, levelDecibels: noise)
            evenRoom.nearGainDecibels = -room.echoReturnLossDecibels
            weakRoom.nearGainDecibels = -room.echoReturnLossDecibels - 10
            for seed in seeds {
                let heard = try Story(.speech, room: noisyRoom, seed: seed)
                noisy.addInterruption(heard)
                words.add(heard, seed: seed, isNoisy: true)
                if room.echoPath != nil {
                    let evenly = try Story(.speech, room: evenRoom, seed: seed)
                    even.addInterruption(evenly)
                    words.add(evenly, seed: seed, isNoisy: false)
                    weak.addInterruption(try Story(.speech, room: weakRoom, seed: seed))
                }
                remote.addInterruption(try RemoteStory(room: noisyRoom, seed: seed))
            }
            add("\(name), noise", noisy)
            if room.echoPath != nil {
                add("\(name), 0 dB", even)
                // Beyond what is asked for, and in no sum
                add("\(name), -10 dB", weak, counts: false)
            }
            add("\(name), room", remote)
            evenly.add(even)
            noisyAll.add(noisy)
            noisyAll.add(remote)
        }
        return (table, tallies, evenly, noisyAll, words)
    }
}
