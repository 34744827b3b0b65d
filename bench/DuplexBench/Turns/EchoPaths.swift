import VoiceEngine
import VoiceSimulation

/// The matrix of ways by which an agent's sound comes back to its microphone: rooms, and what is the matter with them.
struct EchoPaths {
    private static let all: [(name: String, room: RoomConditions)] = [
        ("office", .office), ("living room", .livingRoom), ("car", .car), ("headset", .headset),
    ]
    /// Those that `--rooms` asks for; without it, all.
    static let rooms: [(name: String, room: RoomConditions)] = {
        guard let wanted = BenchmarkLength.value(of: "--rooms")?.split(separator: ",") else { return all }
        if wanted.isEmpty { fail("bench: --rooms takes names with commas between", code: usageError) }
        for name in wanted where !all.contains(where: { $0.name.hasPrefix(name) }) {
            let names = all.map(\.name).joined(separator: ",")
            fail("bench: --rooms takes \(names) and '\(name)' is none", code: usageError)
        }
        return all.filter { room in wanted.contains { room.name.hasPrefix($0) } }
    }()
    /// Noise that may hide an echo, 15 dB below a talker, dBFS.
    static let noise = Story.level - 15

    static let description = """
        Stories with nobody there, \(Int(Solitude.length)) s each. "Louder": the echo is 10 dB stronger. "Walker", "hand": somebody walks about, the \
        microphone is held in a hand. "Drift": the loudspeaker's clock is 100 ppm fast. "Noise": pink, at \(Int(noise)) dBFS. Before and after the \
        canceller was first told to be trusted, in the time of the stories that the agent was let tell.
        """

    private let changes: [(name: String, change: (inout RoomConditions) -> Void)] = [
        ("as it is", { _ in }), ("louder", { $0.echoReturnLossDecibels -= 10 }),
        ("walker", { $0.movement = .walker(share: 0.5, step: .seconds(2)) }),
        ("hand", { $0.movement = .microphone(reach: [0.05, 0.05, 0.02], step: .milliseconds(800)) }),
        ("drift", { $0.loudspeakerClockPPM = 100 }),
        ("noise", { $0.noise = AmbientNoise(.pink, levelDecibels: EchoPaths.noise) }),
    ]
    private let echoing = EchoPaths.rooms.filter { $0.room.echoPath != nil }

    /// As many seeds as make so many hours; one where no room has an echo.
    func seeds(hours: Double) -> ClosedRange<UInt64> {
        let each = Solitude.length * Double(changes.count * max(1, echoing.count))
        return 1...UInt64((hours * 3_600 / each).rounded(.up))
    }

    /// What an agent's own echo did to it.
    func run(seeds: ClosedRange<UInt64>) throws -> (table: MarkdownTable, total: SolitudeTally) {
        var table = MarkdownTable(
            "room", "before: ducked", "held", "ended", "s", "after: ducked", "held ", "ended ", "h")
        var all = SolitudeTally()
        for (name, room) in echoing {
            for (kind, change) in changes {
                var conditions = room
                change(&conditions)
                var tally = SolitudeTally()
                for seed in seeds { tally.add(try Solitude(room: conditions, seed: seed)) }
                table.add(
                    ["\(name), \(kind)"] + tally.before.cells + [tally.secondsBefore.fixed(0)] + tally.after.cells
                        + [(tally.secondsAfter / 3_600).fixed(3)])
                all.add(tally)
            }
        }
        return (table, all)
    }
}
