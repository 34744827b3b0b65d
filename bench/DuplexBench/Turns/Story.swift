import Glibc
import SimulatedCalls
import VoiceEngine
import VoiceSimulation

/// One story of an agent in the engine's own process, from half a second on.
struct Story {
    static let length = 20.0
    static let begin = 0.5
    /// When a person may speak at the earliest, and at the latest.
    static let onsets = 9.0...12.0
    static let level = -26.0
    static let audible: Float = 0.001

    /// A change of stage: when its block ended at the ADC, and when it was told.
    struct Change {
        var stage: BargeInStage
        var decided: Double
        var time: Double
    }

    let changes: [Change]
    private let story: [Float]
    private let recording: AirRecording
    private let nearGainDecibels: Double
    private let heard: HeardAnswer?
    /// When the person's first sound was.
    let spoken: Double
    /// When the answer was given up; nil where it was not.
    let ended: Double?

    /// What an answer may be held for and still be heard to its end, seconds: babble lasts 3, and silence must follow.
    private static let spare = 8.0

    init(_ sound: NearSound, room: RoomConditions, seed: UInt64) throws {
        let longest = sound == .speech ? Self.length + 2 : Self.length + Self.spare
        var configuration = SimulatedConversation.Configuration(
            talker: SpeechSource(Self.person(sound, seed: seed), repetition: .once))
        configuration.seed = seed
        configuration.mode = WantedStages.mode
        configuration.room = room
        configuration.longest = .seconds(longest + 1)
        let talk = try SimulatedConversation(configuration)
        story = Self.story(seed: seed)
        nearGainDecibels = room.nearGainDecibels
        talk.run(for: .seconds(Self.begin))
        talk.answer(nil, story)
        talk.run(for: .seconds(longest))
        recording = talk.recording
        changes = talk.told.compactMap { told in
            guard case .bargeIn(_, let change) = told.event else { return nil }
            return Change(
                stage: change.stage, decided: (change.decided - talk.beginning) / .seconds(1),
                time: told.time / .seconds(1))
        }
        ended = changes.first { $0.stage == .confirmed }?.time
        heard = talk.told.compactMap { if case .answerEnded(_, let heard) = $0.event { heard } else { nil } }.first
        spoken = Double(recording.near.firstIndex { abs($0) > Self.audible } ?? 0) / 48_000
    }

    /// When a person speaks into the story: where the story sounds without a pause, since nothing else can become
    /// quieter.
    static func onset(seed: UInt64) -> Double {
        let story = story(seed: seed)
        let isLoud = stride(from: 0, to: story.count - block + 1, by: block).map { start in
            story[start..<start + block].reduce(0) { $0 + $1 * $1 } / Float(block) > leastPower
        }
        for start in Int(onsets.lowerBound * 100)..<Int(onsets.upperBound * 100) {
            let first = start - Int(begin * 100) - lead
            if isLoud[first..<first + lead + span].allSatisfy(\.self) { return Double(start) / 100 }
        }
        return onsets.lowerBound
    }

    /// 10 ms, and the power that sounds in it: -46 dBFS, 20 dB below the story.
    private static let block = 480
    private static let leastPower: Float = 2.5e-5
    /// For how long the story sounds before the person does and after, blocks: it reaches the loudspeaker up to 150 ms
    /// later than it was given.
    private static let (lead, span) = (20, 25)

    /// A person who is silent until the ``onset(seed:)``.
    static func person(_ sound: NearSound, seed: UInt64) -> [Float] {
        [Float](repeating: 0, count: Int(onset(seed: seed) * 48_000))
            + sound.samples(seed: seed &* 31 &+ sound.rawValue, level: level)
    }

    static func story(seed: UInt64) -> [Float] {
        SyntheticSpeech.samples(
            frames: Int(length * 48_000), seed: seed &+ 1_000, voice: .low, levelDecibels: level)
    }

    /// For how long the answer was quieter, or silent, because of what was suspected, seconds.
    var softened: Double {
        var (sum, since): (Double, Double?) = (0, nil)
        for change in changes {
            if change.stage == .none, let begin = since { (sum, since) = (sum + change.time - begin, nil) }
            if change.stage != .none, since == nil { since = change.time }
        }
        return sum
    }

    func times(of stage: BargeInStage) -> [Double] { changes.filter { $0.stage == stage }.map(\.time) }

    /// Whether any of it sounded: where the first noise of a room is taken for speech, the person has the turn then, and
    /// the agent is refused.
    var isTold: Bool { recording.speaker.contains { abs($0) > Self.audible } }

    /// Whether all of it was heard.
    var isWhole: Bool { heard?.reason == .complete && heard?.heard == .seconds(Self.length) }

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
        let end = min(recording.speaker.count, offset + story.count)
        for frame in from..<max(from, end) where abs(story[frame - offset]) > 0.01 {
            if abs(recording.speaker[frame]) < 0.5 * abs(story[frame - offset]) { return Double(frame) / 48_000 }
        }
        return nil
    }

    /// How long after its first sound 10 ms of what the person says, as the microphone hears it, are louder than the
    /// noise of ``EchoPaths/noise``; nil where they never are.
    var overNoiseAfter: Double? {
        let from = Int(spoken * 48_000)
        // What is recorded of the person is what is said, before the way to the microphone.
        let limit = Float(Self.block) * decibelPower(EchoPaths.noise - nearGainDecibels)
        for start in stride(from: from, to: max(from, recording.near.count - Self.block), by: Self.block)
        where recording.near[start..<start + Self.block].reduce(0, { $0 + $1 * $1 }) > limit {
            return Double(start - from) / 48_000
        }
        return nil
    }

    private func decibelPower(_ decibels: Double) -> Float { Float(pow(10, decibels / 10)) }

    /// When the loudspeaker last sounded.
    var lastSound: Double { Double(recording.speaker.lastIndex { abs($0) > Self.audible } ?? 0) / 48_000 }

    func soundingFrames(from time: Double) -> Int {
        recording.speaker.dropFirst(Int(time * 48_000)).count { abs($0) > Self.audible }
    }

    /// How far what is told of the heard part is off, ms; nil where something was repeated, or nothing told.
    var heardError: Double? {
        guard let heard, let offset, !changes.contains(where: { $0.stage == .none }) else { return nil }
        let part = story.prefix(Int(heard.heard / .microseconds(1)) * 48 / 1_000)
        guard let last = part.lastIndex(where: { abs($0) > Self.audible }),
            let sounded = recording.speaker.lastIndex(where: { abs($0) > Self.audible })
        else { return nil }
        return abs(Double(sounded - offset - last)) / 48
    }
}
