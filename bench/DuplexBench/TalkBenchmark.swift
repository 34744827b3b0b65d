import Dispatch
import ScriptedRealtime
import SimulatedCalls
import Synchronization
import TestCases
import VoiceDevices
import VoiceEngine
import VoicePartner
import VoiceSimulation

extension Benchmark {
    /// What a partner adds to its recogniser and its synthesiser, and what an interruption of it is like.
    static let talk = Benchmark(
        name: "talk",
        purpose: "a partner in real time: what it adds to its recogniser and synthesiser, and how exactly it is cut",
        run: TalkBenchmark.run)
}

private enum TalkBenchmark {
    private static let seeds: ClosedRange<UInt64> = 1...6

    static func run() throws -> BenchmarkResult {
        let rounds = try seeds.map { seed in try waiting { try await TalkRound(seed: seed) } }
        func median(_ values: [Double]) -> Double { values.isEmpty ? .nan : Samples(values).median }
        func worst(_ values: [Double]) -> Double { values.max() ?? .nan }
        let overhead = rounds.flatMap(\.overhead)
        let endOfTurn = rounds.flatMap(\.endOfTurn)
        let silent = rounds.compactMap(\.silentAfterBargeIn)
        let errors = rounds.compactMap(\.truncateError)
        let dialogs = try RandomDialogs()
        var table = MarkdownTable("", "median ms", "worst ms", "of")
        for (name, values) in [
            ("end of speech to end of turn", endOfTurn), ("end of turn to first sound", overhead),
            ("barge-in to silence", silent), ("what was heard, against the loudspeaker", errors),
        ] { table.add(name, median(values).fixed(1), worst(values).fixed(1), String(values.count)) }
        return BenchmarkResult(
            description: """
                A person in a simulated office asks, is told a story, speaks into it and is answered again: in real time on this machine, seeds \
                \(seeds.lowerBound) to \(seeds.upperBound). Recogniser and synthesiser are scripted and take no time, so that "end of turn to first \
                sound", at the loudspeaker, is what the engine and the partner add. "Barge-in to silence": from the person's first sound to the \
                last of the loudspeaker's. "What was heard": where the story lies in the loudspeaker's sound is told by the half second before the interruption; \
                a machine that is too late lets the loudspeaker run dry, in \(rounds.count(where: \.ranDry)) of the rounds here. In \(RandomDialogs.count) random dialogs of a Realtime client, of messages of the server, \
                interruptions, cuts and breaks in any order, \(dialogs.stale) samples of an answer were handed out after it was cancelled, and \
                \(dialogs.wrongTruncations) of \(dialogs.truncations) truncations lay outside of what was received.
                """,
            table: table,
            summary: [
                ("overhead_ms", .number(median(overhead), digits: 1)),
                ("end_of_turn_ms", .number(median(endOfTurn), digits: 1)),
                ("silent_after_barge_in_ms", .number(median(silent), digits: 1)),
                ("truncate_error_ms", .number(median(errors), digits: 1)),
                ("truncate_error_worst_ms", .number(worst(errors), digits: 1)),
                ("stale_after_cancel", .integer(dialogs.stale)),
                ("truncations_outside", .integer(dialogs.wrongTruncations)),
                ("interleavings", .integer(RandomDialogs.count)),
                ("rounds", .integer(rounds.count)), ("interrupted", .integer(errors.count)),
                ("ran_dry", .integer(rounds.count(where: \.ranDry))),
            ])
    }

    /// Waits for what is asynchronous.
    private static func waiting<Outcome: Sendable>(
        _ body: @escaping @Sendable () async throws -> Outcome
    ) throws -> Outcome {
        let box = Box<Outcome>()
        let done = DispatchSemaphore(value: 0)
        Task {
            let outcome: Result<Outcome, any Error>
            do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
            box.outcome.withLock { $0 = outcome }
            done.signal()
        }
        done.wait()
        guard let outcome = box.outcome.withLock(\.self) else { throw CancellationError() }
        return try outcome.get()
    }

    private final class Box<Outcome: Sendable>: Sendable {
        let outcome = Mutex<Result<Outcome, any Error>?>(nil)
    }
}

/// Dialogs of a Realtime client in random orders.
private struct RandomDialogs {
    static let count = 1_000
    private(set) var (stale, truncations, wrongTruncations) = (0, 0, 0)

    init() throws {
        for seed in 0..<UInt64(Self.count) {
            var numbers = SeededNumbers(seed: seed)
            let dialog = try RandomDialog(&numbers)
            stale += dialog.staleAfterCancel
            truncations += dialog.truncations
            wrongTruncations += dialog.wrongTruncations
        }
    }
}

/// A recogniser and a synthesiser that take no time.
private struct Script: Recogniser, Responder, Synthesiser {
    let story: [Float]

    func prepare() async throws(PartnerError) {}

    func recognise(
        _ sound: AsyncStream<[Float]>, partial: @escaping @Sendable (String) async -> Void
    ) async throws(PartnerError) -> String {
        for await _ in sound {}
        return "tell me a story"
    }

    func respond(to dialogue: Dialogue, say: @escaping @Sendable (String) async -> Bool) async throws(PartnerError) {
        _ = await say("A story.")
    }

    func synthesise(
        _ sentence: String, play: @escaping @Sendable (SpeechFragment) async -> Bool
    ) async throws(PartnerError) {
        for start in stride(from: 0, to: story.count, by: 960) {
            guard await play(SpeechFragment(Array(story[start..<min(start + 960, story.count)]), rate: .hertz48000))
            else { return }
        }
    }
}

/// One question, one story, one interruption and what followed.
private struct TalkRound {
    private static let level = -26.0
    private static let audible: Float = 0.001
    private static let length = 15.0

    /// Milliseconds, of each answer.
    private(set) var overhead: [Double] = []
    private(set) var endOfTurn: [Double] = []
    /// Of the interruption; nil where there was none.
    private(set) var silentAfterBargeIn: Double?
    private(set) var truncateError: Double?
    /// The loudspeaker ran dry, as on a machine that was too late: its sound has gaps that the story does not have.
    private(set) var ranDry = false

    init(seed: UInt64) async throws {
        let story = SyntheticSpeech.samples(
            frames: 12 * 48_000, seed: seed &+ 1_000, voice: .low, levelDecibels: Self.level)
        let frames = Int(Self.length * 48_000)
        var random = SeededGenerator(seed: seed)
        let air = ConversationAir(
            acoustics: try RoomAcoustics(.office, seed: random.next()),
            talker: SpeechSource(Self.person(seed: seed), repetition: .once), longestRecording: frames)
        let card = try SimulatedDevice(
            air: air, configuration: SimulatedDeviceConfiguration(pacing: .realTime(priority: 71)))
        var configuration = EngineConfiguration.voiceAgent
        configuration.device = .custom(card)
        let engine = VoiceEngine(configuration)
        try await engine.start()
        let conversation = try await engine.converse()
        let script = Script(story: story)
        let events = Told()
        let talk = Task {
            try await CascadePartner(recogniser: script, responder: script, synthesiser: script)
                .converse(in: conversation) {
                    if case .turn(let event) = $0 { events.list.withLock { $0.append(event) } }
                }
        }
        try await Task.sleep(for: .seconds(Self.length))
        let playback = try await engine.statistics().device.playback
        ranDry = playback.underrunFrames > 0 || playback.xruns > 0
        await engine.stop()
        _ = await talk.result
        take(events.list.withLock(\.self), card.withAir { $0.recording }, story)
    }

    private final class Told: Sendable {
        let list = Mutex<[TurnEvent]>([])
    }

    /// Speaks from 2 to 3.5 s and from 9 to 11 s.
    private static func person(seed: UInt64) -> [Float] {
        let speech = SyntheticSpeech.samples(frames: 240_000, seed: seed, voice: .high, levelDecibels: level)
        let voiced = speech[(speech.firstIndex { abs($0) > 0.005 } ?? 0)...]
        func silence(_ seconds: Double) -> [Float] { Array(repeating: 0, count: Int(seconds * 48_000)) }
        return silence(2) + voiced.prefix(72_000) + silence(5.5) + voiced.dropFirst(72_000).prefix(96_000)
    }

    private mutating func take(_ told: [TurnEvent], _ recording: AirRecording, _ story: [Float]) {
        for case .answerStarted(_, let latency) in told {
            overhead.append((latency.agent + latency.playback) / .milliseconds(1))
            endOfTurn.append(latency.endOfTurn / .milliseconds(1))
        }
        let cut = told.compactMap { event in
            if case .answerEnded(_, let heard) = event, heard.reason == .interrupted { heard.heard } else { nil }
        }
        let speaker = recording.speaker
        guard let heard = cut.first, let first = speaker.firstIndex(where: { abs($0) > Self.audible }),
            let begin = story.firstIndex(where: { abs($0) > Self.audible }),
            let spoken = recording.near.dropFirst(6 * 48_000).firstIndex(where: { abs($0) > Self.audible })
        else { return }
        // The next answer comes 2.7 s after the person began, at the earliest.
        guard let last = speaker.prefix(spoken + 120_000).lastIndex(where: { abs($0) > Self.audible }) else { return }
        silentAfterBargeIn = Double(last - spoken) / 48
        // Where something was repeated, frames of the story and of the loudspeaker do not match any more.
        guard !told.contains(where: { if case .bargeIn(_, let change) = $0 { change.stage == .none } else { false } })
        else { return }
        let part = story.prefix(Int(heard / .microseconds(1)) * 48 / 1_000)
        guard let end = part.lastIndex(where: { abs($0) > Self.audible }) else { return }
        // Before it is silent it is ducked by 12 dB: what is as soft of the story then sounds a quarter as loud.
        guard let sounded = speaker.prefix(spoken + 120_000).lastIndex(where: { abs($0) > Self.audible / 4 })
        else { return }
        let offset = Self.offset(of: story, in: speaker, before: spoken, from: first - begin)
        truncateError = abs(Double(sounded - offset - end)) / 48
    }

    /// Where the story's first frame would be in the loudspeaker's sound, by the half second before a frame: where the
    /// loudspeaker ran dry before that, the story lies later than it began.
    private static func offset(of story: [Float], in speaker: [Float], before end: Int, from earliest: Int) -> Int {
        let length = 24_000
        guard end >= length, end - length >= earliest + longestGap else { return earliest }
        func likeness(_ offset: Int) -> Float {
            let start = end - length - offset
            guard start >= 0, start + length <= story.count else { return 0 }
            return (0..<length).reduce(0) { $0 + speaker[end - length + $1] * story[start + $1] }
        }
        return (earliest...earliest + longestGap).max { likeness($0) < likeness($1) } ?? earliest
    }

    /// All gaps of a story together, frames: 100 ms.
    private static let longestGap = 4_800
}
