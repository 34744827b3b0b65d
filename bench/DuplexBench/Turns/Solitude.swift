import SimulatedCalls
import VoiceEngine
import VoiceSimulation

/// An agent who tells stories to nobody.
struct Solitude {
    private static let stories = BenchmarkLength.seconds == nil ? 2 : 1
    private static let story = BenchmarkLength.seconds ?? 25
    /// Of the stories, seconds.
    static let length = Double(stories) * story

    /// What its own echo did.
    struct Counts {
        var (ducked, held, ended) = (0, 0, 0)

        var cells: [String] { [String(ducked), String(held), String(ended)] }

        mutating func add(_ stage: BargeInStage) {
            ducked += stage == .suspected ? 1 : 0
            held += stage == .held ? 1 : 0
            ended += stage == .confirmed ? 1 : 0
        }

        mutating func add(_ other: Counts) {
            (ducked, held, ended) = (ducked + other.ducked, held + other.held, ended + other.ended)
        }
    }

    private(set) var before = Counts()
    private(set) var after = Counts()
    private(set) var secondsBefore = 0.0
    /// Of the stories that the agent was let tell.
    private(set) var seconds = 0.0
    /// Those that it was not let tell: where the first noise of a room is taken for speech, somebody else has the turn.
    private(set) var untold = 0

    init(room: RoomConditions, seed: UInt64) throws {
        var configuration = SimulatedConversation.Configuration(talker: SpeechSource([], repetition: .once))
        configuration.seed = seed
        configuration.mode = WantedStages.mode
        configuration.room = room
        configuration.longest = .seconds(Self.length + 4)
        let talk = try SimulatedConversation(configuration)
        var (isReady, seen) = (false, 0)
        for number in 0..<Self.stories {
            let samples = SyntheticSpeech.samples(
                frames: Int(Self.story * 48_000), seed: seed &* 7 &+ UInt64(number) &+ 5_000, voice: .low,
                levelDecibels: Story.level)
            // One that was given up was ended; the next begins all the same
            var answer = LongAnswer(samples, in: talk)
            if answer == nil { untold += 1 } else { seconds += Self.story }
            for step in 0..<Int((Self.story + 1) * 10) {
                answer?.goOn(in: talk)
                talk.run(for: .milliseconds(100))
                for told in talk.told[seen...] {
                    guard case .bargeIn(_, let change) = told.event else { continue }
                    if isReady { after.add(change.stage) } else { before.add(change.stage) }
                }
                seen = talk.told.count
                if !isReady, answer != nil, Double(step) < Self.story * 10 { secondsBefore += 0.1 }
                isReady = isReady || talk.statistics.uplink.echoReadiness.isReady
            }
        }
    }
}

/// What many of them add up to.
struct SolitudeTally {
    private(set) var before = Solitude.Counts()
    private(set) var after = Solitude.Counts()
    private(set) var (secondsBefore, seconds) = (0.0, 0.0)
    private(set) var untold = 0

    var secondsAfter: Double { seconds - secondsBefore }
    /// Stories that were held or given up once the canceller was trusted, an hour.
    var perHour: Double { Double(after.held + after.ended) / (secondsAfter / 3_600) }

    mutating func add(_ story: Solitude) {
        before.add(story.before)
        after.add(story.after)
        secondsBefore += story.secondsBefore
        seconds += story.seconds
        untold += story.untold
    }

    mutating func add(_ other: SolitudeTally) {
        before.add(other.before)
        after.add(other.after)
        (secondsBefore, seconds) = (secondsBefore + other.secondsBefore, seconds + other.seconds)
        untold += other.untold
    }
}
