import SimulatedCalls
import TestCases
import Testing
import VoiceEngine
import VoiceSimulation

@Suite("How far an utterance from the room was heard")
struct HeardUtteranceTests {
    @Test(
        "what is told agrees with the loudspeaker at 5 % loss and 60 ms of jitter, through a stall of 120 ms and a drifting clock; its bound holds",
        .enabled(if: isOptimised), arguments: 1...8)
    func loudspeaker(seed: UInt64) throws {
        // Given a talker that names its utterances, over a bad network, and a listener whose loudspeaker has a clock of
        // its own
        let starts = [1.0, 4.5, 8.0]
        let length = 12
        let said = PositionSearch.samples(seconds: length, seed: seed)
        let call = try SimulatedCall.ofUtterances(said, seconds: length, seed: seed)
        // When it says them, and the loudspeaker stands still in each
        for (index, start) in starts.enumerated() {
            call.run(for: .seconds(start) - call.elapsed)
            try call.beginUtterance(UInt32(index + 1), .a)
            call.run(for: .milliseconds(1_700))
            call.interruptPlayback(periods: 24, .b)
        }
        call.run(for: .seconds(length) - call.elapsed)
        // Then what was told each quarter of a second agrees with the recording, wherever in the sound that is, where it
        // can be told: not where it is made up, repeated or skipped
        let heard = call.recording(.b).speaker
        let search = PositionSearch(in: said)
        var (told, errors) = (0, [Double]())
        for case .utteranceHeard(_, let news, let time) in call.events(.b) where news.heard > .zero && !news.isFinal {
            told += 1
            let start = Int(starts[Int(news.utterance.rawValue) - 1] * 48_000)
            let frame = Int((time - .seconds(1)) / .seconds(1) * 48_000)
            let position = start + Int(news.heard / .seconds(1) * 48_000)
            guard let truth = search.steadyPosition(before: frame, of: heard, near: position) else { continue }
            let error = Double(abs(position - truth)) / 48
            errors.append(error)
            #expect(error <= news.bound / .milliseconds(1), "\(news) at \(time), \(error) ms off, seed \(seed)")
        }
        errors.sort()
        #expect(told >= 12 * starts.count - 1 && errors.count >= told / 3, "\(errors.count) of \(told), seed \(seed)")
        // bench/RESULTS.md has 0.1 ms for 95 %, and 0.9 at worst.
        #expect(errors[errors.count * 95 / 100] <= 2, "seed \(seed)")
    }

    @Test(
        "an interruption is answered with how far the utterance was heard, once", arguments: cases(1...5))
    func interruption(seed: UInt64) throws {
        // Given an agent whose synthesiser notices nothing, over a bad network
        let said = PositionSearch.samples(seconds: 5, seed: seed)
        let call = try SimulatedCall.ofUtterances(said, seconds: 5, seed: seed)
        call.run(for: .seconds(1))
        try call.beginUtterance(1, .a)
        call.run(for: .seconds(2) + .milliseconds(37 * Int(seed)))
        // When the listener interrupts it
        try call.interrupt(try #require(call.ownStream(.a)), by: .b)
        let word = call.elapsed
        call.run(for: .seconds(1))
        // Then within a second, in which what is lost of the room's messages is sent again, the agent knows how far it
        // was heard, as the loudspeaker has it
        let told = call.events(.a).compactMap { if case .heard(let heard, _) = $0 { heard } else { nil } }
        let last = try #require(told.last)
        #expect(last.isFinal && last.utterance == 1 && told.count { $0.isFinal } == 1, "\(told), seed \(seed)")
        #expect(zip(told, told.dropFirst()).allSatisfy { $0.heard <= $1.heard }, "\(told), seed \(seed)")
        let speaker = call.recording(.b).speaker
        let position = 48_000 + Int(last.heard / .seconds(1) * 48_000)
        let truth = try #require(
            Self.position(atEndOf: speaker, in: PositionSearch(in: said), near: position), "seed \(seed)")
        let error = abs(Double(position - truth)) / 48
        #expect(error <= last.bound / .milliseconds(1), "\(last), seed \(seed)")
        // And the listener's app knew before
        let here = call.events(.b).compactMap { event -> Duration? in
            if case .utteranceHeard(_, let heard, let time) = event, heard.isFinal { time - .seconds(1) } else { nil }
        }
        #expect(here.count == 1 && here[0] >= word && here[0] < word + .milliseconds(60), "\(here), seed \(seed)")
        // And nothing more is told of it
        call.run(for: .milliseconds(500))
        let later = call.events(.a).count { if case .heard = $0 { true } else { false } }
        #expect(later == told.count, "seed \(seed)")
    }

    /// Where in what was said the loudspeaker fell silent. Its last 15 ms may be concealed, and then those before them
    /// tell, back to 60 ms.
    private static func position(atEndOf speaker: [Float], in search: PositionSearch, near guess: Int) -> Int? {
        guard let last = speaker.lastIndex(where: { abs($0) > 1e-3 }) else { return nil }
        for back in stride(from: 0, through: 2_880, by: 240) {
            let found = search.position(before: last + 1 - back, of: speaker, near: guess - back)
            if let found { return found + back }
        }
        return nil
    }
}
