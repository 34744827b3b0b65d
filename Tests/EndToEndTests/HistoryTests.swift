import SimulatedCalls
import TestCases
import Testing
import VoiceDevices
import VoiceEngine
import VoiceSimulation

/// What a conversation's history says was heard of each answer, against the recording of the loudspeaker.
@Suite("A conversation's history and the loudspeaker's recording")
struct HistoryTests {
    /// What may lie between the two, frames of 48 kHz: 10 ms.
    private static let tolerance = 480

    /// What an agent said in one turn, and how long the loudspeaker's recording was when that was over.
    private struct Said {
        var samples: [Float]
        var end: Int
    }

    /// How an answer is given and ends.
    private enum Manner: CaseIterable {
        case whole, inPieces, cancelled, replaced
    }

    private static func answers(of talk: SimulatedConversation) -> [ConversationHistory.PastAnswer] {
        talk.conversation.history.turns.compactMap(\.answer)
    }

    /// Where in its answer the loudspeaker was when it fell silent, frames; nil where the recording does not tell.
    private static func position(_ said: Said, _ speaker: [Float], _ answer: ConversationHistory.PastAnswer) -> Int? {
        guard let last = speaker.prefix(said.end).lastIndex(where: { abs($0) > 0.001 }) else { return nil }
        // What is cut off fades out over what was heard last, played backwards: it is looked for before that.
        let tail = 480
        let position = PositionSearch(in: said.samples, window: 2_400).position(
            before: last + 1 - tail, of: speaker, near: answer.heardMilliseconds * 48 - tail)
        return position.map { $0 + tail - (answer.end == .complete ? 0 : UnderrunFade.frames) }
    }

    /// Lets time pass until an answer more is over.
    private static func awaitEnd(of talk: SimulatedConversation) {
        let before = answers(of: talk).count
        for _ in 0..<600 where answers(of: talk).count == before { talk.run(for: .milliseconds(10)) }
        talk.run(for: .milliseconds(100))
    }

    @Test("Given an answer with words and without sound, when it is over, then nothing of it was heard")
    func silent() throws {
        let talk = try SimulatedConversation(
            SimulatedConversation.Configuration(talker: SpeechSource([], repetition: .once)))
        talk.run(for: .milliseconds(500))
        let answer = try #require(talk.takeAnswer(nil))
        talk.conversation.caption("Good morning.", of: answer)
        talk.finish(answer)
        Self.awaitEnd(of: talk)
        let past = try #require(Self.answers(of: talk).first)
        #expect(past.end == .complete && past.text == "Good morning.")
        #expect(past.heard.isEmpty && past.heardMilliseconds == 0)
    }

    @Test(
        "Given answers that are heard whole, come in late pieces, or are cancelled, on a loudspeaker with a clock of its own, then the history has each to 10 ms",
        .enabled(if: isOptimised), arguments: 1...8 as ClosedRange<UInt64>)
    func answers(seed: UInt64) throws {
        // Given
        var random = SeededNumbers(seed: seed)
        var configuration = SimulatedConversation.Configuration(talker: SpeechSource([], repetition: .once))
        configuration.seed = seed
        configuration.engine.backend = .bypass
        configuration.engine.processing = .bypass
        configuration.driftPPM = [0, 150, -150][random.below(3)]
        configuration.periodFrames = [120, 240, 480][random.below(3)]
        configuration.longest = .seconds(60)
        let talk = try SimulatedConversation(configuration)
        talk.run(for: .milliseconds(500))
        // When
        var said: [Said] = []
        for turn in 0..<8 {
            let answer = try #require(talk.takeAnswer(nil))
            let samples = PositionSearch.samples(seconds: 6, seed: seed * 100 + UInt64(turn))
            let length = 24_000 + random.below(96_000)
            switch Manner.allCases[random.below(4)] {
            case .whole:
                #expect(talk.offer(Array(samples[..<length]), of: answer))
                talk.finish(answer)
            case .inPieces:
                // Each comes when the one before has been heard, or later.
                for first in stride(from: 0, to: length - 12_000, by: 12_000) {
                    #expect(talk.offer(Array(samples[first..<first + 12_000]), of: answer))
                    talk.run(for: .milliseconds(200 + random.below(200)))
                }
                talk.finish(answer)
            case .cancelled:
                #expect(talk.offer(Array(samples[..<240_000]), of: answer))
                talk.run(for: .milliseconds(200 + random.below(2_500)))
                try talk.conversation.perform { (machine, _) throws(TurnRefusal) in try machine.cancel() }
            case .replaced:
                #expect(talk.offer(Array(samples[..<240_000]), of: answer))
                talk.run(for: .milliseconds(200 + random.below(2_500)))
                talk.conversation.farEnd.interrupt()
                talk.finish(answer)
            }
            Self.awaitEnd(of: talk)
            said.append(Said(samples: samples, end: talk.recording.speaker.count))
            talk.run(for: .milliseconds(random.below(300)))
        }
        // Then
        let past = Self.answers(of: talk)
        #expect(past.count == said.count, "seed \(seed)")
        let speaker = talk.recording.speaker
        for (turn, (said, answer)) in zip(said, past).enumerated() {
            let position = Self.position(said, speaker, answer)
            let truth = try #require(position, "turn \(turn), \(answer), seed \(seed)")
            let error = abs(truth - answer.heardMilliseconds * 48)
            #expect(error <= Self.tolerance, "turn \(turn): \(answer), \(error) frames off, seed \(seed)")
        }
    }

    @Test(
        "Given a person who speaks into an answer, when it is given up, then the history has it to 10 ms",
        .enabled(if: isOptimised), arguments: 1...3 as ClosedRange<UInt64>)
    func interruptions(seed: UInt64) throws {
        // Given
        var random = SeededNumbers(seed: seed)
        let length = 14
        let from = 6.5 + random.uniform()
        var person = [Float](repeating: 0, count: length * 48_000)
        let speech = SyntheticSpeech.samples(frames: 3 * 48_000, seed: seed, voice: .high, levelDecibels: -24)
        for (index, sample) in speech.enumerated() { person[Int(from * 48_000) + index] = sample }
        var configuration = SimulatedConversation.Configuration(talker: SpeechSource(person, repetition: .once))
        configuration.seed = seed
        configuration.longest = .seconds(length)
        let talk = try SimulatedConversation(configuration)
        talk.run(for: .milliseconds(500))
        // When
        let samples = SyntheticSpeech.samples(frames: 13 * 48_000, seed: seed + 50, voice: .low, levelDecibels: -26)
        #expect(talk.answer(nil, samples))
        talk.run(for: .milliseconds(12_500))
        // Then the last of it that the loudspeaker sounded is where the history says, as the sound has no pause there
        let answer = try #require(Self.answers(of: talk).first, "seed \(seed)")
        #expect(answer.end == .interrupted, "\(answer), seed \(seed)")
        let speaker = talk.recording.speaker
        let begin = try #require(samples.firstIndex { abs($0) > 0.001 })
        let first = try #require(speaker.firstIndex { abs($0) > 0.001 }) - begin
        let last = try #require(speaker.lastIndex { abs($0) > 0.001 }) - first
        let heard = samples[..<(answer.heardMilliseconds * 48)]
        let error = abs(try #require(heard.lastIndex { abs($0) > 0.001 }) - last)
        #expect(error <= Self.tolerance, "\(answer), \(error) frames off, seed \(seed)")
    }
}
