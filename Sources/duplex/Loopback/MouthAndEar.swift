import VoiceEngine
import VoiceSimulation

/// A sound card that speaks into one place and listens at another, to measure whatever lies between: an engine, another
/// program, a network.
struct MouthAndEar {
    /// The PCM that speaks and the one that listens.
    let card: ALSADeviceConfiguration
    let rounds: Int
    let seed: UInt64
    /// How long to wait before the first pulse, in frames: what jitter buffers need to come to rest.
    let settling: Int

    /// The longest way that is looked for: 2 s, far beyond what a conversation bears.
    private static let longestWay = 96_000
    /// 10 ms. The way does not depend on it, since time stamps tell when the pulse was in the air; so the probe wakes
    /// seldom, and has buffers that outlast a busy moment.
    private static let periodFrames = 480
    private static let playbackPeriods = 8

    init(mouth: String, ear: String, rounds: Int, seed: UInt64, settling: Int) {
        var card = ALSADeviceConfiguration(capture: ear, playback: mouth)
        card.periodFrames = Self.periodFrames
        card.playbackPeriods = Self.playbackPeriods
        self.card = card
        self.rounds = rounds
        self.seed = seed
        self.settling = settling
    }

    /// Opens the card, measures and closes it. Returns early, with what there is, where the task is cancelled.
    func run(report: LoopbackRounds.Report) async throws -> LoopbackTally {
        try await LoopbackRounds(wanted: rounds, restartsAfterDisturbance: false).run(
            { events in
                LoopbackProbe(
                    try ProbeStream(ALSADevice(card), events: events), pulse: .voice, scale: .times, settling: settling,
                    longestWay: Self.longestWay, seed: seed)
            }, report: report)
    }
}
