import SimulatedCalls
import VoiceEngine
import VoiceSimulation

extension Benchmark {
    /// What interruptions do to an agent's answers, and what does not interrupt them.
    static let turns = Benchmark(
        name: "turns",
        purpose:
            "answers that are spoken into: how soon quiet and silent, what is missed, what is taken for an interruption",
        run: TurnsBenchmark.run)
}

/// An agent in the engine's process tells a story over a loudspeaker; a person speaks into it, makes another sound, or is silent.
private enum TurnsBenchmark {
    private static let rooms: [(name: String, room: RoomConditions)] = [
        ("office", .office), ("living room", .livingRoom), ("car", .car), ("headset", .headset),
    ]
    private static let seeds: ClosedRange<UInt64> = 1...10

    static func run() throws -> BenchmarkResult {
        var table = MarkdownTable(
            "room", "quiet after ms", "silent after ms", "missed", "of", "old after it", "heard off ms",
            "no interruption: ended",
            "held", "of", "by itself: held", "ended", "h")
        var all = TurnsTally()
        for (name, room) in rooms {
            var tally = TurnsTally()
            for seed in seeds {
                tally.addInterruption(try Story(.speech, room: room, seed: seed))
                for sound in [NearSound.hum, .blip, .cough, .keyboard] {
                    tally.addOther(try Story(sound, room: room, seed: seed))
                }
                tally.addSilence(try Story(.nothing, room: room, seed: seed))
            }
            table.add(
                name, TurnsTally.median(tally.quiet).fixed(0), TurnsTally.median(tally.silent).fixed(0),
                String(tally.missed),
                String(tally.interruptions), String(tally.old), TurnsTally.p95(tally.errors).fixed(1),
                String(tally.falselyEnded),
                String(tally.falselyHeld), String(tally.others), String(tally.selfHeld), String(tally.selfEnded),
                tally.hours.fixed(2))
            all.add(tally)
        }
        return BenchmarkResult(
            description: """
                A story of \(Int(Story.length)) s in simulated rooms, seeds \(seeds.lowerBound) to \(seeds.upperBound), agent and person at \
                \(Int(Story.level)) dBFS, the person from \(Int(Story.onset)) s on: speech of 2.5 s (interruptions), a hum of 0.4 s, a blip of 80 ms, \
                a cough of 0.3 s, 3 s of keystrokes (no interruptions), or nothing. "Quiet" and "silent": medians from the first sound until the \
                loudspeaker is 6 dB down and until it is silent. "Missed": not given up within 2 s. "Old after it": samples of the story that the \
                loudspeaker sounded more than 40 ms after it was given up. "Heard off": 95 % of what was told of the heard part against the \
                loudspeaker. "By itself": the story held, and ended, with nobody there; the first seconds of an unknown room included.
                """,
            table: table,
            summary: [
                ("barge_in_duck_ms", .number(TurnsTally.median(all.quiet), digits: 0)),
                ("barge_in_silent_ms", .number(TurnsTally.median(all.silent), digits: 0)),
                ("self_interruptions_per_h", .number(Double(all.selfHeld + all.selfEnded) / all.hours, digits: 1)),
                ("missed_ratio", .number(Double(all.missed) / Double(all.interruptions), digits: 3)),
                ("false_confirmed_ratio", .number(Double(all.falselyEnded) / Double(all.others), digits: 3)),
                ("old_samples_after_interrupt", .integer(all.old)),
                ("heard_error_p95_ms", .number(TurnsTally.p95(all.errors), digits: 1)),
            ])
    }
}

/// What many stories add up to. Times in milliseconds.
private struct TurnsTally {
    var quiet: [Double] = []
    var silent: [Double] = []
    var errors: [Double] = []
    var (interruptions, missed, old) = (0, 0, 0)
    var (others, falselyHeld, falselyEnded) = (0, 0, 0)
    var (selfHeld, selfEnded) = (0, 0)
    var hours = 0.0

    static func median(_ values: [Double]) -> Double { values.isEmpty ? .nan : Samples(values).median }
    static func p95(_ values: [Double]) -> Double { values.isEmpty ? .nan : Samples(values).quantile(0.95) }

    mutating func addInterruption(_ story: Story) {
        interruptions += 1
        guard let ended = story.ended, ended < story.spoken + 2 else { return missed += 1 }
        if let quiet = story.quietAt { self.quiet.append(1_000 * (quiet - story.spoken)) }
        silent.append(1_000 * (story.lastSound - story.spoken))
        old += story.soundingFrames(from: ended + 0.04)
        if let error = story.heardError { errors.append(error) }
    }

    mutating func addOther(_ story: Story) {
        others += 1
        falselyHeld += story.times(of: .held).isEmpty ? 0 : 1
        falselyEnded += story.ended == nil ? 0 : 1
    }

    mutating func addSilence(_ story: Story) {
        selfHeld += story.times(of: .held).count
        selfEnded += story.ended == nil ? 0 : 1
        hours += Story.length / 3_600
    }

    mutating func add(_ other: TurnsTally) {
        quiet += other.quiet
        silent += other.silent
        errors += other.errors
        (interruptions, missed, old) = (interruptions + other.interruptions, missed + other.missed, old + other.old)
        (others, falselyHeld, falselyEnded) = (
            others + other.others, falselyHeld + other.falselyHeld, falselyEnded + other.falselyEnded
        )
        (selfHeld, selfEnded, hours) = (selfHeld + other.selfHeld, selfEnded + other.selfEnded, hours + other.hours)
    }
}

/// What a person does while the agent tells its story.
private enum NearSound: UInt64 {
    case nothing, speech, hum, blip, cough, keyboard

    /// Samples of 48 kHz, the first of them sounding.
    func samples(seed: UInt64, level: Double) -> [Float] {
        let speech = SyntheticSpeech.samples(frames: 192_000, seed: seed, voice: .high, levelDecibels: level)
        let voiced = Array(speech[(speech.firstIndex { abs($0) > 0.005 } ?? 0)...])
        var random = SeededGenerator(seed: seed)
        func noise(_ frames: Int, _ peak: Float) -> [Float] {
            (0..<frames).map { frame in
                let value = Float(Int64(bitPattern: random.next() as UInt64) >> 40) / 8_388_608
                return peak * value * (1 - Float(frame) / Float(frames))
            }
        }
        return switch self {
        case .nothing: []
        case .speech: Array(voiced.prefix(120_000))
        case .hum: Array(voiced.prefix(19_200))
        case .blip: Array(voiced.prefix(3_840))
        case .cough: noise(6_000, 0.3) + noise(8_400, 0.2)
        case .keyboard: (0..<20).flatMap { _ in noise(960, 0.1) + [Float](repeating: 0, count: 6_240) }
        }
    }
}

/// One story, from half a second on.
private struct Story {
    static let length = 20.0
    static let begin = 0.5
    static let onset = 9.0
    static let level = -26.0
    private static let audible: Float = 0.001

    private let story: [Float]
    private let recording: AirRecording
    private let changes: [(stage: BargeInStage, time: Double)]
    private let heard: Duration?
    /// When the person's first sound was.
    let spoken: Double
    /// When the answer was given up; nil where it was not.
    let ended: Double?

    init(_ sound: NearSound, room: RoomConditions, seed: UInt64) throws {
        let silence = [Float](repeating: 0, count: Int(Self.onset * 48_000))
        let person = silence + sound.samples(seed: seed &* 31 &+ sound.rawValue, level: Self.level)
        var configuration = SimulatedConversation.Configuration(talker: SpeechSource(person, repetition: .once))
        configuration.seed = seed
        configuration.room = room
        configuration.longest = .seconds(Self.length + 2)
        let talk = try SimulatedConversation(configuration)
        story = SyntheticSpeech.samples(
            frames: Int(Self.length * 48_000), seed: seed &+ 1_000, voice: .low, levelDecibels: Self.level)
        talk.run(for: .seconds(Self.begin))
        talk.answer(nil, story)
        talk.run(for: .seconds(Self.length + 1))
        recording = talk.recording
        changes = talk.told.compactMap { told in
            if case .bargeIn(_, let change) = told.event { (change.stage, told.time / .seconds(1)) } else { nil }
        }
        ended = changes.first { $0.stage == .confirmed }?.time
        heard =
            talk.told.compactMap { if case .answerEnded(_, let heard) = $0.event { heard.heard } else { nil } }.first
        spoken = Double(recording.near.firstIndex { abs($0) > Self.audible } ?? 0) / 48_000
    }

    func times(of stage: BargeInStage) -> [Double] { changes.filter { $0.stage == stage }.map(\.time) }

    /// Where the story's first frame is in the recording, as long as nothing was repeated.
    private var offset: Int? {
        guard let first = recording.speaker.firstIndex(where: { abs($0) > Self.audible }),
            let begin = story.firstIndex(where: { abs($0) > Self.audible })
        else { return nil }
        return first - begin
    }

    /// When the loudspeaker was first 6 dB below the story after the person had begun; nil where it was held before.
    var quietAt: Double? {
        guard let offset, changes.first.map({ $0.time >= spoken }) ?? false else { return nil }
        let from = Int(spoken * 48_000)
        for frame in from..<min(recording.speaker.count, offset + story.count) where abs(story[frame - offset]) > 0.01 {
            if abs(recording.speaker[frame]) < 0.5 * abs(story[frame - offset]) { return Double(frame) / 48_000 }
        }
        return nil
    }

    /// When the loudspeaker last sounded.
    var lastSound: Double { Double(recording.speaker.lastIndex { abs($0) > Self.audible } ?? 0) / 48_000 }

    func soundingFrames(from time: Double) -> Int {
        recording.speaker.dropFirst(Int(time * 48_000)).count { abs($0) > Self.audible }
    }

    /// How far what was told of the heard part is off, ms; nil where something was repeated, or nothing told.
    var heardError: Double? {
        guard let heard, let offset, !changes.contains(where: { $0.stage == .none }) else { return nil }
        let part = story.prefix(Int(heard / .microseconds(1)) * 48 / 1_000)
        guard let last = part.lastIndex(where: { abs($0) > Self.audible }),
            let sounded = recording.speaker.lastIndex(where: { abs($0) > Self.audible })
        else { return nil }
        return abs(Double(sounded - offset - last)) / 48
    }
}
