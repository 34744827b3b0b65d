import SimulatedCalls
import VoiceEngine
import VoiceSimulation

extension Benchmark {
    /// What interruptions do to an agent's answers, and what does not interrupt them.
    static let turns = Benchmark(
        name: "turns",
        purpose:
            "answers that are spoken into: how soon quiet and silent, what is missed, what is taken for an interruption; --long: ten hours of an agent alone",
        run: TurnsBenchmark.run)
}

/// An agent tells a story over a loudspeaker; a person speaks into it, makes another sound, or is silent.
private enum TurnsBenchmark {
    private static let rooms: [(name: String, room: RoomConditions)] = [
        ("office", .office), ("living room", .livingRoom), ("car", .car), ("headset", .headset),
    ]
    private static let seeds: ClosedRange<UInt64> = BenchmarkLength.isLong ? 1...10 : 1...5
    /// Noise of a room 15 dB below the person, dBFS.
    private static let noise = Story.level - 15
    private static let words = 100

    static func run() throws -> BenchmarkResult {
        let local = try everyRoom()
        let harder = try harderScenes()
        let (alone, byItself) = try echoPaths()
        let whole = try FirstWords.count(of: words)
        var all = local.tally
        for tally in harder.tallies { all.add(tally) }
        let heard = try? SpeechBenchmark.run().summary
        func detector(_ key: String) -> (key: String, value: SummaryValue) {
            (key, heard?.first { $0.key == key }?.value ?? .number(.nan, digits: 0))
        }
        return BenchmarkResult(
            description: description, table: local.table,
            summary: ["vad_f1_10db", "vad_f1_0db", "vad_false_per_min", "vad_told_ms"].map(detector) + [
                ("barge_in_duck_ms", .number(TurnsTally.median(all.quiet), digits: 0)),
                ("barge_in_silent_ms", .number(TurnsTally.median(all.silent), digits: 0)),
                ("self_interruptions_per_h", .number(byItself.perHour, digits: 2)),
                ("missed_ratio", .number(harder.evenly.missedRatio, digits: 3)),
                ("false_confirmed_ratio", .number(local.tally.falseRatio, digits: 3)),
                ("old_samples_after_interrupt", .integer(all.old)),
                ("heard_error_p95_ms", .number(TurnsTally.p95(all.errors), digits: 1)),
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
                    "Harder",
                    """
                    Speech of 2.5 s, as above. "Noise": pink, 15 dB below the person. "0 dB": the person is as loud at the microphone as the echo. "Room": the agent \
                    is in another engine, at 2 % loss and 15 ± 8 ms of jitter, with that noise; the loudspeaker is compared with that of the same call whose agent \
                    does not give way.
                    """, harder.table
                ),
                (
                    "By itself",
                    """
                    Stories with nobody there, \(Int(Solitude.length)) s each. "Louder": the echo is 10 dB stronger. "Walker", "hand": somebody walks about, the \
                    microphone is held in a hand. "Drift": the loudspeaker's clock is 100 ppm fast. Before and after the canceller was first told to be trusted.
                    """, alone
                ),
            ])
    }

    private static var description: String {
        """
        A story of \(Int(Story.length)) s in simulated rooms, seeds \(seeds.lowerBound) to \(seeds.upperBound), agent and person at \
        \(Int(Story.level)) dBFS, the person from \(Int(Story.onset)) s on: speech of 2.5 s (interruptions), a hum of 0.4 s, a blip of 80 ms, \
        a cough of 0.3 s, 3 s of keystrokes, 3 s of babble (no interruptions), or nothing. "Quiet" and "silent": medians from the first sound until the \
        loudspeaker is 6 dB down and until it is silent. "Missed": not given up within 2 s. "Old after it": samples of the story that the \
        loudspeaker sounded more than 40 ms after it was given up. "Heard off": 95 % of what was told of the heard part against the \
        loudspeaker. "Ducked", "held", "ended": how many sounds that are no interruption did that; "cut short": those after which not all of the story was heard.
        """
    }

    private static func everyRoom() throws -> (table: MarkdownTable, stages: MarkdownTable, tally: TurnsTally) {
        var table = MarkdownTable(
            "room", "quiet after ms", "silent after ms", "missed", "of", "old after it", "heard off ms",
            "no interruption: ducked", "held", "ended", "cut short", "of")
        var stages = MarkdownTable("room", "decided", "told", "quiet")
        var all = TurnsTally()
        for (name, room) in rooms {
            var tally = TurnsTally()
            for seed in seeds {
                tally.addInterruption(try Story(.speech, room: room, seed: seed))
                for sound in NearSound.harmless { tally.addOther(try Story(sound, room: room, seed: seed)) }
            }
            table.add(
                name, TurnsTally.median(tally.quiet).fixed(0), TurnsTally.median(tally.silent).fixed(0),
                String(tally.missed), String(tally.interruptions), String(tally.old),
                TurnsTally.p95(tally.errors).fixed(1), String(tally.falselyDucked), String(tally.falselyHeld),
                String(tally.falselyEnded), String(tally.cutShort), String(tally.others))
            stages.add(
                name, TurnsTally.median(tally.decided).fixed(0), TurnsTally.median(tally.told).fixed(0),
                TurnsTally.median(tally.carriedOut).fixed(0))
            all.add(tally)
        }
        return (table, stages, all)
    }

    private static func harderScenes() throws
        -> (table: MarkdownTable, tallies: [TurnsTally], evenly: TurnsTally)
    {
        var table = MarkdownTable("scene", "quiet after ms", "silent after ms", "missed", "of", "old after it")
        var tallies: [TurnsTally] = []
        var evenly = TurnsTally()
        func add(_ name: String, _ tally: TurnsTally) {
            table.add(
                name, TurnsTally.median(tally.quiet).fixed(0), TurnsTally.median(tally.silent).fixed(0),
                String(tally.missed), String(tally.interruptions), String(tally.old))
            tallies.append(tally)
        }
        for (name, room) in rooms {
            var (noisy, even, remote) = (TurnsTally(), TurnsTally(), TurnsTally())
            var (noisyRoom, evenRoom) = (room, room)
            noisyRoom.noise = AmbientNoise(.pink, levelDecibels: noise)
            evenRoom.nearGainDecibels = -room.echoReturnLossDecibels
            for seed in seeds {
                noisy.addInterruption(try Story(.speech, room: noisyRoom, seed: seed))
                if room.echoPath != nil { even.addInterruption(try Story(.speech, room: evenRoom, seed: seed)) }
                remote.addInterruption(try RemoteStory(room: noisyRoom, seed: seed))
            }
            add("\(name), noise", noisy)
            if room.echoPath != nil { add("\(name), 0 dB", even) }
            add("\(name), room", remote)
            evenly.add(even)
        }
        return (table, tallies, evenly)
    }

    private static func echoPaths() throws -> (table: MarkdownTable, total: SolitudeTally) {
        let changes: [(name: String, change: (inout RoomConditions) -> Void)] = [
            ("as it is", { _ in }), ("louder", { $0.echoReturnLossDecibels -= 10 }),
            ("walker", { $0.movement = .walker(share: 0.5, step: .seconds(2)) }),
            ("hand", { $0.movement = .microphone(reach: [0.05, 0.05, 0.02], step: .milliseconds(800)) }),
            ("drift", { $0.loudspeakerClockPPM = 100 }),
        ]
        var table = MarkdownTable(
            "room", "before: ducked", "held", "ended", "s", "after: ducked", "held ", "ended ", "h")
        var all = SolitudeTally()
        let echoing = rooms.filter { $0.room.echoPath != nil }
        let each = BenchmarkLength.isLong ? 10 * 3_600 / Double(changes.count * echoing.count) : Solitude.length
        for (name, room) in echoing {
            for (kind, change) in changes {
                var conditions = room
                change(&conditions)
                var tally = SolitudeTally()
                var seed: UInt64 = 1
                while tally.seconds < each {
                    tally.add(try Solitude(room: conditions, seed: seed))
                    seed += 1
                }
                table.add(
                    ["\(name), \(kind)"] + tally.before.cells + [tally.secondsBefore.fixed(0)] + tally.after.cells
                        + [(tally.secondsAfter / 3_600).fixed(3)])
                all.add(tally)
            }
        }
        return (table, all)
    }
}
