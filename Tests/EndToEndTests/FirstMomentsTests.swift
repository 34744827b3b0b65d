import SimulatedCalls
import TestCases
import Testing
import VoiceEngine
import VoiceSimulation

/// The first half second of a microphone, in simulated time: the detector has heard nothing yet.
@Suite("A conversation's first moments")
struct FirstMomentsTests {
    private static let length = 4.0
    /// When the agent greets, seconds.
    private static let greeting = 0.5

    /// A noise whose beginning the detector takes for speech, at this level, behind so many blocks in which the
    /// microphone is not on yet.
    struct Noise: Sendable, CustomTestStringConvertible {
        var decibels: Double
        var seed: UInt64
        var silentBlocks = 0
        var testDescription: String { "\(decibels) dBFS, seed \(seed), after \(silentBlocks) blocks" }
    }

    private static let noises = cases([
        Noise(decibels: -36, seed: 20_200), Noise(decibels: -36, seed: 20_787), Noise(decibels: -28, seed: 20_895),
        Noise(decibels: -36, seed: 20_506, silentBlocks: 5), Noise(decibels: -36, seed: 20_605, silentBlocks: 5),
        Noise(decibels: -28, seed: 20_440, silentBlocks: 5), Noise(decibels: -36, seed: 20_841, silentBlocks: 30),
        Noise(decibels: -36, seed: 20_779, silentBlocks: 30), Noise(decibels: -28, seed: 20_695, silentBlocks: 30),
    ])

    private static func conversation(
        _ near: [Float], room: RoomConditions, mode: TalkMode = .duplex(), seed: UInt64
    ) throws -> SimulatedConversation {
        var configuration = SimulatedConversation.Configuration(talker: SpeechSource(near, repetition: .once))
        configuration.seed = seed
        configuration.mode = mode
        configuration.room = room
        configuration.longest = .seconds(length)
        return try SimulatedConversation(configuration)
    }

    /// What a car's noise sounds like from its beginning on.
    private static func sound(of noise: Noise) throws -> [Float] {
        var room = RoomConditions.headset
        room.noise = AmbientNoise(.brown, levelDecibels: noise.decibels)
        var generator = SeededGenerator(seed: noise.seed)
        var acoustics = try RoomAcoustics(room, seed: generator.next())
        var sound = [Float](repeating: 0, count: Int(length * 48_000))
        let quiet = sound
        var echo = sound
        var span = sound.mutableSpan
        var echoSpan = echo.mutableSpan
        acoustics.process(speaker: quiet.span, near: quiet.span, into: &span, echo: &echoSpan)
        return [Float](repeating: 0, count: noise.silentBlocks * 480) + sound
    }

    /// Lets an agent greet; whether it was let, and whether the detector heard speech before.
    private static func greet(_ talk: SimulatedConversation) -> (isHeard: Bool, wasDeceived: Bool) {
        var wasDeceived = false
        func run(_ seconds: Double) {
            for _ in 0..<Int(seconds * 100) {
                talk.run(for: .milliseconds(10))
                wasDeceived = wasDeceived || talk.statistics.uplink.voiceActivity
            }
        }
        run(greeting)
        let answer = SyntheticSpeech.samples(frames: 96_000, seed: 2, voice: .low, levelDecibels: -26)
        let isTaken = talk.answer(nil, answer)
        talk.run(for: .seconds(3))
        let heard = talk.told.compactMap { if case .answerEnded(_, let heard) = $0.event { heard } else { nil } }
        return (isTaken && heard.first?.heard == .seconds(2), wasDeceived)
    }

    @Test(
        "Given a noise whose beginning the detector takes for speech, when the agent greets half a second later, then it has the turn and is heard to its end",
        arguments: noises)
    func noise(noise: Noise) throws {
        var room = RoomConditions.headset
        room.noise = nil
        let talk = try Self.conversation(try Self.sound(of: noise), room: room, seed: noise.seed)
        let (isHeard, wasDeceived) = Self.greet(talk)
        #expect(wasDeceived, "this noise deceives no more: look for another")
        #expect(isHeard)
        let early = talk.told.prefix { $0.time < .seconds(Self.greeting) }
        #expect(early.isEmpty, "\(early.map(\.event))")
    }

    @Test(
        "Given a car, whose rumble is filtered, when the agent greets, then it is heard to its end, and nobody was heard before",
        arguments: cases(1_302...1_305))
    func car(seed: UInt64) throws {
        let talk = try Self.conversation([], room: .car, seed: seed)
        let (isHeard, wasDeceived) = Self.greet(talk)
        #expect(isHeard && !wasDeceived)
    }

    private static let rooms: [RoomConditions] = [.office, .livingRoom, .car, .headset]

    @Test(
        "Given a person who speaks from the microphone's first sample on, when they have spoken for a third of a second, then the turn is theirs, from their first word on, and the agent is given all of it",
        arguments: cases(1...12))
    func person(seed: UInt64) throws {
        let speech = SyntheticSpeech.samples(
            frames: 144_000, seed: seed, voice: seed % 2 == 0 ? .high : .low, levelDecibels: -26)
        // From the first vowel on
        let first = try #require(speech.firstIndex { abs($0) > 0.05 })
        let talk = try Self.conversation(
            Array(speech[first...].prefix(72_000)), room: Self.rooms[Int(seed % 4)], seed: seed)
        talk.run(for: .milliseconds(500))
        #expect(!talk.answer(nil, [Float](repeating: 0, count: 480)), "the turn is another's")
        talk.run(for: .milliseconds(3_400))
        let started = try #require(talk.told.first { if case .speechStarted = $0.event { true } else { false } })
        guard case .speechStarted(_, let start) = started.event else { return }
        #expect(started.time < .milliseconds(420))
        #expect(start - talk.beginning < .milliseconds(200))
        let turns = talk.told.compactMap { if case .turnEnded(let turn) = $0.event { turn } else { nil } }
        #expect(turns.first?.start == start)
        // What the agent is given begins with the microphone
        var sound = [Float](repeating: 0, count: 48_000)
        var span = sound.mutableSpan
        let take = talk.conversation.farEnd.takeNearEnd(into: &span)
        #expect(take.frames == 48_000 && take.time <= talk.beginning)
    }
}
