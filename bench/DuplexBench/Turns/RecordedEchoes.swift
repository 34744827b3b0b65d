import Foundation
import SimulatedCalls
import VoiceDevices
import VoiceEngine
import VoiceSimulation

/// An agent that says what was played on real devices, and hears what their microphones recorded meanwhile, with nobody
/// there.
///
///     far end ─► conversation ─► engine ─► loudspeaker, which nobody hears
///     microphone's recording ──► engine ─► suspected, held
///
/// What was recorded does not become quieter when the answer is ducked, so ducking does nothing here; and a clip ends
/// when its answer is held.
enum RecordedEchoes {
    static func run(_ folder: String) throws -> BenchmarkResult {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted().compactMap { name in
            name.hasSuffix(Self.suffix) && name.contains("farend_singletalk")
                ? String(name.dropLast(Self.suffix.count)) : nil
        }
        guard !names.isEmpty else {
            throw RecordedFailure("there are no *farend_singletalk*\(Self.suffix) in \(folder)")
        }
        var table = MarkdownTable(
            "recording", "from s", "s", "ready after s", "ducked", "held after s", "given up", "of")
        var (before, after) = (Solitude.Counts(), Solitude.Counts())
        var (secondsBefore, secondsAfter) = (0.0, 0.0)
        var (clips, held, interruptions, givenUp) = (0, 0, 0, 0)
        for name in names {
            let far = try Self.read("\(folder)/\(name)\(Self.suffix)")
            let microphone = try Self.read("\(folder)/\(name)_mic.wav")
            for place in 0..<places {
                let from = min(far.count, microphone.count) * place / max(places + 1, 2)
                let (far, microphone) = (Array(far[from...]), Array(microphone[from...]))
                let clip = try RecordedEcho(far: far, microphone: microphone)
                let spoken = try BenchmarkLength.seeds.map { seeds in
                    try seeds.map { try RecordedEcho.isGivenUp(far: far, microphone: microphone, seed: $0) }
                }
                let answers = (spoken ?? []).compactMap(\.self)
                table.add(
                    String(name.prefix(8)), (Double(from) / 48_000).fixed(1), clip.seconds.fixed(1),
                    clip.readyAt.map { $0.fixed(1) } ?? "", String(clip.before.ducked + clip.after.ducked),
                    clip.heldAt.map { $0.fixed(1) } ?? "", String(answers.count { $0 }), String(answers.count))
                before.add(clip.before)
                after.add(clip.after)
                secondsBefore += min(clip.seconds, clip.readyAt ?? clip.seconds)
                secondsAfter += clip.seconds - min(clip.seconds, clip.readyAt ?? clip.seconds)
                clips += 1
                held += clip.heldAt == nil ? 0 : 1
                (interruptions, givenUp) = (interruptions + answers.count, givenUp + answers.count { $0 })
            }
        }
        table.add(
            "all, before ready", "", secondsBefore.fixed(1), "", String(before.ducked), "\(before.held) held", "", "")
        table.add(
            "all, after", "", secondsAfter.fixed(1), "", String(after.ducked), "\(after.held) held", String(givenUp),
            String(interruptions))
        return BenchmarkResult(
            description: """
                Recordings of real devices without a near end: the far end is an agent's answer, its echo is what was recorded. "Held after": when the answer \
                fell silent for its own echo, which ends the clip; "ready": when the canceller was first told to be trusted. From the beginning of the answer. \
                "From": where in the recording the answer begins. "Given up": answers that a voice ended within 2 s, which speaks as loud as the echo from the middle on.
                """,
            table: table,
            summary: [
                ("clips", .integer(clips)), ("clips_held", .integer(held)),
                ("held_before", .integer(before.held)), ("held_after", .integer(after.held)),
                ("ducked_before", .integer(before.ducked)), ("ducked_after", .integer(after.ducked)),
                ("seconds_before", .number(secondsBefore, digits: 1)),
                ("seconds_after", .number(secondsAfter, digits: 1)),
                ("interruptions", .integer(interruptions)), ("missed", .integer(interruptions - givenUp)),
            ])
    }

    /// At how many places of a recording an answer begins, `--places`.
    private static let places =
        BenchmarkLength.value(of: "--places").flatMap { Int($0) }.map { min(max($0, 1), 20) } ?? 1

    private static let suffix = "_lpb.wav"

    private static func read(_ path: String) throws -> [Float] {
        try AudioFile.read(path, convertedTo: 48_000).samples
    }
}

struct RecordedFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// One of them.
private struct RecordedEcho {
    private(set) var before = Solitude.Counts()
    private(set) var after = Solitude.Counts()
    /// Seconds of the answer; of one that was held, until then.
    private(set) var seconds = 0.0
    private(set) var readyAt: Double?
    private(set) var heldAt: Double?

    private static let begin = 0.5

    init(far: [Float], microphone: [Float]) throws {
        let delay = try Self.delay(of: far)
        let silence = [Float](repeating: 0, count: delay)
        let length = Double(min(far.count, microphone.count)) / 48_000
        let talk = try Self.talk(silence + microphone, length: length + 4)
        talk.run(for: .seconds(Self.begin))
        guard var answer = LongAnswer(far, in: talk) else { throw RecordedFailure("the answer is refused") }
        var seen = 0
        while seconds < length, heldAt == nil {
            answer.goOn(in: talk)
            talk.run(for: .milliseconds(10))
            seconds += 0.01
            for told in talk.told[seen...] {
                guard case .bargeIn(_, let change) = told.event else { continue }
                if readyAt == nil { before.add(change.stage) } else { after.add(change.stage) }
                if change.stage == .held { heldAt = heldAt ?? seconds }
            }
            seen = talk.told.count
            if readyAt == nil, talk.statistics.uplink.echoReadiness.isReady { readyAt = seconds }
        }
    }

    /// Whether a voice ends the answer within 2 s that begins in the middle, as loud as the echo is on average; nil where
    /// the answer was silent before.
    static func isGivenUp(far: [Float], microphone: [Float], seed: UInt64) throws -> Bool? {
        let level = microphone.reduce(0) { $0 + $1 * $1 } / Float(max(microphone.count, 1))
        let voice = NearSound.speech.samples(
            seed: seed, level: max(-60, 10 * log10(Double(level.isNormal ? level : 1e-6))))
        let onset = min(far.count, microphone.count) / 2
        var mixed = microphone
        for (index, sample) in voice.enumerated() where onset + index < mixed.count { mixed[onset + index] += sample }
        let talk = try Self.talk(
            [Float](repeating: 0, count: try delay(of: far)) + mixed, length: Double(far.count) / 48_000 + 4)
        talk.run(for: .seconds(begin))
        guard var answer = LongAnswer(far, in: talk) else { throw RecordedFailure("the answer is refused") }
        let (length, step) = (Int((Double(onset) / 48_000 + 2.2) * 1_000), 10_000)
        for passed in stride(from: 0, to: length, by: step) {
            answer.goOn(in: talk)
            talk.run(for: .milliseconds(min(step, length - passed)))
        }
        let changes = talk.told.compactMap { told -> (stage: BargeInStage, time: Double)? in
            guard case .bargeIn(_, let change) = told.event else { return nil }
            return (change.stage, told.time / .seconds(1))
        }
        let start = begin + Double(onset) / 48_000
        if changes.contains(where: { $0.time < start && $0.stage == .confirmed }) { return nil }
        return changes.contains { $0.stage == .confirmed }
    }

    private static func talk(_ microphone: [Float], length: Double) throws -> SimulatedConversation {
        var configuration = SimulatedConversation.Configuration(
            talker: SpeechSource(microphone, repetition: .once))
        var stages = WantedStages.stages
        stages.duckDecibels = 0
        configuration.mode = .duplex(Duplex(bargeIn: .staged(stages)))
        // What the microphone hears is the recording, and no echo of ours.
        configuration.room = RoomConditions()
        configuration.longest = .seconds(length)
        return try SimulatedConversation(configuration)
    }

    /// At which frame of the loudspeaker the answer begins.
    private static func delay(of far: [Float]) throws -> Int {
        let talk = try Self.talk([], length: 4)
        talk.run(for: .seconds(begin))
        talk.answer(nil, Array(repeating: 0.1, count: 48_000))
        talk.run(for: .seconds(1))
        guard let first = talk.recording.speaker.firstIndex(where: { abs($0) > 1e-6 }) else {
            throw RecordedFailure("the answer was not heard")
        }
        return first
    }
}
