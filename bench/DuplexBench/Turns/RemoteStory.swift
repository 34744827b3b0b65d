import SimulatedCalls
import VoiceEngine
import VoiceSimulation

/// The same story of an agent in another engine, over a network that loses 2 % of the packets.
struct RemoteStory {
    /// When the person's first sound was.
    let spoken: Double
    /// When the loudspeaker was first 6 dB below what it would have sounded; nil where it was not, or was held before.
    let quietAt: Double?
    /// When the loudspeaker last sounded of it; nil where it was not interrupted.
    let lastSound: Double?
    /// Frames that sounded more than 40 ms after it was given up.
    let oldFrames: Int

    init(room: RoomConditions, seed: UInt64) throws {
        let call = try Self.call(room, seed, policy: .staged(WantedStages.stages))
        let other = try Self.call(room, seed, policy: .off)
        let (speaker, whole) = (call.recording(.b).speaker, other.recording(.b).speaker)
        let first = call.recording(.b).near.firstIndex { abs($0) > Story.audible } ?? 0
        spoken = Double(first) / 48_000
        // Once it was held the two do not play the same at the same time any more.
        let isCalm = call.recording(.b).speaker.prefix(first).elementsEqual(whole.prefix(first))
        quietAt = (first..<(isCalm ? min(speaker.count, whole.count) : first)).first {
            abs(whole[$0]) > 0.01 && abs(speaker[$0]) < 0.5 * abs(whole[$0])
        }.map { Double($0) / 48_000 }
        let isInterrupted = call.events(.a).contains { if case .interrupted = $0 { true } else { false } }
        let last = speaker.lastIndex { abs($0) > Story.audible } ?? 0
        lastSound = isInterrupted ? Double(last) / 48_000 : nil
        let confirmed = call.events(.b).compactMap {
            if case .bargeIn(_, let change) = $0, change.stage == .confirmed { change.decided } else { nil }
        }.first
        // The simulation's time begins at 1 s, and it is given up with the block behind the one that decided it
        let givenUp = confirmed.map { $0 / .seconds(1) - 1 + 0.01 }
        let from = givenUp.map { Int(($0 + 0.04) * 48_000) } ?? speaker.count
        oldFrames = speaker.dropFirst(from).count { abs($0) > Story.audible }
    }

    private static func call(_ room: RoomConditions, _ seed: UInt64, policy: BargeInPolicy) throws -> SimulatedCall {
        let agent = [Float](repeating: 0, count: Int(Story.begin * 48_000)) + Story.story(seed: seed)
        var configuration = SimulatedCall.Configuration(talkers: [
            SpeechSource(agent, repetition: .once),
            SpeechSource(Story.person(.speech, seed: seed), repetition: .once),
        ])
        configuration.rooms = [RoomConditions(), room]
        configuration.engine = .voiceAgent
        configuration.seed = seed
        configuration.longest = .seconds(Story.onsets.upperBound + 4)
        configuration.publishing = .anyone
        configuration.network.baseDelay = .milliseconds(20)
        configuration.network.jitter = .gaussian(mean: .milliseconds(15), deviation: .milliseconds(8))
        configuration.network.loss = .independent(0.02)
        let call = try SimulatedCall(configuration)
        call.run(for: .seconds(1))
        call.setBargeIn(policy, .b)
        // What is interrupted of it is not sent.
        try call.beginUtterance(1, .a)
        call.run(for: configuration.longest - call.elapsed)
        return call
    }
}
