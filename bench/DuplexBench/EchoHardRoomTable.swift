import VoiceEngine
import VoiceSimulation

/// The hard rooms, each through every backend, and through AEC3 where that is there.
struct HardRoomTable {
    private static let seeds: ClosedRange<UInt64> = 1...2
    private static let backends: [ProcessingBackend] = [.native, .webRTC, .speexDSP]

    static let description = """
        An office with one difficulty at a time, for the seeds \(seeds.lowerBound) and \(seeds.upperBound), 12 s each: the far end alone, then \
        both from 6 s on, about equally loud in the microphone. "ERLE": dB of echo gone from 3 to 6 s, noise and all; "-" where a second \
        talker speaks all the time. Our backends have the least echo suppression, AEC3 its ordinary one. "Talker": signal-to-distortion ratio of the near talkers in dB while both talk; "before": of the \
        unprocessed microphone. Means of the seeds.
        """

    private(set) var table: MarkdownTable
    private(set) var summary: [(key: String, value: SummaryValue)] = []

    init(beside aec3: AEC3Program?) throws {
        let names = Self.backends.map(\.name) + (aec3 == nil ? [] : ["AEC3"])
        table = MarkdownTable(
            ["difficulty"] + names.map { "ERLE \($0)" } + names.map { "talker \($0)" } + ["before"])
        let delay = try aec3?.delay(rate: 48_000) ?? 0
        for room in HardRoom.all {
            try add(room, names) { recording in
                var runs = try Self.backends.map { try EchoRun(recording, through: $0) }
                if let aec3 { runs.append(try EchoRun(recording, through: aec3, delay: delay)) }
                return runs
            }
        }
    }

    private mutating func add(
        _ room: HardRoom, _ names: [String], runs: (EchoRecording) throws -> [EchoRun]
    ) throws {
        var gone = names.map { _ in 0.0 }
        var kept = gone
        var before = 0.0
        let share = 1 / Double(Self.seeds.count)
        let talk = HardRoom.nearStart..<HardRoom.frames
        for seed in Self.seeds {
            let recording = try room.recording(seed: seed)
            before += share * (try EchoRun(recording, through: .bypass).distortion(of: recording, in: talk))
            for (index, run) in try runs(recording).enumerated() {
                let isAlone = room.competitorDecibels == nil
                gone[index] += isAlone ? share * run.enhancement(of: recording, in: HardRoom.farAlone) : .nan
                kept[index] += share * run.distortion(of: recording, in: talk)
            }
        }
        table.add([room.name] + (gone + kept + [before]).map { $0.fixed(1) })
        let name = room.name.filter { $0.isLetter || $0 == " " }.split(separator: " ").joined(separator: "_")
        for index in names.indices {
            let key = "hard_\(name)_\(names[index])".lowercased()
            summary.append(("\(key)_erle_db", .number(gone[index], digits: 2)))
            summary.append(("\(key)_sdr_db", .number(kept[index], digits: 2)))
        }
    }
}
