import SimulatedCalls
import VoiceEngine
import VoiceSimulation

/// Whether the first 100 ms of what somebody says are in what an agent is given.
enum FirstWords {
    private static let part = 0.1

    /// How many of so many beginnings are whole: half of them by a button that is pressed 200 ms late, half into an
    /// answer.
    static func count(of beginnings: Int) throws -> Int {
        var whole = 0
        for number in 0..<beginnings {
            let isWhole = number % 2 == 0 ? try pressed(seed: UInt64(number)) : try spokenInto(seed: UInt64(number))
            whole += isWhole ? 1 : 0
        }
        return whole
    }

    private static func talk(_ mode: TalkMode, seed: UInt64) throws -> SimulatedConversation {
        let silence = [Float](repeating: 0, count: 48_000)
        let person = silence + NearSound.speech.samples(seed: seed &+ 900, level: Story.level)
        var configuration = SimulatedConversation.Configuration(talker: SpeechSource(person, repetition: .once))
        configuration.mode = mode
        configuration.seed = seed
        configuration.longest = .seconds(4)
        return try SimulatedConversation(configuration)
    }

    private static func pressed(seed: UInt64) throws -> Bool {
        let talk = try talk(.pushToTalk(), seed: seed)
        var parts = NearEndParts()
        talk.run(for: .milliseconds(1_200))
        parts.take(of: talk)
        try talk.conversation.perform { (machine, now) throws(TurnRefusal) in try machine.startSpeech(now: now) }
        talk.run(for: .milliseconds(800))
        parts.take(of: talk)
        return parts.cover(talk)
    }

    private static func spokenInto(seed: UInt64) throws -> Bool {
        let talk = try talk(.duplex(), seed: seed)
        var parts = NearEndParts()
        talk.run(for: .milliseconds(200))
        talk.answer(nil, Story.story(seed: seed))
        talk.run(for: .milliseconds(1_700))
        parts.take(of: talk)
        return parts.cover(talk)
    }

    /// What an agent was given, by the times at the microphone, seconds.
    private struct NearEndParts {
        private var parts: [ClosedRange<Double>] = []

        mutating func take(of talk: SimulatedConversation) {
            var sound = [Float](repeating: 0, count: 96_000)
            while true {
                var span = sound.mutableSpan
                let take = talk.conversation.farEnd.takeNearEnd(into: &span)
                guard take.frames > 0 else { return }
                let begin = (take.time - talk.beginning) / .seconds(1)
                let end = begin + Double(take.frames) / 48_000
                if let last = parts.last, abs(last.upperBound - begin) < 0.001 {
                    parts[parts.count - 1] = last.lowerBound...end
                } else {
                    parts.append(begin...end)
                }
            }
        }

        func cover(_ talk: SimulatedConversation) -> Bool {
            guard let first = talk.recording.near.firstIndex(where: { abs($0) > Story.audible }) else { return false }
            let spoken = Double(first) / 48_000
            return parts.contains { $0.lowerBound <= spoken && $0.upperBound >= spoken + FirstWords.part }
        }
    }
}
